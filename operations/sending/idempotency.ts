import { hash } from 'node:crypto';
import { z } from 'zod';
import type { KeyRights } from '../../core/accounts/key-rights.ts';
import type { SentDraft } from '../../core/sending/draft.ts';
import { UserError } from '../../core/shared/errors.ts';
import { makeReplayKey, type Policy } from '../../db/queries/sending/outgoing-policy.ts';
import type { OutgoingEmail } from './compose-outgoing.ts';

/** Emails of one user that are stored together or not at all. */
export interface Submission {
  /** 1 to 100 */
  emails: readonly OutgoingEmail[];
  batchId: string | null;
  /** null: the request had no Idempotency-Key */
  idempotency: OwnIdempotency | null;
  /** the response, stored for replays */
  receipt: Receipt;
  /** the draft that is sent; it is removed in the transaction that stores the emails */
  draft?: SentDraft | undefined;
}

/** A request that must take effect only once (docs/decisions/0020). */
export interface Idempotency {
  /** 1 to 256 characters */
  key: string;
  /** for example `send`; the same key with another operation counts as another request */
  operation: string;
  /** hex; hash of the whole request */
  requestSha256: string;
}

/** An idempotency key belongs to the API key of the request: the same text under another one is another key. */
export interface OwnIdempotency extends Idempotency {
  /** empty: a person */
  apiKeyId: string;
}

/** Returns the idempotency of a request with these rights. */
export function ownIdempotency<Given extends Idempotency | null>(
  { keyId }: Pick<KeyRights, 'keyId'>,
  idempotency: Given,
): Given extends null ? Given : OwnIdempotency;
export function ownIdempotency(
  rights: Pick<KeyRights, 'keyId'>,
  idempotency: Idempotency | null,
): OwnIdempotency | null {
  return idempotency === null ? null : { ...idempotency, apiKeyId: rights.keyId ?? '' };
}

/** The response of a request and of its replays; stored as JSON. */
export type Receipt = z.infer<typeof receipt>;

export interface Accepted {
  receipt: Receipt;
  /** when the emails were stored, by PostgreSQL's clock */
  at: Date;
}

const receipt = z.object({
  emails: z.array(
    z.object({
      id: z.string(),
      messageId: z.string(),
      /** ISO 8601; null: sent immediately */
      scheduledAt: z.string().nullable(),
      timezone: z.string().nullable(),
      /** it waits for approval until then, ISO 8601; absent: it does not */
      awaitsApprovalUntil: z.string().optional(),
    }),
  ),
  batchId: z.string().nullable(),
  /** of a reply: the original email, its thread, and whether the request named the thread */
  repliedTo: z.object({ emailId: z.string(), threadId: z.string().nullable(), isThread: z.boolean() }).nullable(),
  /** of a permissive batch: the rejected emails by index */
  refused: z.array(z.object({ index: z.number(), message: z.string() })).optional(),
});

/**
 * Returns the stored response of an earlier request with the same key (idempotent replay), a conflict when the key
 * belongs to another request, and null when the key is new.
 */
export function idempotentReplay(
  idempotency: OwnIdempotency | null,
  policy: Pick<Policy, 'responses'>,
): Accepted | UserError | null {
  const stored = idempotency === null ? undefined : policy.responses.get(makeReplayKey(idempotency));
  if (idempotency === null || stored === undefined) return null;
  if (stored.operation === idempotency.operation && stored.requestSha256 === idempotency.requestSha256)
    return { receipt: receipt.parse(stored.response), at: stored.at };
  return idempotencyKeyReused();
}

/** The key was used by another request. */
export function idempotencyKeyReused(): UserError {
  const message = 'Idempotency key already used with different request body';
  const more = { title: 'Conflict', name: 'invalid_idempotent_request', details: message, isFinal: true };
  return new UserError('conflict', message, more);
}

/** Another process is working on a request with this key. */
export function idempotencyKeyInUse(cause: unknown): UserError {
  const message = 'A request with this Idempotency-Key is still being processed. Retry shortly.';
  return new UserError('conflict', message, { name: 'concurrent_idempotent_requests', cause });
}

/** Maximum length of a key; characters. */
export const MAX_KEY_LENGTH = 256;

/**
 * Returns the idempotency of a request; null without a key. `asked` is the whole request with its fields in a fixed
 * order; `field` is where the key was given. Throws validation.
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
