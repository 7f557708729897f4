import { z } from 'zod';
import { UserError } from '../../core/shared/errors.ts';

/** The emails of a batch; each is validated on its own. */
export const batchEmails = <Email extends z.ZodType>(email: Email) => z.array(email).min(1).max(MAX_EMAILS);
const MAX_EMAILS = 100;

/** Maximum entries of one field: far above what any field allows, far below what fits into a large body. */
const MAX_ENTRIES = 200;

/**
 * Throws validation when a field has too many entries. Call it before a body is validated, which takes seconds for a million entries.
 * `path` is prepended to the names of fields.
 */
export function limitEntries(body: unknown, path = ''): void {
  if (typeof body !== 'object' || body === null) return;
  for (const [field, value] of Object.entries(body)) {
    if (typeof value === 'object' && value !== null && Object.keys(value).length > MAX_ENTRIES)
      throw tooManyEntries(field, path);
  }
}

function tooManyEntries(field: string, path: string): UserError {
  const message = `${field} cannot have more than ${MAX_ENTRIES} entries`;
  return new UserError('validation', message, { details: [{ field: path + field, message }] });
}
