import { SYSTEM_WORKSPACE_ID } from '../../core/accounts/system-account.ts';
import { noteServerClock, serverTimeAt } from '../../db/connection/server-clock.ts';
import { OpeningFailed } from '../../db/connection/workspace-statement.ts';
import { isLockTimeout, isTaken } from '../../db/errors.ts';
import {
  type OutgoingContent,
  storeUnchecked,
  type UncheckedEmail,
  type UncheckedUnit,
} from '../../db/queries/sending/outgoing-write.ts';
import type { OperationContext } from '../context.ts';
import { isReferring, startThread } from '../threads/start-thread.ts';
import { openLocalClaims } from './local-sender.ts';
import { withoutTag } from './policy-verdicts.ts';
import { isSentNow, type SubmittedMember } from './store-submissions.ts';

/** How long the statement may take, waits for locks included; milliseconds. */
const STATEMENT_MS = 2_500;

export interface StoredAtOnce<Member> {
  /** the members that are stored */
  stored: Member[];
  /** the members that were not stored: what decides about them has to be read first */
  left: Member[];
  /** when they were stored, by PostgreSQL's clock */
  at: Date;
  /** ids of emails whose recipients are claimed by this process */
  claimed: ReadonlySet<string>;
  /** of the user's event feed; null when nothing was stored */
  lastSeq: number | null;
}

/**
 * Stores those of the members that need no decision in one statement, which is its own transaction, and claims their recipients for the
 * sending actor of this process, if it has room for them: one round trip and one commit from the request to the response. The statement
 * checks everything that storeSubmissions would, on the rows as they are then: the domains of the senders, send policies, suppressions,
 * idempotency keys, the versions of drafts, and whether emails start threads. What it cannot decide is left.
 */
export async function storeAtOnce<Member extends SubmittedMember>(
  context: OperationContext,
  group: readonly Member[],
  {
    lockTimeoutMs,
    latestTick,
  }: { lockTimeoutMs: number /** when it must be ready to commit, on performance.now() */; latestTick: number },
): Promise<StoredAtOnce<Member> | 'threads are busy'> {
  const { workspaceId } = context;
  const drafts = new Set<string>();
  const going = group.filter((member) => mayGoAtOnce(context, member) && isFirstOfDraft(member, drafts));
  // Without knowing PostgreSQL's clock, a statement that arrives late could not tell: the other way reads it.
  const beginBy = serverTimeAt(context.database, latestTick - STATEMENT_MS);
  const none = { stored: [], left: [...group], at: context.now(), claimed: new Set<string>(), lastSeq: null };
  if (going.length === 0 || beginBy === null) return none;
  const claims = openLocalClaims(context);
  const emails = going.flatMap(({ submission }) => submission.emails);
  const claimable = claims.keep(emails.filter(({ row }) => isSentNow(row)));
  context.fault?.('submission.before-statement');
  if (drafts.size > 0) context.fault?.('drafts.before-commit');
  const written = await storeUnchecked(
    context.database,
    workspaceId,
    going.map((member) => unitOf(context, member, claimable)),
    { lockTimeoutMs, timeoutMs: STATEMENT_MS, beginBy, claimant: claims.claimant },
  ).catch((error: unknown) => {
    claims.giveBack();
    if (error instanceof OpeningFailed && isLockTimeout(error)) return 'threads are busy' as const;
    if (isTaken(error)) return null;
    throw error;
  });
  if (written === 'threads are busy') return written;
  if (written === null) return none;
  const { leftOut, lastSeq, storedAt, clock, ...found } = written;
  context.fault?.('submission.stored');
  if (drafts.size > 0) context.fault?.('drafts.after-commit');
  noteServerClock(context.database, clock);
  const stored = going.filter((_, at) => !leftOut.has(at));
  const claimed = claims.fill(
    stored.flatMap(({ submission }) => submission.emails),
    found,
  );
  const gone = new Set(stored);
  return {
    stored,
    left: group.filter((member) => !gone.has(member)),
    at: storedAt,
    claimed,
    lastSeq,
  };
}

/** Whether nothing but rows that the statement checks decides about a submission. */
function mayGoAtOnce({ workspaceId, settings }: OperationContext, { submission }: SubmittedMember): boolean {
  return (
    settings.sendLimitPerHour === 0 &&
    workspaceId !== SYSTEM_WORKSPACE_ID &&
    submission.emails.every(({ row, claimToken }) => claimToken === null && !(isSentNow(row) && isReferring(row)))
  );
}

/** Whether no other request of the group sends the same draft; adds it to `drafts`. */
function isFirstOfDraft({ submission: { draft } }: SubmittedMember, drafts: Set<string>): boolean {
  if (draft === undefined) return true;
  const isFirst = !drafts.has(draft.id);
  drafts.add(draft.id);
  return isFirst;
}

function unitOf(
  context: OperationContext,
  { submission, keyId, traceParent }: SubmittedMember,
  claimable: ReadonlySet<OutgoingContent>,
): UncheckedUnit {
  const { emails, batchId, idempotency, receipt, draft = null } = submission;
  return {
    emails: emails.map((email): UncheckedEmail => {
      const { row, envelopeDomain } = email;
      return {
        ...email,
        // Scheduled mail is sent while this key may send.
        ...(row.scheduled_at === null ? {} : { row: { ...row, scheduled_by_key_id: keyId } }),
        keyId,
        domains: envelopeDomain === null ? [row.own_domain] : [row.own_domain, envelopeDomain],
        policySenders: [...new Set([row.own_address, withoutTag(row.own_address)])],
        addressees: row.recipients.map(({ address }) => address.toLowerCase()),
        claims: claimable.has(email),
        thread: isSentNow(row) ? startThread(context, row) : undefined,
      };
    }),
    batchId,
    draft,
    traceParent,
    answer: idempotency === null ? null : { ...idempotency, answer: receipt },
  };
}
