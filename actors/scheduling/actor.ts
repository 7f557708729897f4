import { DEFAULT_AUDIT_DAYS } from '../../core/accounts/audit.ts';
import { KEEP_FOREVER, type Retention } from '../../core/upkeep/retention.ts';
import { removeOldAuditEntries } from '../../db/queries/accounts/audit-entry.ts';
import { MEASURED_AT_ONCE, measureStoredBytes } from '../../db/queries/accounts/customer.ts';
import { removeOldTraces } from '../../db/queries/emails/email-trace.ts';
import { removeRetired } from '../../db/queries/search/word-segment.ts';
import { REMOVE_KEYS_BATCH, removeOldIdempotencyKeys } from '../../db/queries/sending/idempotency-key.ts';
import { type DueKey, secondsUntilDue } from '../../db/queries/sending/scheduled-release.ts';
import { REPORT_BATCH } from '../../db/queries/sending/tls-report.ts';
import { LEFTOVERS_BATCH, removeLeftovers } from '../../db/queries/upkeep/remove-leftovers.ts';
import { type Actor, type ActorContext, type Run, runActor } from '../actor.ts';
import { DUE_CHECK_MS } from '../work/due-watch.ts';
import { ACCOUNTS_BATCH, type BuildWordsOptions, buildWords, REMOVED_SEGMENTS } from './build-words.ts';
import { CHECK_BATCH, createDomainChecker } from './check-domains.ts';
import { ERASURES_BATCH, type ErasureOptions, eraseClosedAccounts } from './erase-accounts.ts';
import { APPROVALS_BATCH, type ApprovalOptions, expireApprovals } from './expire-approvals.ts';
import { CLAIMS_BATCH, type ClaimOptions, releaseExpiredClaims } from './release-claims.ts';
import { RELEASE_BATCH, type ReleaseOptions, releaseDue } from './release-due.ts';
import { removeTrash } from './remove-trash.ts';
import { type RetentionOptions, removeOldMail } from './retention.ts';
import { SETTLE_KEYS_BATCH, settleKeys } from './settle-expired-keys.ts';
import { createTlsReporter, type TlsReportOptions } from './tls-reports.ts';
import { SNOOZES_BATCH, type WakeOptions, wakeDueThreads } from './wake-threads.ts';

const KEYS_EVERY_MS = 60_000;
const STORED_BYTES_EVERY_MS = 20_000;
const TRACES_EVERY_MS = 10 * 60_000;
/** Trace rows removed at once. */
const TRACES_BATCH = 2_000;
const TLS_REPORTS_EVERY_MS = 60_000;
const RETENTION_EVERY_MS = 60_000;
const LEFTOVERS_EVERY_MS = 10 * 60_000;
/** While accounts are due, it is soon seen whether more mail came: 500 a second for one account are in segments after a second or two. Milliseconds. */
const WORDS_AGAIN_MS = 500;
const REMOVE_RETIRED_MS = 30_000;

export interface SchedulingActorOptions {
  /** days that entries of the audit log are kept; DEFAULT_AUDIT_DAYS by default */
  auditDays?: number;
  /** how long mail is kept for users who set no limit; forever by default */
  retention?: Retention;
  fault?: NonNullable<ReleaseOptions['fault']> &
    NonNullable<RetentionOptions['fault']> &
    NonNullable<ClaimOptions['fault']> &
    NonNullable<WakeOptions['fault']> &
    NonNullable<ApprovalOptions['fault']> &
    NonNullable<ErasureOptions['fault']> &
    NonNullable<BuildWordsOptions['fault']>;
  /** `host:port` each, for domain checks; empty: the system's resolver */
  dnsServers: readonly string[];
  /** the host that the records of domains must name */
  mailHostname: string;
  /** absent: no TLS reports are sent */
  tlsReports?: TlsReportOptions;
}

/**
 * Does what is due by PostgreSQL's clock. The steps:
 *
 * 1. `release`: scheduled mail is queued.
 * 2. `approvals`: mail that waited for approval too long is rejected. `claims`: expired claims of threads end. `snoozes`: snoozed
 *    threads, and those without a reply, come back to the inbox. `expired-keys`: what expired API
 *    keys set up stops.
 * 3. `domains`: the DNS of domains is checked. `tls-reports`: reports of TLS sessions are sent.
 * 4. `words`: the words of new mail are put into segments. `replaced-words`: segments that were replaced are removed.
 * 5. `erasures`: closed accounts are erased. `retention`: mail that is kept no longer is erased. `stored-bytes`: the mail of
 *    workspaces with a quota is measured. `keys`, `traces`, `leftovers` and
 *    `audit`: expired idempotency keys, traces, rows that nothing names any more, and old entries of the audit log are removed.
 */
