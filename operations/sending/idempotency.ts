import { hash } from 'node:crypto';
import { z } from 'zod';
import { UserError } from '../../core/shared/errors.ts';
import type { Policy } from '../../db/queries/sending/outgoing-policy.ts';
import type { OutgoingEmail } from './compose-outgoing.ts';

/** Emails of one user that go in together or not at all. */
export interface Submission {
  /** 1 to 100 */
  emails: readonly OutgoingEmail[];
  batchId: string | null;
  /** null: the request bore no Idempotency-Key */
  idempotency: Idempotency | null;
  /** what is answered, and kept to be answered again */
  receipt: Receipt;
}

/** A request that is done once. */
export interface Idempotency {
  /** 1 to 256 characters */
  key: string;
  /** as `send`; the same key of another operation is taken for another request */
  operation: string;
  /** hex; of all that the request asks for */
  requestSha256: string;
}

/** What a repeated request is answered with, too; stored as JSON. */
export type Receipt = z.infer<typeof receipt>;

export interface Accepted {
  receipt: Receipt;
  /** when they were stored, by PostgreSQL's clock */
  at: Date;
}

const receipt = z.object({
  emails: z.array(
    z.object({
      id: z.string(),
      messageId: z.string(),
      /** ISO 8601; null: it goes at once */
      scheduledAt: z.string().nullable(),
      timezone: z.string().nullable(),
    }),
  ),
  batchId: z.string().nullable(),
  /** of an answer: the email that is answered, its thread, and whether the thread was named */
  repliedTo: z.object({ emailId: z.string(), threadId: z.string().nullable(), isThread: z.boolean() }).nullable(),
  /** of a batch that takes what can go: what could not, by its place in the request */
  refused: z.array(z.object({ index: z.number(), message: z.string() })).optional(),
});

/** The answer that the request was given before, or why the key cannot serve it; null when the key is new. */
export function replayOf(
  idempotency: Idempotency | null,
  policy: Pick<Policy, 'answers'>,
): Accepted | UserError | null {
  const stored = idempotency === null ? undefined : policy.answers.get(idempotency.key);
  if (idempotency === null || stored === undefined) return null;
  if (stored.operation === idempotency.operation && stored.requestSha256 === idempotency.requestSha256)
    return { receipt: receipt.parse(stored.answer), at: stored.at };
  return keyTaken();
}

/** Another request bore the key. */
export function keyTaken(): UserError {
  const message = 'Idempotency key already used with different request body';
  const more = { title: 'Conflict', name: 'invalid_idempotent_request', details: message, isFinal: true };
  return new UserError('conflict', message, more);
}

/** Another process works at a request with the key. */
export function stillProcessed(cause: unknown): UserError {
  const message = 'A request with this Idempotency-Key is still being processed. Retry shortly.';
  return new UserError('conflict', message, { name: 'concurrent_idempotent_requests', cause });
}

/** Characters. */
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
