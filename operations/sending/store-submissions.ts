import type { ClientBase } from 'pg';
import type { DraftVersion } from '../../core/sending/draft.ts';
import { DAY_MS } from '../../core/shared/durations.ts';
import { UserError } from '../../core/shared/errors.ts';
import { claimTokenSha256 } from '../../core/threads/reply-claim.ts';
import { findLinks, linkKeys } from '../../core/threads/threading.ts';
import { SEND_RIGHTS_LOCK, type WorkspaceLock } from '../../db/connection/transaction.ts';
import { isLockTimeout } from '../../db/errors.ts';
import { lockDrafts, removeDrafts } from '../../db/queries/sending/draft.ts';
import {
  makeRequesterKey,
  type Policy,
  type PolicyQuestion,
  type Requester,
  readPolicy,
} from '../../db/queries/sending/outgoing-policy.ts';
import {
  type OutgoingContent,
  type OutgoingUnit,
  type Written,
  writeOutgoing,
  writeOutgoingWithoutEvents,
} from '../../db/queries/sending/outgoing-write.ts';
import { lockBudgets } from '../../db/queries/sending/policy-facts.ts';
import { lockHeldClaims } from '../../db/queries/threads/reply-claim.ts';
import { claimUnthreaded, THREADS_LOCK } from '../../db/queries/threads/thread-claim.ts';
import { appendThreadEvents, type FeedEvent } from '../../db/queries/threads/thread-events.ts';
import type { MailContext } from '../context.ts';
import { claimLost } from '../threads/claim-thread.ts';
import { joinThreads } from '../threads/join-threads.ts';
import { startThread } from '../threads/start-thread.ts';
import type { OutgoingEmail } from './compose-outgoing.ts';
import { type Accepted, idempotentReplay, type Submission } from './idempotency.ts';
import type { LocalClaims } from './local-sender.ts';
import {
  areCounted,
  type HeldEmails,
  heldEmails,
  openPolicyJudge,
  type PolicyJudge,
  withoutTag,
} from './policy-verdicts.ts';
import { admitted, findRefusal } from './sending-policy.ts';

/** A submission to store. */
export interface SubmittedMember {
  submission: Submission;
  /** the API key that sends it, or that set up the webhook whose action does; null: a person */
  keyId: string | null;
  /** the person who sends it without a key, and must be a member who may send; omitted, null: the service acts for a person */
  personId?: string | null;
  /** whether a program sends it: what auto_replies_per_thread_per_hour of a send policy counts */
  isAutomatic: boolean;
  /** whether an action of a webhook sends it */
  isOfWebhook?: boolean;
  /** trace context of the request, if it is recorded */
  traceParent: string | null;
}

/** Returns the lock that a transaction holds while it checks the hourly limit of the user; null without a limit. */
export function nameSendingLock({ settings }: Pick<MailContext, 'settings'>): string | null {
  return settings.sendLimitPerHour === 0 ? null : 'sending limit';
}

/**
 * Returns the locks of a transaction that runs storeSubmissions, in the order of every such transaction. Nothing that decides who may send changes
 * until it ends.
 */
export function listStoringLocks(context: Pick<MailContext, 'settings'>, threads: Threading): WorkspaceLock[] {
  const name = nameSendingLock(context);
  return [
    ...(name === null ? [] : [{ name }]),
    ...(threads === 'leave' ? [] : [{ name: THREADS_LOCK, isShared: threads === 'start' }]),
    { name: SEND_RIGHTS_LOCK, isShared: true },
  ];
}

/** What storeSubmissions found and wrote. */
export interface StoredGroup<Member> extends Omit<Stored, 'claimFacts'> {
  policy: Policy;
  /** for each member the earlier response, the reason for a rejection, or null when it should be stored */
  verdicts: (Accepted | UserError | null)[];
  /** the members whose verdict is null, as stored: a send policy can make an email wait */
  entering: Member[];
  /** Hands what was claimed over to the sending actor, after the commit. Returns the ids of those emails. */
  handOver: () => ReadonlySet<string>;
}

