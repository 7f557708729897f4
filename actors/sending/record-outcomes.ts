import { SYSTEM_WORKSPACE_ID } from '../../core/accounts/system-account.ts';
import { refusalReason } from '../../core/sending/refusal-reason.ts';
import { decideRetry } from '../../core/sending/sending-retry.ts';
import { suppressesAddress } from '../../core/sending/suppression.ts';
import { newIdentifier } from '../../core/shared/identifiers.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { type ForwardEvent, settleForwards } from '../../db/queries/endpoints/forward-settle.ts';
import {
  appendWorkspaceEventsSql,
  type FinishedRecipientRow,
  finishAllSql,
  finishRecipientsSql,
  type OutcomeEvent,
  type RecipientFinish,
  refreshEmailsSql,
} from '../../db/queries/sending/recipient-finish.ts';
import { suppressAddresses } from '../../db/queries/sending/suppression-list.ts';
import type { ActorContext } from '../actor.ts';
import { setAside } from '../set-aside.ts';
import { createOutcomeRecorder, type OutcomeRecorder } from '../work/outcome-recorder.ts';
import type { AttemptResult } from './sending-job.ts';

/** Outcomes in one transaction. */
const GROUP_SIZE = 100;
const GATHER_MS = 15;

/** Records the outcomes of attempts, each for one recipient. */
export function createSendingRecorder(context: ActorContext, onRecorded: () => void): OutcomeRecorder<Outcome> {
  const write = async (outcomes: readonly Outcome[]) => {
    const { finished, feeds } = await (outcomes.every(isPlain) ? recordPlain : recordAny)(context, outcomes);
    onRecorded();
    for (const feed of feeds)
      context.bus.publish('event.appended', { workspaceId: feed.workspace_id, lastSeq: feed.last_seq });
    return outcomes.map(({ row }) => finished.has(row.id));
  };

  return createOutcomeRecorder<Outcome>({
    log: context.log,
    actor: 'sending',
    describe: ({ row }) => ({ recipientId: row.id, outcome: row.outcome }),
    write,
    withoutRemoteText,
    setAside: ({ row }, error) =>
      setAside(context, { workspaceId: row.workspace_id, step: 'send', subjectId: row.id, error }),
    groupSize: GROUP_SIZE,
    gatherMs: () => GATHER_MS,
  });
}

interface Recorded {
  /** ids of the recipients whose rows were changed */
  finished: Pick<ReadonlySet<string>, 'has'>;
  /** the users who have new events */
  feeds: { workspace_id: string; last_seq: number }[];
}

/** Whether only the recipient, the email and the event of the outcome are written. */
function isPlain(outcome: Outcome): boolean {
  return !outcome.isForwarded && !suppresses(outcome);
}

/** Records plain outcomes in one statement, which is its own transaction: with most mail this is all that a message costs after it is sent. */
async function recordPlain(context: ActorContext, outcomes: readonly Outcome[]): Promise<Recorded> {
  const now = context.now();
  const rows = outcomes.map((outcome, place) => {
    const { row, eventKind: kind } = outcome;
    const id = newIdentifier(context, 'event', now);
    const event: OutcomeEvent | null = kind === null ? null : { id, kind, data: eventData(outcome) };
    return { ...row, place, event };
  });
  const { rows: finished } = await context.database.pool.query<{
    workspace_id: string;
    id: string;
    last_seq: number | null;
  }>({
    name: 'sending-finish-all',
    text: finishAllSql,
    values: [context.name, JSON.stringify(rows)],
  });
  const feeds = finished.flatMap(({ workspace_id, last_seq }) =>
    last_seq === null ? [] : [{ workspace_id, last_seq }],
  );
  return {
    finished: new Set(finished.map(({ id }) => id)),
    feeds: uniqueBy(feeds, ({ workspace_id }) => workspace_id),
  };
}

