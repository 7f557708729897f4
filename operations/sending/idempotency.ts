import { hash } from 'node:crypto';
import { UserError } from '../../core/shared/errors.ts';
import type { Idempotency } from './submission.ts';

/** Characters; wire facts "idempotency". */
export const MAX_KEY_LENGTH = 256;

/**
 * What a key makes of a request; null without one. `asked` is all that the request asks for, its fields in one order however the client
 * wrote them; `field` is where the key stands. Throws validation.
 */
export function readIdempotency(
  { key, field }: { key: unknown; field: string },
  operation: string,
  asked: unknown,
): Idempotency | null {
  if (key == null) return null;
  if (typeof key !== 'string' || key === '' || key.length > MAX_KEY_LENGTH) {
    const message = `Idempotency-Key must have 1 to ${MAX_KEY_LENGTH} characters`;
    throw new UserError('validation', message, { details: [{ field, message }], name: 'invalid_idempotency_key' });
  }
  return { key, operation, requestSha256: hash('sha256', JSON.stringify(asked), 'hex') };
}