/**
 * How emails that are sent now get their threads: `start` gives each a new one, in a transaction that shares THREADS_LOCK; `join` joins other
 * mail, in one that holds it alone; `leave` leaves them to the threading actor.
 */
export type Threading = 'start' | 'join' | 'leave';

/** How storeSubmissions stores. */
export interface StoreOptions<Member extends SubmittedMember> {
  threads: Threading;
  /** what sends the emails in this process; omitted: another process does */
  claims?: LocalClaims;
  /**
   * Makes the other changes of the same transaction, when it is known which emails wait for approval, and before any is stored. Its events
   * are appended before those of the emails.
   */
  alongside?: (entering: readonly Member[]) => Promise<readonly FeedEvent[]>;
}

/**
 * Checks submissions of one user against the sending policy and stores what passes, within a transaction that holds listStoringLocks. All
 * mail that users and their endpoints send passes here. Call it last in the transaction, because it appends events. Throws ThreadsJoin when
 * emails that were to start threads belong to others.
 */
export async function storeSubmissions<Member extends SubmittedMember>(
  client: ClientBase,
  context: MailContext,
  group: readonly Member[],
  options: StoreOptions<Member>,
): Promise<StoredGroup<Member>> {
  const { workspaceId, settings } = context;
  const asking = group.reduce((sum, { submission }) => sum + submission.emails.length, 0);
  const hourly = settings.sendLimitPerHour === 0 ? null : { limit: settings.sendLimitPerHour, asking };
  const lost = await findLostClaims(client, workspaceId, group);
  const drafts = await lockDrafts(
    client,
    workspaceId,
    group.flatMap(({ submission: { draft } }) => draft?.id ?? []),
  );
  const { policy, held, judging } = await readPolicies(client, workspaceId, group, hourly);
  const verdicts = judge(group, { policy, judging }, hourly, { lost, drafts });
  const entering = group.flatMap((member, at) =>
    verdicts[at] === null ? [underPolicies(context, member, { policy, held, judging })] : [],
  );
  const sent = entering.map(({ submission: { draft } }) => draft ?? null);
  const earlierEvents = (await options.alongside?.(entering)) ?? [];
  const { threads, claims } = options;
  const emails = entering.flatMap(({ submission }) => submission.emails);
  const claimable = claims?.keep(emails.filter(({ row }) => isSentNow(row))) ?? new Set();
  const units = entering.map((member) => toUnit(context, member, policy, { threads, claimable }));
  const storing = { threads, earlierEvents, claimant: claims?.claimant ?? null };
  const { claimFacts, ...written } = await store(client, context, units, sent, storing);
  const stored = entering.filter((_, at) => !written.leftOut.has(at));
  const handOver = () =>
    claims?.fill(
      stored.flatMap(({ submission }) => submission.emails),
      claimFacts,
    ) ?? new Set<string>();
  return { policy, verdicts, entering, handOver, ...written };
}

/** What was found about a group; without send policies, `judging` is null. */
interface FoundPolicies {
  policy: Policy;
  held: HeldEmails;
  judging: PolicyJudge | null;
}

/**
 * Reads what decides about a group. Where a send policy counts emails, its lock comes after that of the claims, and all is read again: transactions that held it before have stored emails, and responses to idempotency keys.
 */
async function readPolicies(
  client: ClientBase,
  workspaceId: string,
  group: readonly SubmittedMember[],
  hourly: PolicyQuestion['hourly'],
): Promise<FoundPolicies> {
  const question = toQuestion(group, hourly);
  let policy = await readPolicy(client, workspaceId, question);
  let held = heldEmails(group, policy);
  if (held.size === 0) return { policy, held, judging: null };
  if (areCounted(held)) {
    await lockBudgets(client, workspaceId);
    policy = await readPolicy(client, workspaceId, question);
    held = heldEmails(group, policy);
  }
  return { policy, held, judging: await openPolicyJudge(client, workspaceId, held, policy.now) };
}

/**
 * Returns a member as it is stored under its send policies: with what they record, waiting for approval, or scheduled when its emails can be
 * undone.
 */