export function startSchedulingActor(context: ActorContext, options: SchedulingActorOptions): Promise<Actor> {
  let nextDue: NodeJS.Timeout | undefined;
  let nextBuild: NodeJS.Timeout | undefined;
  const checker = createDomainChecker(context, options);

  const { tlsReports, ...names } = options;
  const sendTlsReports = tlsReports === undefined ? null : createTlsReporter(context, { ...names, ...tlsReports });

  /** of the sweep, see releaseDue */
  const unpaused: DueKey[] = [];
  const release = async (run: Run<'scheduling.release.wake'>): Promise<number> => {
    const count = await releaseDue(context, { ...options, unpaused });
    if (count >= RELEASE_BATCH) return count;
    unpaused.length = 0;
    if (!run.isStopping()) await awaitNextDue();
    return count;
  };

  /** A timer releases at the exact time what falls due before the next sweep. */
  async function awaitNextDue(): Promise<void> {
    const seconds = await secondsUntilDue(context.database);
    if (seconds === null || seconds * 1_000 > DUE_CHECK_MS) return;
    clearTimeout(nextDue);
    nextDue = setTimeout(() => running.nudge('release'), Math.ceil(seconds * 1_000));
  }

  const build = async (run: Run): Promise<number> => {
    const count = await buildWords(context, options, run);
    if (count > 0 && count < ACCOUNTS_BATCH && !run.isStopping()) {
      clearTimeout(nextBuild);
      nextBuild = setTimeout(() => running.nudge('words'), WORDS_AGAIN_MS);
    }
    return count;
  };

  const running = runActor({
    context,
    name: 'scheduling',
    questions: {
      'scheduling.domain.check': (request) => checker.checkNow(request),
      'scheduling.trash.remove': (request) => removeTrash(context, options, request),
    },
    steps: [
      {
        name: 'release',
        wake: 'scheduling.release.wake',
        due: 'release',
        batchSize: RELEASE_BATCH,
        work: release,
      },
      {
        name: 'approvals',
        due: 'approvals',
        batchSize: APPROVALS_BATCH,
        work: () => expireApprovals(context, options),
      },
      {
        name: 'claims',
        due: 'claims',
        batchSize: CLAIMS_BATCH,
        work: () => releaseExpiredClaims(context, options),
      },
      {
        name: 'snoozes',
        due: 'snoozes',
        batchSize: SNOOZES_BATCH,
        work: () => wakeDueThreads(context, options),
      },
      {
        name: 'expired-keys',
        everyMs: KEYS_EVERY_MS,
        batchSize: SETTLE_KEYS_BATCH,
        work: () => settleKeys(context),
      },
      { name: 'domains', due: 'domains', batchSize: CHECK_BATCH, work: (run) => checker.checkDue(run) },
      ...(sendTlsReports === null
        ? []
        : [
            {
              name: 'tls-reports',
              everyMs: TLS_REPORTS_EVERY_MS,
              batchSize: REPORT_BATCH,
              work: () => sendTlsReports(),
            },
          ]),
      {
        name: 'words',
        due: 'words',
        batchSize: ACCOUNTS_BATCH,
        work: (run) => build(run),
      },
      {
        name: 'replaced-words',
        everyMs: REMOVE_RETIRED_MS,
        batchSize: REMOVED_SEGMENTS,
        work: () => removeRetired(context.database, REMOVED_SEGMENTS),
      },
      {
        name: 'erasures',
        due: 'erasures',
        batchSize: ERASURES_BATCH,
        work: (run) => eraseClosedAccounts(context, options, run),
      },
      {
        name: 'retention',
        everyMs: RETENTION_EVERY_MS,
        work: async (run) => void (await removeOldMail(context, { retention: KEEP_FOREVER, ...options }, run)),
      },
      {
        name: 'stored-bytes',
        everyMs: STORED_BYTES_EVERY_MS,
        batchSize: MEASURED_AT_ONCE,
        work: () => measureStoredBytes(context.database),
      },
      {
        name: 'keys',
        everyMs: KEYS_EVERY_MS,
        batchSize: REMOVE_KEYS_BATCH,
        work: () => removeOldIdempotencyKeys(context.database),
      },
      {
        name: 'traces',
        everyMs: TRACES_EVERY_MS,
        batchSize: TRACES_BATCH,
        work: () => removeOldTraces(context.database, TRACES_BATCH),
      },
      {
        name: 'leftovers',
        everyMs: LEFTOVERS_EVERY_MS,
        batchSize: LEFTOVERS_BATCH,
        work: () => removeLeftovers(context.database),
      },
      {
        name: 'audit',
        everyMs: LEFTOVERS_EVERY_MS,
        batchSize: LEFTOVERS_BATCH,
        work: () => removeOldAuditEntries(context.database, options.auditDays ?? DEFAULT_AUDIT_DAYS, LEFTOVERS_BATCH),
      },
    ],
  });
  return Promise.resolve({
    stop() {
      clearTimeout(nextDue);
      clearTimeout(nextBuild);
      return running.stop();
    },
  });
}
