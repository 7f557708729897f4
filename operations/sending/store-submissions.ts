import type { ClientBase } from 'pg';
import type { UserError } from '../../core/shared/errors.ts';
import { claimTokenSha256 } from '../../core/threads/answerer-claim.ts';
import { linkKeys, linksOf } from '../../core/threads/threading.ts';
import { type Policy, type PolicyQuestion, readPolicy } from '../../db/queries/sending/outgoing-policy.ts';
import {
  type OutgoingUnit,
  writeOutgoing,
  writeOutgoingWithoutEvents,
} from '../../db/queries/sending/outgoing-write.ts';
import { lockHeldClaims } from '../../db/queries/threads/answerer-claim.ts';
import { claimUnthreaded, lockThreads } from '../../db/queries/threads/thread-claim.ts';
import { appendThreadEvents, type FeedEvent } from '../../db/queries/threads/thread-events.ts';
import type { MailContext } from '../context.ts';
import { claimLost } from '../threads/claim-thread.ts';
import { joinThreads } from '../threads/join-threads.ts';
import type { OutgoingEmail } from './compose-outgoing.ts';
import { type Accepted, idempotentReplay, type Submission } from './idempotency.ts';
import { admitted, refusalOf } from './sending-policy.ts';

/** A submission to store. */
export interface SubmittedMember {
  submission: Submission;
  /** trace context of the request, if it is recorded */
  traceParent: string | null;
}

/** Returns the lock that a transaction holds while it checks the hourly limit of the user; null without a limit. */
export function sendingLockOf({ settings }: Pick<MailContext, 'settings'>): string | null {
  return settings.sendLimitPerHour === 0 ? null : 'sending limit';
}

/** What storeSubmissions found and wrote. */
export interface StoredGroup<Member> extends Stored {
  policy: Policy;
  /** for each member the earlier response, the reason for a rejection, or null when it was to be stored */
  verdicts: (Accepted | UserError | null)[];
  /** the members whose verdict is null */
  entering: Member[];
}

/** How storeSubmissions stores. */
export interface StoreOptions {
  /** whether replies join their threads now; otherwise the threading actor joins them later */
  threads: 'join' | 'leave';
  /** events of earlier changes in the same transaction, appended before its own */
  earlierEvents?: readonly FeedEvent[];
}

/**
 * Checks submissions of one user against the sending policy and stores those that pass, within a transaction that holds sendingLockOf. All
 * mail that users and their endpoints send passes here. Call it last in the transaction, because it appends events. Throws ThreadsBusy.
 */
export async function storeSubmissions<Member extends SubmittedMember>(
  client: ClientBase,
  context: MailContext,
  group: readonly Member[],
  options: StoreOptions,
): Promise<StoredGroup<Member>> {
  const { userId, settings } = context;
  const asking = group.reduce((sum, { submission }) => sum + submission.emails.length, 0);
  const hourly = settings.sendLimitPerHour === 0 ? null : { limit: settings.sendLimitPerHour, asking };
  const lost = await findLostClaims(client, userId, group, options.threads);
  const policy = await readPolicy(client, userId, questionOf(group, hourly));
  const verdicts = judge(group, policy, hourly, lost);
  const entering = group.filter((_, at) => verdicts[at] === null);
  const units = entering.map((member) => unitOf(member, policy));
  const written = await store(client, context, units, options);
  return { policy, verdicts, entering, ...written };
}

/**
 * Returns the emails whose claims are lost. Claims change under the lock of the user's threads, which therefore comes before the lock of the
 * claims, and both are held until the email is stored.
 */
async function findLostClaims(
  client: ClientBase,
  userId: string,
  group: readonly SubmittedMember[],
  threads: 'join' | 'leave',
): Promise<ReadonlySet<OutgoingEmail>> {
  const claiming = group.flatMap(({ submission }) =>
    submission.emails.flatMap((email) => {
      if (email.claimToken === null) return [];
      const { in_reply_to: inReplyTo, reference_ids: references } = email.row;
      const tokenSha256 = claimTokenSha256(email.claimToken);
      const keys = linkKeys(linksOf({ messageId: '', inReplyTo, references }));
      return [{ email, answer: { tokenSha256, threadId: submission.receipt.repliedTo?.threadId ?? null, keys } }];
    }),
  );
  if (claiming.length === 0) return new Set();
  if (threads === 'join') await lockThreads(client, userId).catch(throwIfBusy);
  const held = await lockHeldClaims(
    client,
    userId,
    claiming.map(({ answer }) => answer),
  );
  return new Set(claiming.flatMap(({ email }, at) => (held[at] === true ? [] : [email])));
}

interface Stored {
  /** indexes of the units whose key was taken in the meantime */
  leftOut: Set<number>;
  /** ids of emails that are already threaded */
  threaded: ReadonlySet<string>;
  lastSeq: number | null;
}

/**
 * Stores the units. Replies join their threads in the same transaction, so that the thread shows them as soon as the
 * request is answered. The threading lock comes first and events come last, as in every such transaction.
 */
