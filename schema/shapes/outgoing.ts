import { z } from 'zod';
import { UserError } from '../../core/shared/errors.ts';

/** Emails of a batch; each is read by itself. */
export const batchEmails = <Email extends z.ZodType>(email: Email) => z.array(email).min(1).max(MAX_EMAILS);
const MAX_EMAILS = 100;

/** Entries of one field that are looked at: far above what any may hold, and far below what a large body may. */
const MAX_ENTRIES = 200;

/**
 * To be asked before a body is validated, which takes seconds for a million entries. Throws validation. `path` stands before the
 * names of fields.
 */
export function refuseCrowds(body: unknown, path = ''): void {
  if (typeof body !== 'object' || body === null) return;
  for (const [field, value] of Object.entries(body)) {
    if (typeof value === 'object' && value !== null && Object.keys(value).length > MAX_ENTRIES)
      throw crowd(field, path);
  }
}

function crowd(field: string, path: string): UserError {
  const message = `${field} cannot have more than ${MAX_ENTRIES} entries`;
  return new UserError('validation', message, { details: [{ field: path + field, message }] });
}