/** Records outcomes of any kind in one transaction. */
function recordAny(context: ActorContext, outcomes: readonly Outcome[]): Promise<Recorded> {
  return inTransaction(context.database, async (client) => {
    const { rows: finished } = await client.query<FinishedRecipientRow>({
      name: 'sending-finish',
      text: finishRecipientsSql,
      values: [context.name, JSON.stringify(outcomes.map(({ row }) => row))],
    });
    const rows = new Map(finished.map((row) => [row.id, row]));
    const written = outcomes.filter(({ row }) => rows.has(row.id));
    await suppressAddresses(
      client,
      written.filter(suppresses).map((outcome) => toSuppression(context, outcome)),
    );
    const settled = written.filter(({ row }) => row.status !== 'pending');
    const emails = uniqueBy(
      settled.filter(({ isForwarded }) => !isForwarded),
      ({ row }) => row.email_id,
    );
    if (emails.length > 0)
      await client.query({
        name: 'sending-refresh-emails',
        text: refreshEmailsSql,
        values: [emails.map(({ row }) => row.workspace_id), emails.map(({ row }) => row.email_id)],
      });
    const forwards = await settleForwards(client, listForwards(settled, rows));
    const users = eventsByWorkspace(context, written, rows, forwards);
    if (users.length === 0) return { finished: rows, feeds: [] };
    const { rows: feeds } = await client.query<{ workspace_id: string; last_seq: number }>({
      name: 'sending-append-events',
      text: appendWorkspaceEventsSql,
      values: [JSON.stringify(users)],
    });
    return { finished: rows, feeds };
  });
}

/** Returns the outcome without the reply of the server. */
function withoutRemoteText(outcome: Outcome): Outcome {
  const row = {
    ...outcome.row,
    host: null,
    remote_address: null,
    enhanced_status: null,
    text: 'The reply could not be recorded',
  };
  return { ...outcome, row, isReply: false };
}

function toSuppression(context: ActorContext, { row, address }: Outcome) {
  return {
    workspace_id: row.workspace_id,
    id: newIdentifier(context, 'suppression'),
    address,
    reason: 'bounce' as const,
    detail: row.text,
    refusal_reason: row.reason,
    email_id: row.email_id,
  };
}

/** Indexed by recipient id. */
type FinishedRows = ReadonlyMap<string, FinishedRecipientRow>;

/** Returns the deliveries whose forwarded copies have settled recipients. */
function listForwards(settled: readonly Outcome[], rows: FinishedRows): { workspaceId: string; deliveryId: string }[] {
  const forwards = settled.flatMap(({ row }) => {
    const deliveryId = rows.get(row.id)?.delivery_id ?? null;
    return deliveryId === null ? [] : [{ workspaceId: row.workspace_id, deliveryId }];
  });
  return uniqueBy(forwards, ({ deliveryId }) => deliveryId);
}

/**
 * Returns the events of each user, in the order of user ids, so that every process locks the feeds in one order. A forwarded copy has one
 * event, of its delivery: its email is a received one.
 */
function eventsByWorkspace(
  context: ActorContext,
  outcomes: readonly Outcome[],
  rows: FinishedRows,
  forwards: readonly { workspaceId: string; event: ForwardEvent }[],
) {
  const now = context.now();
  const users = new Map<string, unknown[]>();
  const append = (workspaceId: string, event: object) => {
    const events = users.get(workspaceId) ?? [];
    users.set(workspaceId, events);
    events.push({ id: newIdentifier(context, 'event', now), ...event });
  };
  for (const outcome of outcomes) {
    const { row, isForwarded, eventKind: kind } = outcome;
    const finished = rows.get(row.id);
    if (kind === null || finished === undefined || isForwarded) continue;
    append(row.workspace_id, { kind, emailId: row.email_id, threadId: finished.thread_id, data: eventData(outcome) });
  }
  for (const { workspaceId, event } of forwards) append(workspaceId, event);
  return [...users]
    .map(([workspace_id, events]) => ({ workspace_id, events }))
    .toSorted((one, other) => (one.workspace_id < other.workspace_id ? -1 : 1));
}