async function store(
  client: ClientBase,
  context: MailContext,
  units: readonly OutgoingUnit[],
  { threads, earlierEvents = [] }: StoreOptions,
): Promise<Stored> {
  const { userId } = context;
  if (units.length === 0) return { leftOut: new Set(), threaded: new Set(), lastSeq: null };
  const referring = threads === 'leave' ? [] : units.flatMap(({ emails }) => emails.filter(isReferring));
  if (referring.length === 0 && earlierEvents.length === 0)
    return { ...(await writeOutgoing(client, userId, units)), threaded: new Set() };
  if (referring.length > 0) await lockThreads(client, userId).catch(throwIfBusy);
  const written = await writeOutgoingWithoutEvents(client, userId, units);
  const { leftOut } = written;
  const events = [...earlierEvents, ...written.events];
  if (referring.length === 0)
    return { leftOut, threaded: new Set(), lastSeq: await appendThreadEvents(client, userId, events) };
  const ids = referring.map(({ row }) => row.id);
  const claimed = await claimUnthreaded(client, userId, ids);
  const lastSeq = await joinThreads(context, client, userId, claimed, events);
  return { leftOut, threaded: new Set(claimed.emails.map(({ emailId }) => emailId)), lastSeq };
}

function isReferring({ row }: OutgoingUnit['emails'][number]): boolean {
  return row.scheduled_at === null && (row.in_reply_to.length > 0 || row.reference_ids.length > 0);
}

/** Another transaction held the lock on the user's threads for too long. */
export class ThreadsBusy extends Error {}

const LOCK_NOT_AVAILABLE = '55P03';

function throwIfBusy(error: unknown): never {
  const isBusy = (error as { code?: unknown }).code === LOCK_NOT_AVAILABLE;
  throw isBusy ? new ThreadsBusy('the threads of the user are busy', { cause: error }) : error;
}

function questionOf(group: readonly SubmittedMember[], hourly: PolicyQuestion['hourly']): PolicyQuestion {
  const emails = group.flatMap(({ submission }) => submission.emails);
  const each = (values: (email: OutgoingEmail) => string[]) => [...new Set(emails.flatMap(values))];
  return {
    domains: each(({ row, envelopeDomain }) => [row.own_domain, ...(envelopeDomain === null ? [] : [envelopeDomain])]),
    senders: each(({ row }) => [row.own_address]),
    recipients: each(({ row }) => row.recipients.map(({ address }) => address.toLowerCase())),
    idempotencyKeys: group.flatMap(({ submission }) => submission.idempotency?.key ?? []),
    hourly,
  };
}

/** Returns for each member the earlier response, the reason for a rejection, or null to store it. */
function judge(
  group: readonly SubmittedMember[],
  policy: Policy,
  hourly: PolicyQuestion['hourly'],
  lost: ReadonlySet<OutgoingEmail>,
): (Accepted | UserError | null)[] {
  let going = 0;
  return group.map(({ submission }) => {
    const known = idempotentReplay(submission.idempotency, policy);
    if (known !== null) return known;
    const unclaimed = submission.emails.find((email) => lost.has(email));
    if (unclaimed !== undefined) return claimLost(null, `${unclaimed.path}claim_token`);
    const refusal = refusalOf(submission.emails, policy, hourly === null ? null : { ...hourly, going });
    if (refusal === null) going += submission.emails.length;
    return refusal;
  });
}

function unitOf({ submission, traceParent }: SubmittedMember, policy: Policy): OutgoingUnit {
  const { emails, batchId, idempotency, receipt } = submission;
  return {
    emails: emails.map((email) => ({ ...email, ...admitted(email, policy) })),
    batchId,
    traceParent,
    answer: idempotency === null ? null : { ...idempotency, answer: receipt },
  };
}

interface Announcement {
  stored: readonly SubmittedMember[];
  threaded: ReadonlySet<string>;
  lastSeq: number | null;
}

/** Wakes the actors for what was stored, after the commit. */
export function announceStored(
  { bus, userId }: Pick<MailContext, 'bus' | 'userId'>,
  { stored, threaded, lastSeq }: Announcement,
): void {
  const rows = stored.flatMap(({ submission }) => submission.emails.map((email) => email.row));
  const emailIds = rows.filter((row) => row.scheduled_at === null).map((row) => row.id);
  const unthreadedIds = emailIds.filter((id) => !threaded.has(id));
  const schedules = rows.flatMap((row) => row.scheduled_at ?? []);
  if (emailIds.length > 0) bus.wake('sending.send.wake', { userId, emailIds });
  if (unthreadedIds.length > 0) bus.wake('threading.assign.wake', { userId, emailIds: unthreadedIds });
  const at = schedules.toSorted()[0];
  if (at !== undefined) bus.wake('scheduling.release.wake', { userId, at });
  if (lastSeq !== null) bus.publish('event.appended', { userId, lastSeq });
}
