import type { DeliveryJob } from './job.ts';

export interface FairQueueLimits {
  /** jobs started and not ended, in all */
  active: number;
  /** ... and of one endpoint */
  activePerEndpoint: number;
  /** an endpoint that reached its limit is served again when it is down to this, so that its jobs start in batches */
  refillPerEndpoint: number;
  /** octets of messages being attempted at once, in all; one attempt is always let through */
  activeOctets: number;
  /** ... and to one endpoint, so that one that hangs with large mail leaves room */
  activeOctetsPerEndpoint: number;
}

/**
 * The deliveries in hand: waiting in the order they came per endpoint, or active. Endpoints take turns, so that one that hangs or
 * has a long backlog delays nobody else.
 */
export interface FairQueue {
  add(jobs: readonly DeliveryJob[]): void;
  /** The next jobs that may start, one of each endpoint in turn; they are active from now on. */
  take(): DeliveryJob[];
  /** The attempt ended; its place is free, the job stays in hand until it is recorded. */
  end(job: DeliveryJob): void;
  /** The job is recorded or given up. */
  forget(deliveryId: string): void;
  /** Takes every waiting job out. */
  clearWaiting(): DeliveryJob[];
  /** the job in hand of that delivery */
  find(deliveryId: string): DeliveryJob | undefined;
  /** waiting, active and not yet recorded */
  jobs(): DeliveryJob[];
  size(): number;
  /** waiting and active of one endpoint */
  sizeOf(endpointId: string): number;
  /** the user whose endpoint it is; undefined when nothing of it waits or is active */
  userOf(endpointId: string): string | undefined;
  /** endpoints with at least that many jobs in hand */
  endpointsAbove(count: number): string[];
}

interface EndpointLine {
  userId: string;
  waiting: DeliveryJob[];
  active: number;
  activeOctets: number;
  /** it has not reached its limit since it was last down to the refill mark */
  isFilling: boolean;
}

export function createFairQueue(limits: FairQueueLimits): FairQueue {
  const lines = new Map<string, EndpointLine>();
  const held = new Map<string, DeliveryJob>();
  // Endpoints that have waiting jobs; the first one is next.
  const turns = new Set<string>();
  let active = 0;
  let activeOctets = 0;

  const mayStart = (line: EndpointLine, job: DeliveryJob) =>
    line.isFilling &&
    line.active < limits.activePerEndpoint &&
    (line.active === 0 || line.activeOctets + job.sizeOctets <= limits.activeOctetsPerEndpoint) &&
    (active === 0 || activeOctets + job.sizeOctets <= limits.activeOctets);

  const start = (line: EndpointLine, job: DeliveryJob) => {
    line.waiting.shift();
    line.active++;
    line.activeOctets += job.sizeOctets;
    active++;
    activeOctets += job.sizeOctets;
    if (line.active >= limits.activePerEndpoint) line.isFilling = false;
  };

  const forgetIdle = (endpointId: string, line: EndpointLine) => {
    if (line.active === 0 && line.waiting.length === 0) lines.delete(endpointId);
  };

  return {
    add(jobs) {
      for (const job of jobs) {
        const line = lines.get(job.endpointId) ?? lineOf(job);
        lines.set(job.endpointId, line);
        line.waiting.push(job);
        turns.add(job.endpointId);
        held.set(job.deliveryId, job);
      }
    },

    take() {
      const started: DeliveryJob[] = [];
      // How many endpoints in a row could start nothing; a full round of them ends the search.
      let idle = 0;
      while (active < limits.active && idle < turns.size) {
        const endpointId = turns.values().next().value;
        if (endpointId === undefined) break;
        turns.delete(endpointId);
        const line = lines.get(endpointId);
        const job = line?.waiting[0];
        if (line === undefined || job === undefined) continue;
        if (mayStart(line, job)) {
          start(line, job);
          started.push(job);
          idle = 0;
        } else {
          idle++;
        }
        if (line.waiting.length > 0) turns.add(endpointId);
      }
      return started;
    },

    end(job) {
      const line = lines.get(job.endpointId);
      if (line === undefined) return;
      line.active--;
      line.activeOctets -= job.sizeOctets;
      if (line.active <= limits.refillPerEndpoint) line.isFilling = true;
      active--;
      activeOctets -= job.sizeOctets;
      forgetIdle(job.endpointId, line);
    },

    clearWaiting() {
      const cleared: DeliveryJob[] = [];
      for (const [endpointId, line] of lines) {
        cleared.push(...line.waiting);
        line.waiting = [];
        forgetIdle(endpointId, line);
      }
      for (const job of cleared) held.delete(job.deliveryId);
      turns.clear();
      return cleared;
    },

    forget: (deliveryId) => void held.delete(deliveryId),
    find: (deliveryId) => held.get(deliveryId),
    jobs: () => [...held.values()],
    size: () => held.size,
    userOf: (endpointId) => lines.get(endpointId)?.userId,
    sizeOf: (endpointId) => countOf(lines.get(endpointId)),
    endpointsAbove: (count) =>
      [...lines].filter(([, line]) => countOf(line) >= count).map(([endpointId]) => endpointId),
  };
}

function lineOf({ userId }: DeliveryJob): EndpointLine {
  return { userId, waiting: [], active: 0, activeOctets: 0, isFilling: true };
}

function countOf(line: EndpointLine | undefined): number {
  return line === undefined ? 0 : line.active + line.waiting.length;
}
