import type { Lane, SendingJob, Transaction } from './job.ts';

/** The recipients in hand, counted by lane and by user. */
export interface InHand {
  hold(transaction: Transaction): void;
  /** Recipients that are recorded or given up. */
  forget(jobs: readonly SendingJob[]): void;
  has(recipientId: string): boolean;
  jobs(): SendingJob[];
  size(): number;
  /** of that lane */
  sizeOf(lane: Lane): number;
  /** of that user */
  sizeOfUser(userId: string): number;
  /** lanes with at least that many */
  lanesAbove(count: number): Lane[];
}

export function createInHand(): InHand {
  const held = new Map<string, { job: SendingJob; lane: LaneSize }>();
  const laneSizes = new Map<string, LaneSize>();
  const userSizes = new Map<string, number>();

  const countOfUser = (userId: string, difference: number) => {
    const size = (userSizes.get(userId) ?? 0) + difference;
    if (size === 0) userSizes.delete(userId);
    else userSizes.set(userId, size);
  };

  return {
    hold({ userId, domain, jobs }) {
      const key = `${domain} ${userId}`;
      const lane = laneSizes.get(key) ?? { key, userId, domain, size: 0 };
      laneSizes.set(key, lane);
      for (const job of jobs) {
        held.set(job.recipientId, { job, lane });
        lane.size++;
      }
      countOfUser(userId, jobs.length);
    },
    forget(jobs) {
      for (const { recipientId } of jobs) {
        const entry = held.get(recipientId);
        if (entry === undefined) continue;
        held.delete(recipientId);
        if (--entry.lane.size === 0) laneSizes.delete(entry.lane.key);
        countOfUser(entry.lane.userId, -1);
      }
    },
    has: (recipientId) => held.has(recipientId),
    jobs: () => [...held.values()].map(({ job }) => job),
    size: () => held.size,
    sizeOf: ({ userId, domain }) => laneSizes.get(`${domain} ${userId}`)?.size ?? 0,
    sizeOfUser: (userId) => userSizes.get(userId) ?? 0,
    lanesAbove: (count) => [...laneSizes.values()].filter(({ size }) => size >= count),
  };
}

interface LaneSize extends Lane {
  key: string;
  size: number;
}
