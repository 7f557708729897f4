import { hasRight } from '../../core/accounts/rights.ts';
import { RECIPIENT_SUPPRESSED, UserError, VIRUS_FOUND } from '../../core/shared/errors.ts';
import { isTransient } from '../../db/errors.ts';
import { findEndedKey } from '../../db/queries/accounts/credential.ts';
import type { Caller } from '../../operations/caller.ts';
import type { OperationContext, OperationParts } from '../../operations/context.ts';
import { UNBOUNDED_ROOM } from '../../operations/response-room.ts';
import { submitMessage } from '../../operations/sending/submit-message.ts';
import type { Reply, Request } from '../../schema/messages.ts';
import type { AuthAttempts } from '../accounts/auth-attempts.ts';
import type { ByteLedger, ByteLimits } from '../admission/byte-ledger.ts';
import type { Credential, Credentials } from '../admission/credentials.ts';
import { tightenHeap } from '../admission/heap-growth.ts';
import { type RequestLimiter, RequestLimiterAway } from '../admission/request-limit.ts';
import { partsWithin } from '../operation-context.ts';

export interface SubmissionParts {
  parts: OperationParts;
  credentials: Credentials;
  attempts: AuthAttempts;
  /** null: no limit */
  limiter: RequestLimiter | null;
  /** counts the bytes of messages from their arrival to the reply */
  ledger: ByteLedger;
  /** ends the process at this point, for tests */
  fault: (point: SubmissionFaultPoint) => void;
}

/** The message is stored, but the SMTP server does not know it yet. */
type SubmissionFaultPoint = 'submission.after-commit';

type Accepting = 'gateway.message.submit';
type Refusal = Extract<Reply<Accepting>, { verdict: 'refused' }>;

/** Messages of up to 15 MB that wait for their turn at the parser, or for PostgreSQL. Bytes. */
export const SUBMITTED_BYTES: ByteLimits = { perAccount: 45_000_000, perProcess: 90_000_000 };

/** Messages up to this size use a reserve beyond the limit of the process. Bytes. */
const SMALL_MESSAGE = 65_536;
const SMALL_RESERVE = 10_000_000;
/** Bytes of messages from which on garbage is collected early: each becomes text, and parameters of a statement. */
const TIGHT_FROM_BYTES = 8_000_000;
/** Holds messages whose key is being looked up. */
const UNKNOWN_ACCOUNT = '';

/** From the question to the commit; shorter than the limit of the question. Milliseconds. */
const RESPOND_WITHIN_MS = 15_000;

/**
 * Serves the SMTP server, which has no database: checks API keys, and sends what clients submit by the operation of POST /emails. Returns
 * a function that ends it.
 */
export function serveSubmission(submission: SubmissionParts): () => Promise<void> {
  const { bus } = submission.parts;
  const subscriptions = [
    bus.serve('gateway.key.check', (request) => checkKey(submission, request)),
    bus.serve('gateway.message.submit', (request, bytes) => acceptMessage(submission, request, bytes)),
  ];
  return async () => void (await Promise.all(subscriptions.map((subscription) => subscription.stop())));
}

/** Wrong keys of a client are counted; a right key is accepted all the same. The audit log has those of keys that are known. */
async function checkKey(
  { parts, credentials, attempts }: SubmissionParts,
  { keySha256, remoteAddress }: Request<'gateway.key.check'>,
): Promise<Reply<'gateway.key.check'>> {
  const credential = await credentials.findByHash(Buffer.from(keySha256, 'hex'), remoteAddress);
  if (credential !== null && hasRight(credential, 'send')) return { verdict: 'accept' };
  try {
    await attempts.take({ kind: 'submission', address: remoteAddress, account: null });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { verdict: 'reject', code: 454, enhancedCode: '4.7.0', text: error.message };
  }
  const text =
    credential === null
      ? 'Authentication failed. The password is an API key with the scope send.'
      : 'This API key has no scope send';
  const owner = credential ?? (await findEndedKey(parts.database, Buffer.from(keySha256, 'hex')));
  if (owner !== null) {
    const origin = { kind: 'key', id: owner.keyId, address: remoteAddress, agent: null, request: null } as const;
    parts.noteRefusal(
      { workspaceId: owner.workspaceId, origin },
      'SMTP AUTH',
      new UserError('forbidden', credential === null ? ENDED : text),
    );
  }
  return { verdict: 'reject', code: 535, enhancedCode: '5.7.8', text };
}

/** For the audit log; clients are not told which keys there were. */
const ENDED = 'This API key was revoked, or has expired';

