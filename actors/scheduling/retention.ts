import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { makeIdentifier } from '../../core/shared/identifiers.ts';
import { isLimited, type Retention, type RetentionCutoffs, retentionCutoffs } from '../../core/upkeep/retention.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { isOfOneStatement, isTransient } from '../../db/errors.ts';
import { removeOldRequests } from '../../db/queries/accounts/api-request.ts';
import { lockThreads } from '../../db/queries/threads/thread-claim.ts';
import { removeEmails } from '../../db/queries/upkeep/remove-emails.ts';
import * as sweep from '../../db/queries/upkeep/retention-sweep.ts';
import { actorMetrics } from '../../schema/metrics.ts';
import type { ActorContext, Run } from '../actor.ts';

export interface RetentionOptions {
  /** for users who set no limit */
  retention: Retention;
  /** called at the points where fault tests kill the process */
  fault?: (point: 'retention.claimed' | 'retention.before-commit') => void;
}

/** Emails in one transaction: threading of the same user's mail waits for it. */
export const REMOVED_EMAILS = 100;
const CLEARED_EMAILS = 200;
/** Rows that one statement scans. */
const WALKED_RECEPTIONS = 1_000;
const REMOVED_EVENTS = 2_000;
/** How long one user's mail is removed before others get their turn; milliseconds. */
const TURN_MS = 10_000;
/** After each batch there is a pause as long as the batch took, and at least this long; milliseconds. */
const LEAST_PAUSE_MS = 5;

/** Sorts before every identifier. */
const FIRST_ID = '';

/**
 * Removes mail that is older than its user keeps mail, and mail that was in the trash for 30 days, user by user, in small transactions. Safe to run twice and to kill at any point:
 * each user belongs to one scheduler at a time, and progress is stored with the work. A batch that fails is logged and blocks neither the
 * user's other work nor other users. Throws when PostgreSQL is unreachable. Returns how many users were processed.
 */
export async function removeOldMail(
  context: ActorContext,
  options: RetentionOptions,
  run: Pick<Run, 'isStopping'>,
): Promise<number> {
  const { database, name } = context;
  await sweep.noteWorkspacesToSweep(database, isLimited(options.retention));
  let users = 0;
  while (!run.isStopping()) {
    const user = await sweep.claimWorkspaceToSweep(database, name);
    if (user === null) break;
    options.fault?.('retention.claimed');
    users++;
    const outcome = await sweepWorkspace(context, options, user, run);
    if (outcome !== 'lost') await sweep.releaseSwept(database, name, user.workspaceId, outcome);
  }
  return users;
}

async function sweepWorkspace(
  context: ActorContext,
  options: RetentionOptions,
  user: sweep.SweptWorkspace,
  run: Pick<Run, 'isStopping'>,
): Promise<sweep.SweepOutcome | 'lost'> {
  const limits = retentionCutoffs(user.own ?? options.retention, user.now);
  let endAt = performance.now() + TURN_MS;
  let hasFailed = false;
  const position: Position = { metadataAt: null, trashAt: null };
  for (const { name, work } of listWorks(limits)) {
    for (;;) {
      if (run.isStopping() || performance.now() > endAt) return hasFailed ? 'failed' : 'more';
      const startedTick = performance.now();
      const reached = { ...user };
      const outcome = await inTransaction(context.database, async (client) => {
        const hasMore = await work(client, user, position);
        if (!(await sweep.noteSwept(client, context.name, user))) throw new ClaimLost();
        options.fault?.('retention.before-commit');
        return hasMore ? 'more' : 'done';
      }).catch((error: unknown) => {
        if (error instanceof ClaimLost) return 'lost' as const;
        if (isTransient(error) && !isOfOneStatement(error)) throw error;
        const about = { actor: 'scheduling', step: 'retention' };
        actorMetrics.stepFailures.inc({ ...about, reason: 'fault' });
        context.log.error(
          { ...about, err: error, workspaceId: user.workspaceId, work: name },
          'actor: step failed for one user',
        );
        return 'failed' as const;
      });
      if (outcome === 'lost') return 'lost';
      if (outcome === 'failed') {
        // Its progress was rolled back, and the next step gets the time that it took.
        Object.assign(user, reached);
        endAt += performance.now() - startedTick;
        hasFailed = true;
        break;
      }
      if (outcome === 'done') break;
      await sleep(Math.max(LEAST_PAUSE_MS, performance.now() - startedTick));
    }
  }
  return hasFailed ? 'failed' : 'done';
}