function eventData({ row, address }: Outcome): object {
  const { code, enhanced_status: status, text, reason } = row;
  return { recipient: address, code, status, text, ...(reason === null ? {} : { reason }) };
}

function uniqueBy<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()];
}

/** What is recorded of an attempt for one recipient. */
export interface Outcome {
  row: RecipientFinish;
  address: string;
  /** of a forwarded copy of a received email */
  isForwarded: boolean;
  /** null when the user gets no event */
  eventKind: 'email.delivered' | 'email.bounced' | 'email.failed' | 'email.delayed' | null;
  /** the text is a server's reply */
  isReply: boolean;
}

/** Returns what to record for a recipient after its attempt. `random`, in [0, 1), is the same for all recipients of a transaction. */
export function toOutcome(result: AttemptResult, random: number): Outcome {
  const { job, outcome, isReply } = result;
  const isCounted = outcome !== 'interrupted';
  const next = findNext(result, random);
  return {
    address: job.address,
    isForwarded: job.isForwarded,
    isReply,
    eventKind: toEvent(next.status, outcome, job.attempts),
    row: {
      workspace_id: job.workspaceId,
      id: job.recipientId,
      email_id: job.emailId,
      number: job.number,
      attempts_before: job.attempts,
      is_counted: isCounted,
      outcome,
      status: next.status,
      delay_seconds: next.delaySeconds,
      return_id: result.returnId,
      host: result.host,
      remote_address: result.remoteAddress,
      is_tls: result.isTls,
      code: result.code,
      enhanced_status: result.status,
      text: result.text,
      reason: toReason(result),
      relayed_ids: outcome === 'delivered' ? (result.relayedIds ?? []) : [],
    },
  };
}

/**
 * Whether to suppress this address: a server said so, or the domain does not exist or accepts no mail. Never for mail of the service: no one
 * can read or lift its list, and a refusal of today would end password resets and invitations of the address for good.
 */
function suppresses({ row, address, isReply }: Outcome): boolean {
  if (row.outcome !== 'bounced' || row.workspace_id === SYSTEM_WORKSPACE_ID) return false;
  const { code, enhanced_status: status, text } = row;
  return isReply ? suppressesAddress({ code, status, text, recipient: address }) : status?.startsWith('5.1.') === true;
}

/** Null when the server accepted the message, or the service stopped. */
function toReason({ job, outcome, code, status, text }: AttemptResult): RecipientFinish['reason'] {
  return outcome === 'bounced' || outcome === 'deferred'
    ? refusalReason({ code, status, text, recipient: job.address })
    : null;
}

function findNext(
  { job, outcome, isHopeless, faultRetrySeconds }: AttemptResult,
  random: number,
): { status: RecipientFinish['status']; delaySeconds: number | null } {
  switch (outcome) {
    case 'delivered':
    case 'bounced':
      return { status: outcome, delaySeconds: null };
    case 'interrupted':
      return { status: 'pending', delaySeconds: null };
    case 'deferred': {
      if (isHopeless === true) return { status: 'failed', delaySeconds: null };
      // An internal fault: the recipient is not given up. A dead row is never claimed, even when it is due.
      if (faultRetrySeconds !== undefined) return { status: 'pending', delaySeconds: faultRetrySeconds ?? 0 };
      const ageSeconds = job.ageSeconds + (performance.now() - job.claimedAt) / 1_000;
      const retry = decideRetry(job.attempts + 1, ageSeconds, random);
      return retry.kind === 'again'
        ? { status: 'pending', delaySeconds: retry.delaySeconds }
        : { status: 'failed', delaySeconds: null };
    }
  }
}

function toEvent(
  status: RecipientFinish['status'],
  outcome: AttemptResult['outcome'],
  attempts: number,
): Outcome['eventKind'] {
  if (status !== 'pending') return `email.${status}`;
  return outcome === 'deferred' && attempts === 0 ? 'email.delayed' : null;
}
