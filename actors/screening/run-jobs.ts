import type { Screening, SpamCheck } from '../../core/screening/spam-check.ts';
import { UserError } from '../../core/shared/errors.ts';
import { isTransient } from '../../db/errors.ts';
import { lockMarkable, writeScreening } from '../../db/queries/screening/kept-apart.ts';
import {
  claimScreeningJobs,
  dropScreeningJobs,
  finishJob,
  postponeJob,
  releaseHeld,
  type ScreeningJob,
} from '../../db/queries/screening/screening-job.ts';
import { keepApart } from '../../operations/screening/keep-apart.ts';
import { type Changed, changeThreads } from '../../operations/threads/thread-transaction.ts';
import { screeningMetrics } from '../../schema/metrics.ts';
import type { ActorContext } from '../actor.ts';
import { ScannerAway } from './circuit.ts';
import type { Scanners } from './scanners.ts';

/** Jobs claimed at once; they run at the same time. */
export const JOBS_BATCH = 16;

export interface JobOptions {
  scanners: Scanners | null;
  /** called at the points where fault tests kill the process */
  fault?: (point: 'screening.checked' | 'screening.before-commit') => void;
}

/** Seconds until a scanner that is away is asked again, about one message. */
const AWAY_SECONDS = 10;
/** Seconds until an email that is still being parsed is looked at again. */
const PARSING_SECONDS = 2;
/** Lessons that the filter did not take are given up after this many tries. */
const MAX_LESSONS = 8;
const FIRST_LESSON_SECONDS = 30;
/** Tries of a check whose result could not be stored. */
const MAX_FAULTS = 20;
/** Time limit of the change that files an email; milliseconds. */
const CHANGE_MS = 20_000;

/**
 * Does what was still to be asked of the scanners, from due rows:
 *
 * - `check`: mail that was accepted while a scanner was away is checked. Its verdict is stored; spam and viruses leave the lists.
 * - `hold`: the same for mail that waits for it, which is then parsed. A virus cannot be refused any more: it goes to quarantine.
 * - `learn_spam`, `learn_ham`: the filter learns what a user said.
 *
 * Each ends with one transaction that also removes its row, so that it is safe to kill at any point. Returns how many were claimed.
 */
export async function runScreeningJobs(context: ActorContext, options: JobOptions): Promise<number> {
  if (options.scanners === null) return dropScreeningJobs(context.database);
  const { scanners } = options;
  const jobs = await claimScreeningJobs(context.database, context.name, JOBS_BATCH);
  await Promise.all(jobs.map((job) => runJob(context, { ...options, scanners }, job)));
  return jobs.length;
}

type Options = JobOptions & { scanners: Scanners };

async function runJob(context: ActorContext, options: Options, job: ScreeningJob): Promise<void> {
  const { database, name, log } = context;
  try {
    const outcome = await doJob(context, options, job);
    screeningMetrics.jobs.inc({ kind: job.kind, outcome });
  } catch (error) {
    if (isTransient(error)) throw error;
    const isAway = error instanceof ScannerAway;
    screeningMetrics.jobs.inc({ kind: job.kind, outcome: isAway ? 'away' : 'failed' });
    const isLesson = job.kind === 'learn_spam' || job.kind === 'learn_ham';
    const isGivenUp = isLesson ? job.tries >= MAX_LESSONS : job.kind === 'check' && !isAway && job.tries >= MAX_FAULTS;
    if (!isAway || isGivenUp)
      log.warn({ err: error, emailId: job.emailId, kind: job.kind, isGivenUp }, 'screening job failed');
    if (isGivenUp) await finishJob(database.pool, name, job);
    else await postponeJob(database, name, job, isLesson ? FIRST_LESSON_SECONDS * 2 ** (job.tries - 1) : AWAY_SECONDS);
  }
}

async function doJob(context: ActorContext, options: Options, job: ScreeningJob): Promise<'done' | 'gone' | 'later'> {
  const { database, bytes, name } = context;
  const { scanners } = options;
  const message = job.rawId === null ? null : await bytes.get(job.rawId);
  if (message === null) {
    if (job.kind === 'hold') await releaseHeld(database, name, job, null);
    else await finishJob(database.pool, name, job);
    return 'gone';
  }
  if (job.kind === 'learn_spam' || job.kind === 'learn_ham') {
    await scanners.spam?.learn(job.workspaceId, job.kind === 'learn_spam' ? 'spam' : 'ham', message);
    await finishJob(database.pool, name, job);
    return 'done';
  }
  if (job.kind === 'check' && !job.isStored) {
    await postponeJob(database, name, job, PARSING_SECONDS);
    return 'later';
  }
  const screening = await scan(scanners, job, message);
  options.fault?.('screening.checked');
  if (job.kind === 'hold') {
    await releaseHeld(database, name, job, screening);
    context.bus.wake('receiving.parse.wake', { workspaceId: job.workspaceId, emailIds: [job.emailId] });
    return 'done';
  }
  await applyVerdict(context, options, job, screening);
  return 'done';
}

/** Asks all scanners at the same time. Throws ScannerAway when one does not respond. */
async function scan({ spam, virus }: Scanners, job: ScreeningJob, message: Uint8Array): Promise<Screening | null> {
  const { workspaceId, reversePath, recipient, remoteAddress, helo } = job;
  const envelope = { reversePath, recipients: [recipient], remoteAddress, helo };
  const [check, found] = await Promise.all([
    spam?.check(workspaceId, envelope, message) ?? null,
    virus?.scan(message) ?? null,
  ]);
  if (found?.verdict === 'found') return { spam: null, virus: found.name };
  return check === null ? null : { spam: check, virus: null };
}

/** Stores the verdict on an email that was delivered before it. What a user said in the meantime stays. */
async function applyVerdict(
  { bus, database, now, random, name }: ActorContext,
  options: Options,
  job: ScreeningJob,
  screening: Screening | null,
): Promise<void> {
  const { workspaceId, emailId } = job;
  const change = { bus, database, workspaceId, now, random, respondBy: performance.now() + CHANGE_MS };
  await changeThreads(change, async (client): Promise<Changed<null>> => {
    const none = { result: null, events: [] };
    const [email] = await lockMarkable(client, workspaceId, [emailId]);
    if (!(await finishJob(client, name, job))) return none;
    if (email === undefined || screening === null) return none;
    const isJudged = email.screening?.spam?.by === 'user';
    const keptApart = screening.virus !== null ? 'virus' : !isJudged && isSpam(screening.spam) ? 'spam' : null;
    const done = { emailId, screening: isJudged && keptApart === null ? (email.screening ?? screening) : screening };
    const events =
      keptApart === null || email.keptApart !== null ? [] : await keepApart(client, change, { ...done, keptApart });
    if (events.length === 0) await writeScreening(client, workspaceId, { ...done, keptApart: email.keptApart });
    options.fault?.('screening.before-commit');
    return { result: null, events };
  }).catch((error: unknown) => {
    // Its thread is being changed, or it is being threaded: the next try finds it settled.
    if (error instanceof UserError) throw new Error(error.message, { cause: error });
    throw error;
  });
}

function isSpam(check: SpamCheck | null): boolean {
  return check?.verdict === 'spam';
}