/** Another scheduler took the user over: the last transaction is rolled back. */
class ClaimLost extends Error {}

/** Position up to which emails were examined for removal; what is left before it is being processed. */
interface Position {
  metadataAt: Date | null;
  trashAt: Date | null;
}

/** One batch, in a transaction; notes its progress in `user` or `position`. Returns whether there may be more. */
type Work = (client: pg.ClientBase, user: sweep.SweptWorkspace, position: Position) => Promise<boolean>;

function listWorks({ rawBefore, bodiesBefore, metadataBefore }: RetentionCutoffs): { name: string; work: Work }[] {
  const named = (name: string, work: (before: Date) => Work, before: Date | null) =>
    before === null ? [] : [{ name, work: work(before) }];
  return [
    ...named('emails', emailsWork, metadataBefore),
    ...named('events', eventsWork, metadataBefore),
    ...named('requests', requestsWork, bodiesBefore),
    ...named('drafts', draftsWork, metadataBefore),
    ...named('bodies', clearingWork('bodies', 'bodiesAt', sweep.removeBodies), bodiesBefore),
    ...named('raws', clearingWork('raw', 'rawAt', sweep.removeRaws), rawBefore),
    ...named('receptions', receptionsWork, rawBefore),
    { name: 'trash', work: trashWork },
  ];
}

const emailsWork =
  (before: Date): Work =>
  async (client, { workspaceId }, position) => {
    await lockThreads(client, workspaceId);
    const span = { from: position.metadataAt, before, limit: REMOVED_EMAILS };
    const window = await sweep.findOldEmails(client, workspaceId, 'metadata', span);
    await removeEmails(client, workspaceId, window.ids);
    position.metadataAt = nextPosition(window, span);
    return window.count === REMOVED_EMAILS;
  };

const trashWork: Work = async (client, { workspaceId }, position) => {
  await lockThreads(client, workspaceId);
  const span = { from: position.trashAt, limit: REMOVED_EMAILS };
  const window = await sweep.findTrashed(client, workspaceId, span);
  await removeEmails(client, workspaceId, window.ids);
  position.trashAt = nextPosition(window, span);
  return window.count === REMOVED_EMAILS;
};

const eventsWork =
  (before: Date): Work =>
  async (client, { workspaceId }) =>
    (await sweep.removeOldEvents(client, workspaceId, before, REMOVED_EVENTS)) === REMOVED_EVENTS;

const draftsWork =
  (before: Date): Work =>
  async (client, { workspaceId }) =>
    (await sweep.removeOldDrafts(client, workspaceId, before, REMOVED_EMAILS)) === REMOVED_EMAILS;

/** Logged requests may hold bodies of mail. */
const requestsWork =
  (before: Date): Work =>
  async (client, { workspaceId }) =>
    (await removeOldRequests(client, workspaceId, before, WALKED_RECEPTIONS)) === WALKED_RECEPTIONS;

/** Removes bodies or bytes from emails that stay, and notes its progress in the user. */
const clearingWork =
  (what: 'bodies' | 'raw', at: 'bodiesAt' | 'rawAt', clear: typeof sweep.removeBodies) =>
  (before: Date): Work =>
  async (client, user) => {
    const span = { from: user[at], before, limit: CLEARED_EMAILS };
    const window = await sweep.findOldEmails(client, user.workspaceId, what, span);
    await clear(client, user.workspaceId, window.ids);
    user[at] = nextPosition(window, span);
    return window.count === CLEARED_EMAILS;
  };

const receptionsWork =
  (before: Date): Work =>
  async (client, user) => {
    const { lastId, count } = await sweep.removeReportReceptions(client, user.workspaceId, {
      behindId: user.receptionId ?? FIRST_ID,
      beforeId: makeIdentifier('email', before, new Uint8Array(10)),
      limit: WALKED_RECEPTIONS,
    });
    user.receptionId = lastId ?? user.receptionId;
    return count === WALKED_RECEPTIONS;
  };

/**
 * Where the next window begins: at the last instant again, as other rows may share it. A full window of a single instant would repeat
 * forever, so its remaining rows are skipped until the next round.
 */
function nextPosition(window: sweep.Window, { from, limit }: { from: Date | null; limit: number }): Date | null {
  if (window.lastAt === null) return from;
  const isStuck = window.count === limit && from !== null && window.lastAt.getTime() <= from.getTime();
  return isStuck ? new Date(window.lastAt.getTime() + 1) : window.lastAt;
}