function underPolicies<Member extends SubmittedMember>(
  { settings }: MailContext,
  member: Member,
  { policy, held, judging }: FoundPolicies,
): Member {
  const { submission, keyId } = member;
  const { approvalDays: days } = settings;
  if (judging === null || !submission.emails.some((email) => held.has(email))) return member;
  const emails = submission.emails.map((email) => {
    const policies = held.get(email)?.policies;
    if (policies === undefined) return email;
    const policyAddress = policies.find(({ of }) => of === 'address')?.owner ?? null;
    const row = { ...email.row, api_key_id: keyId, policy_address: policyAddress };
    const approval = judging.approvalOf(email);
    // The time to undo it begins when it is approved.
    if (approval !== null)
      return { ...email, row: { ...row, approval: { rule: approval.rule, policy_of: approval.of, days } } };
    const undoMs = judging.undoSecondsOf(email) * 1_000;
    if (undoMs === 0) return { ...email, row };
    const at = Math.max(policy.now.getTime() + undoMs, Date.parse(row.scheduled_at ?? '') || 0);
    const scheduled = { scheduled_at: new Date(at).toISOString(), timezone: row.timezone ?? 'UTC' };
    return { ...email, row: { ...row, ...scheduled } };
  });
  const { receipt } = submission;
  const told = receipt.emails.map((each, at) => {
    const row = emails[at]?.row;
    if (row === undefined) return each;
    const told = { ...each, scheduledAt: row.scheduled_at, timezone: row.timezone };
    if (row.approval === undefined) return told;
    return { ...told, awaitsApprovalUntil: new Date(policy.now.getTime() + days * DAY_MS).toISOString() };
  });
  return { ...member, submission: { ...submission, emails, receipt: { ...receipt, emails: told } } };
}

/**
 * Returns the emails whose claims are lost. Claims change under the lock of the user's threads, which the transaction holds; it holds that of the
 * claims, too, until the email is stored.
 */
async function findLostClaims(
  client: ClientBase,
  workspaceId: string,
  group: readonly SubmittedMember[],
): Promise<ReadonlySet<OutgoingEmail>> {
  const claiming = group.flatMap(({ submission }) =>
    submission.emails.flatMap((email) => {
      if (email.claimToken === null) return [];
      const { in_reply_to: inReplyTo, reference_ids: references } = email.row;
      const tokenSha256 = claimTokenSha256(email.claimToken);
      const keys = linkKeys(findLinks({ messageId: '', inReplyTo, references }));
      return [{ email, claim: { tokenSha256, threadId: submission.receipt.repliedTo?.threadId ?? null, keys } }];
    }),
  );
  if (claiming.length === 0) return new Set();
  const held = await lockHeldClaims(
    client,
    workspaceId,
    claiming.map(({ claim }) => claim),
  );
  return new Set(claiming.flatMap(({ email }, at) => (held[at] === true ? [] : [email])));
}

interface Stored {
  claimFacts: Pick<Written, 'mailFromDomains' | 'hostedDomains'>;
  /** indexes of the units whose key was taken in the meantime */
  leftOut: Set<number>;
  /** ids of emails that are already threaded */
  threaded: ReadonlySet<string>;
  lastSeq: number | null;
}

/**
 * Stores the units and removes the draft of each. Emails get their threads in the same transaction, so that the response to the request
 * never shows one without. Events come last, as in every such transaction.
 */