async function acceptMessage(
  submission: SubmissionParts,
  request: Request<Accepting>,
  bytes: Uint8Array,
): Promise<Reply<Accepting>> {
  try {
    const find = () => submission.credentials.findByHash(Buffer.from(request.keySha256, 'hex'));
    const credential = await within(submission.ledger, { account: UNKNOWN_ACCOUNT, bytes: bytes.length }, find);
    if (credential === null || !hasRight(credential, 'send'))
      return refused(550, '5.7.1', 'The API key is no longer valid');
    return await within(submission.ledger, { account: credential.workspaceId, bytes: bytes.length }, () =>
      submitAdmitted(submission, credential, { ...request, bytes }),
    );
  } catch (error) {
    const refusal = findRefusal(error);
    if (refusal === null) throw error;
    return refusal;
  }
}

/** Holds a message while work goes on. Throws NoRoom. */
async function within<T>(
  ledger: ByteLedger,
  { account, bytes }: { account: string; bytes: number },
  work: () => Promise<T>,
): Promise<T> {
  if (ledger.take(account, bytes, bytes <= SMALL_MESSAGE ? SMALL_RESERVE : 0) !== 'taken') throw new NoRoom();
  if (ledger.count() >= TIGHT_FROM_BYTES) tightenHeap();
  try {
    return await work();
  } finally {
    ledger.giveBack(account, bytes);
  }
}

/** A message has no room in memory now. */
class NoRoom extends Error {}

/** Sends a message for which there is room. */
async function submitAdmitted(
  { parts, limiter, fault }: SubmissionParts,
  credential: Credential,
  { reversePath, recipients, bytes }: Request<Accepting> & { bytes: Uint8Array },
): Promise<Reply<Accepting>> {
  if ((await limiter?.take(credential.workspaceId))?.isExceeded === true)
    return refused(451, '4.7.0', 'Too many requests, please try again later');
  const context: OperationContext = {
    ...partsWithin(parts, credential),
    workspaceId: credential.workspaceId,
    rights: credential,
    respondBy: performance.now() + RESPOND_WITHIN_MS,
    caller: CALLER,
    room: UNBOUNDED_ROOM,
  };
  const message = { reversePath, recipients, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
  const { receipt, isRepeated } = await submitMessage(context, message);
  fault('submission.after-commit');
  const [email] = receipt.emails;
  const awaitsApprovalUntil = email?.awaitsApprovalUntil ?? null;
  return { verdict: 'accepted', emailId: email?.id ?? '', isRepeated, awaitsApprovalUntil };
}

/** Returns the SMTP reply for an error; null for an internal one, to which the SMTP server replies 451. */
function findRefusal(error: unknown): Refusal | null {
  if (error instanceof NoRoom)
    return refused(451, '4.3.2', 'Too many messages are in progress, please try again later');
  if (isTransient(error) || error instanceof RequestLimiterAway)
    return refused(451, '4.3.0', 'Temporary trouble, please try again later');
  if (!(error instanceof UserError)) return null;
  switch (error.code) {
    case 'rate_limited':
      return refused(451, '4.7.1', error.message);
    case 'unavailable':
      return refused(451, '4.3.0', error.message);
    case 'conflict':
      return error.isFinal ? refused(550, '5.6.0', error.message) : refused(451, '4.3.0', error.message);
    case 'forbidden':
    case 'unauthorized':
      // The budget of a send policy has room again later.
      if (error.retryAfterSeconds !== undefined) return refused(451, '4.7.1', error.message);
      return refused(550, '5.7.1', error.message);
    case 'validation':
    case 'not_found':
    case 'gone':
      return refused(550, POLICY_REASONS.has(error.reason) ? '5.7.1' : '5.6.0', error.message);
  }
}

/** Reasons for which a valid message is refused. */
const POLICY_REASONS: ReadonlySet<string | undefined> = new Set([RECIPIENT_SUPPRESSED, VIRUS_FOUND]);

/** The text of a reply is one line of ASCII (RFC 5321 §4.2), and not too long. */
function refused(code: number, enhancedCode: string, text: string): Refusal {
  const line = text.replaceAll(/[^\x20-\x7e]+/g, '?').slice(0, MAX_REPLY_LENGTH);
  return { verdict: 'refused', code, enhancedCode, text: line };
}

/** RFC 5321 §4.5.3.1.5 allows 512 bytes with code and line end. */
const MAX_REPLY_LENGTH = 480;

const CALLER: Caller = {
  via: 'key',
  signedInAt: null,
  gone: new AbortController().signal,
  isAllowed: async () => true,
  hangUp: () => undefined,
};
