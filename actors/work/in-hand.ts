/** The state of a job in hand; engine.ts describes the states. */
type HeldState = 'claimed' | 'running' | 'recording';

/** The items of one user for one destination or endpoint, which wait in turn. */
export interface Lane {
  workspaceId: string;
  /** the domain, or the id of the endpoint */
  key: string;
}

/** The jobs that this process has claimed and not yet recorded, counted by lane and by user. */
export interface InHand<Job> {
  /** Adds a job that was claimed. */
  hold(job: Job): void;
  /** Moves jobs to a state; jobs that are not in hand are skipped. */
  move(jobs: readonly Job[], state: HeldState): void;
  /** Removes jobs that were recorded, released or lost. */
  forget(jobs: readonly Job[]): void;
  /** Returns the job in hand for the same row. */
  find(job: Job): Job | undefined;
  has(id: string): boolean;
  /** Returns whether the job of this row was removed after `tick` (performance.now()). Remembers removals of the last 20 s. */
  hasLeftSince(job: Job, tick: number): boolean;
  jobs(): Job[];
  /** jobs in every state */
  size(): number;
  /** jobs of that lane, claimed or running: a job that waits for its record takes no place in a lane */
  sizeOf(lane: Lane): number;
  /** jobs of that user, in every state */
  sizeOfWorkspace(workspaceId: string): number;
  /** lanes with at least that many jobs claimed or running */
  lanesAbove(count: number): Lane[];
}

export interface InHandOptions<Job> {
  /** the id of the job's row */
  idOf: (job: Job) => string;
  laneOf: (job: Job) => Lane;
}

/** No claim takes longer than this; milliseconds. */
const LONGEST_CLAIM_MS = 20_000;

export function createInHand<Job>({ idOf, laneOf }: InHandOptions<Job>): InHand<Job> {
  const held = new Map<string, { job: Job; lane: LaneSize; state: HeldState }>();
  /** when a job was removed, by id, oldest first */
  const left = new Map<string, number>();
  const laneSizes = new Map<string, LaneSize>();
  const workspaceSizes = new Map<string, number>();

  const sizeOfLane = ({ workspaceId, key }: Lane): LaneSize => {
    const name = laneName({ workspaceId, key });
    const lane = laneSizes.get(name) ?? { name, workspaceId, key, size: 0 };
    laneSizes.set(name, lane);
    return lane;
  };

  const leaveLane = (lane: LaneSize) => {
    if (--lane.size === 0) laneSizes.delete(lane.name);
  };

  const countOfWorkspace = (workspaceId: string, difference: number) => {
    const size = (workspaceSizes.get(workspaceId) ?? 0) + difference;
    if (size === 0) workspaceSizes.delete(workspaceId);
    else workspaceSizes.set(workspaceId, size);
  };

  return {
    hold(job) {
      const lane = sizeOfLane(laneOf(job));
      lane.size++;
      held.set(idOf(job), { job, lane, state: 'claimed' });
      countOfWorkspace(lane.workspaceId, 1);
    },
    move(jobs, state) {
      for (const job of jobs) {
        const entry = held.get(idOf(job));
        if (entry === undefined) continue;
        if (state === 'recording' && entry.state !== 'recording') leaveLane(entry.lane);
        entry.state = state;
      }
    },
    forget(jobs) {
      const now = performance.now();
      for (const [id, at] of left) {
        if (at > now - LONGEST_CLAIM_MS) break;
        left.delete(id);
      }
      for (const job of jobs) {
        const id = idOf(job);
        const entry = held.get(id);
        if (entry === undefined) continue;
        held.delete(id);
        left.delete(id);
        left.set(id, now);
        if (entry.state !== 'recording') leaveLane(entry.lane);
        countOfWorkspace(entry.lane.workspaceId, -1);
      }
    },
    find: (job) => held.get(idOf(job))?.job,
    has: (id) => held.has(id),
    hasLeftSince: (job, tick) => (left.get(idOf(job)) ?? Number.NEGATIVE_INFINITY) > tick,
    jobs: () => Array.from(held.values(), ({ job }) => job),
    size: () => held.size,
    sizeOf: (lane) => laneSizes.get(laneName(lane))?.size ?? 0,
    sizeOfWorkspace: (workspaceId) => workspaceSizes.get(workspaceId) ?? 0,
    lanesAbove: (count) => [...laneSizes.values()].filter(({ size }) => size >= count),
  };
}

/** The key of the lane in maps. */
export function laneName({ workspaceId, key }: Lane): string {
  return `${key} ${workspaceId}`;
}

interface LaneSize extends Lane {
  name: string;
  size: number;
}