async function store(
  client: ClientBase,
  context: MailContext,
  units: readonly OutgoingUnit[],
  drafts: readonly (DraftVersion | null)[],
  {
    threads,
    earlierEvents,
    claimant,
  }: { threads: Threading; earlierEvents: readonly FeedEvent[]; claimant: string | null },
): Promise<Stored> {
  const { workspaceId } = context;
  const nothing = { mailFromDomains: new Set<string>(), hostedDomains: new Set<string>() };
  if (units.length === 0) return { claimFacts: nothing, leftOut: new Set(), threaded: new Set(), lastSeq: null };
  const sentIds = units.flatMap(({ emails }) => emails.flatMap(({ row }) => (isSentNow(row) ? [row.id] : [])));
  const joins = threads === 'join' && sentIds.length > 0;
  const started: ReadonlySet<string> = new Set(threads === 'start' ? sentIds : []);
  const isOfDraft = drafts.some((draft) => draft !== null);
  if (!joins && earlierEvents.length === 0 && !isOfDraft) {
    const { leftOut, isJoining, lastSeq, ...claimFacts } = await writeOutgoing(client, workspaceId, units, claimant);
    if (isJoining) throw new ThreadsJoin('an email belongs to another thread');
    return { claimFacts, leftOut, threaded: started, lastSeq };
  }
  const {
    leftOut,
    isJoining,
    events: ownEvents,
    ...claimFacts
  } = await writeOutgoingWithoutEvents(client, workspaceId, units, claimant);
  if (isJoining) throw new ThreadsJoin('an email belongs to another thread');
  const removed = drafts.flatMap((draft, at) => (draft === null || leftOut.has(at) ? [] : [draft.id]));
  if (removed.length > 0) await removeDrafts(client, workspaceId, removed);
  const events = [...earlierEvents, ...ownEvents];
  if (!joins)
    return { claimFacts, leftOut, threaded: started, lastSeq: await appendThreadEvents(client, workspaceId, events) };
  const claimed = await claimUnthreaded(client, workspaceId, sentIds);
  const lastSeq = await joinThreads(context, client, workspaceId, claimed, events);
  return { claimFacts, leftOut, threaded: new Set(claimed.emails.map(({ emailId }) => emailId)), lastSeq };
}

/** Whether an email goes out when it is stored. Other mail gets its thread when it is released. */
export function isSentNow({ scheduled_at: scheduledAt, approval }: OutgoingEmail['row']): boolean {
  return scheduledAt === null && approval === undefined;
}

/** Mail that goes later is sent while who sends it may send. */
export function withSender(
  row: OutgoingEmail['row'],
  { keyId, personId }: { keyId: string | null; personId: string | null },
): OutgoingEmail['row'] {
  return { ...row, scheduled_by_key_id: keyId, scheduled_by_person_id: keyId === null ? personId : null };
}

/** Another transaction held the lock on the user's threads for too long. */
export class ThreadsBusy extends Error {}

/** An email that was to start a thread belongs to another one: the group has to be stored with `join`. */
export class ThreadsJoin extends Error {}

/** Throws ThreadsBusy when the error is that of a lock. */
export function throwIfBusy(error: unknown): never {
  throw isLockTimeout(error) ? new ThreadsBusy('the threads of the user are busy', { cause: error }) : error;
}

function toQuestion(group: readonly SubmittedMember[], hourly: PolicyQuestion['hourly']): PolicyQuestion {
  const emails = group.flatMap(({ submission }) => submission.emails);
  const each = (values: (email: OutgoingEmail) => string[]) => [...new Set(emails.flatMap(values))];
  return {
    domains: each(({ row, envelopeDomain }) => [row.own_domain, ...(envelopeDomain === null ? [] : [envelopeDomain])]),
    senders: each(({ row }) => [row.own_address, withoutTag(row.own_address)]),
    requesters: [...new Map(group.flatMap(listRequesters).map((each) => [makeRequesterKey(each), each])).values()],
    recipients: each(({ row }) => row.recipients.map(({ address }) => address.toLowerCase())),
    idempotencyKeys: group.flatMap(({ submission }) => submission.idempotency ?? []),
    hourly,
  };
}

/** Returns for each member the earlier response, the reason for a rejection, or null to store it. */
function judge(
  group: readonly SubmittedMember[],
  { policy, judging }: Pick<FoundPolicies, 'policy' | 'judging'>,
  hourly: PolicyQuestion['hourly'],
  { lost, drafts }: { lost: ReadonlySet<OutgoingEmail>; drafts: ReadonlyMap<string, number> },
): (Accepted | UserError | null)[] {
  let going = 0;
  const versions = new Map(drafts);
  return group.map((member) => {
    const { submission } = member;
    const known = idempotentReplay(submission.idempotency, policy);
    if (known !== null) return known;
    const unclaimed = submission.emails.find((email) => lost.has(email));
    if (unclaimed !== undefined) return claimLost(null, `${unclaimed.path}claim_token`);
    const { draft } = submission;
    if (draft !== undefined && versions.get(draft.id) !== draft.version) return staleDraft(versions.get(draft.id));
    const refusal =
      requesterRefusal(member, policy) ??
      findRefusal(submission.emails, policy, hourly === null ? null : { ...hourly, going }) ??
      judging?.judge(member) ??
      null;
    if (refusal !== null) return refusal;
    going += submission.emails.length;
    if (draft !== undefined) versions.delete(draft.id);
    return null;
  });
}

