import type { Logger } from 'pino';
import { LEASE_SECONDS } from '../../db/claim.ts';
import { createGroupCommit } from './group-commit.ts';

/** A job whose row is claimed by this process until its lease ends. */
export interface Leased {
  workspaceId: string;
  /** when the lease ends, on performance.now() */
  leaseUntil: number;
}

export interface LeasesOptions<Job extends Leased> {
  log: Logger;
  /** of the actor, in logs */
  actor: string;
  idOf: (job: Job) => string;
  /** Extends leases by `LEASE_SECONDS` where this process still holds them, and returns the ids of these jobs. */
  renew: (jobs: readonly Job[]) => Promise<readonly string[]>;
  /** Ends leases that this process still holds, so that the rows can be claimed at once. */
  release: (jobs: readonly Job[]) => Promise<unknown>;
}

/** The leases of claimed jobs. */
export interface Leases<Job> {
  /** Renews leases that have run for a while; most jobs are done before. A job whose claim was lost has no lease from then on. */
  renew(jobs: readonly Job[]): Promise<void>;
  /** Whether an attempt must not start, because another process may claim the row before it ends. Logs a warning then. */
  isLost(job: Job): boolean;
  /** Resolves when the leases were released, or when that failed: then they expire. */
  release(jobs: readonly Job[]): Promise<void>;
}

/** An attempt starts only if its lease holds for at least this much longer; milliseconds. */
const MARGIN_MS = 5_000;
/** Leases younger than this are not renewed; milliseconds. */
const RENEWAL_AGE_MS = 5_000;
/** Jobs in one statement. */
const RENEWAL_BATCH = 500;
const RELEASE_BATCH = 1_000;
/** Jobs that end at about the same time are released together; milliseconds. */
const RELEASE_GATHER_MS = 2;

/** Returns when a lease ends that was requested at `askedAt`, on performance.now(). */
export function leaseEnd(askedAt: number): number {
  return askedAt + LEASE_SECONDS * 1_000;
}

/** Returns when the claim or renewal that created the lease was requested, on performance.now(). */
export function leaseStart({ leaseUntil }: Leased): number {
  return leaseUntil - LEASE_SECONDS * 1_000;
}

export function createLeases<Job extends Leased>(options: LeasesOptions<Job>): Leases<Job> {
  const { log, actor, idOf } = options;
  const releases = createGroupCommit<Job, void>({
    limits: { items: RELEASE_BATCH },
    gatherMs: () => RELEASE_GATHER_MS,
    async write(jobs) {
      await options.release(jobs);
      return jobs.map(() => undefined);
    },
  });

  return {
    async renew(jobs) {
      const young = leaseEnd(performance.now()) - RENEWAL_AGE_MS;
      const old = jobs.filter(({ leaseUntil }) => leaseUntil < young);
      for (let at = 0; at < old.length; at += RENEWAL_BATCH) {
        const batch = old.slice(at, at + RENEWAL_BATCH);
        const askedAt = performance.now();
        const held = new Set(await options.renew(batch));
        for (const job of batch) job.leaseUntil = held.has(idOf(job)) ? leaseEnd(askedAt) : askedAt;
      }
    },
    isLost(job) {
      const isLost = job.leaseUntil < performance.now() + MARGIN_MS;
      if (isLost)
        log.warn({ id: idOf(job), workspaceId: job.workspaceId }, `${actor}: a lease ended before its attempt`);
      return isLost;
    },
    async release(jobs) {
      const results = await Promise.allSettled(jobs.map((job) => releases.add(job)));
      const failed = results.find((result) => result.status === 'rejected');
      if (failed !== undefined) log.warn({ err: failed.reason }, `${actor}: leases could not be released`);
    },
  };
}