function listRequesters({ submission, keyId, personId = null }: SubmittedMember): Requester[] {
  return submission.emails.map(({ row }) => ({ keyId, personId, address: row.own_address }));
}

/** Who was admitted may have lost the right since then. */
function requesterRefusal(member: SubmittedMember, { barred }: Policy): UserError | null {
  if (!listRequesters(member).some((each) => barred.has(makeRequesterKey(each)))) return null;
  return sendingRightLost(member.keyId, 'this email while it was being sent. Nothing was sent.');
}

/** Returns the error for a key, or a person (null), who may no longer send. `rest` ends the sentence. */
export function sendingRightLost(keyId: string | null, rest: string): UserError {
  const who = keyId === null ? 'You lost' : 'The API key was revoked, has expired, or lost';
  const message = `${who} the right to send ${rest}`;
  return new UserError('forbidden', message, { title: 'Forbidden', reason: 'SENDING_RIGHT_LOST' });
}

/** Returns the error for a draft that is not at the version of the request. `version`: the one it has; undefined: it is gone. */
export function staleDraft(version: number | undefined): UserError {
  if (version === undefined) return new UserError('not_found', 'Draft not found. It may have been sent or deleted.');
  const message = `The draft has changed and is at version ${version} now. Retrieve it, and repeat the request with that version.`;
  return new UserError('conflict', message, { reason: 'DRAFT_CHANGED', members: { version }, isFinal: true });
}

function toUnit(
  context: MailContext,
  { submission, keyId, personId = null, traceParent }: SubmittedMember,
  policy: Policy,
  { threads, claimable }: { threads: Threading; claimable: ReadonlySet<OutgoingContent> },
): OutgoingUnit {
  const { emails, batchId, idempotency, receipt } = submission;
  return {
    emails: emails.map((email) => ({
      ...email,
      ...admitted(email, policy),
      claims: claimable.has(email),
      thread: threads === 'start' && isSentNow(email.row) ? startThread(context, email.row) : undefined,
      ...(isSentNow(email.row) ? {} : { row: withSender(email.row, { keyId, personId }) }),
    })),
    batchId,
    traceParent,
    response: idempotency === null ? null : { ...idempotency, response: receipt },
  };
}

interface Announcement {
  stored: readonly SubmittedMember[];
  /** ids of emails that have their threads */
  threaded: ReadonlySet<string> | 'all';
  /** ids of emails whose recipients are claimed; none when omitted */
  claimed?: ReadonlySet<string>;
  lastSeq: number | null;
}

/** Wakes the actors for what was stored, after the commit. */
export function announceStored(
  { bus, workspaceId }: Pick<MailContext, 'bus' | 'workspaceId'>,
  { stored, threaded, claimed, lastSeq }: Announcement,
): void {
  const rows = stored.flatMap(({ submission }) => submission.emails.map((email) => email.row));
  const emailIds = rows.filter(isSentNow).map((row) => row.id);
  const unthreadedIds = threaded === 'all' ? [] : emailIds.filter((id) => !threaded.has(id));
  const schedules = rows.flatMap((row) => (row.approval === undefined ? (row.scheduled_at ?? []) : []));
  const dueIds = claimed === undefined ? emailIds : emailIds.filter((id) => !claimed.has(id));
  if (dueIds.length > 0) bus.wake('sending.send.wake', { workspaceId, emailIds: dueIds });
  if (unthreadedIds.length > 0) bus.wake('threading.assign.wake', { workspaceId, emailIds: unthreadedIds });
  const at = schedules.toSorted()[0];
  if (at !== undefined) bus.wake('scheduling.release.wake', { workspaceId, at });
  if (lastSeq !== null) bus.publish('event.appended', { workspaceId, lastSeq });
}
