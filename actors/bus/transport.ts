import type { Logger } from 'pino';
import { z } from 'zod';
import { type Bus, BusRemoteError, BusTimeout, BusUnavailable } from '../../schema/messages.ts';
import { busMetrics } from '../../schema/metrics.ts';

/** How an asker learns that its question failed. */
export const failure = z.object({ kind: z.enum(['timeout', 'unavailable', 'remote']), message: z.string() });
export type Failure = z.infer<typeof failure>;

/** Describes an error to the asker: its message, and its kind where the asker can act on it. */
export function describeFailure(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof BusTimeout) return { kind: 'timeout', message };
  if (error instanceof BusUnavailable) return { kind: 'unavailable', message };
  return { kind: 'remote', message };
}

/** Returns the error that a failure describes: BusTimeout, BusUnavailable or BusRemoteError. */
export function failureError({ kind, message }: Failure): Error {
  switch (kind) {
    case 'timeout':
      return new BusTimeout(message);
    case 'unavailable':
      return new BusUnavailable(message);
    case 'remote':
      return new BusRemoteError(message);
  }
}

/** The part of a log that the transports need, in pino's shape, so that Haraka's child processes can pass their own. */
export type BusLog = Pick<Logger, 'info' | 'warn' | 'error'>;

/** Counts the work in flight, so that a stop can wait for it. */
export interface InFlight {
  /** Counts the work until it settles; the caller handles its outcome. */
  track(work: Promise<unknown>): void;
  /** Resolves when nothing is in flight. */
  settled(): Promise<void>;
}

export function createInFlight(): InFlight {
  let count = 0;
  let waiting: (() => void)[] = [];
  const end = () => {
    count--;
    if (count > 0) return;
    const resolved = waiting;
    waiting = [];
    for (const resolve of resolved) resolve();
  };
  return {
    track(work) {
      count++;
      work.then(end, end);
    },
    settled: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => void waiting.push(resolve))),
  };
}

/** Milliseconds of the machine's monotonic clock, which all its processes share. Its zero point has no meaning. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** Wraps the bus to count and time its questions as their asker sees them. */
export function measured<B extends Bus>(bus: B): B {
  return {
    ...bus,
    async ask(subject, request, options) {
      const end = busMetrics.questionSeconds.startTimer({ question: subject });
      try {
        const reply = await bus.ask(subject, request, options);
        end({ outcome: 'answered' });
        return reply;
      } catch (error) {
        end({ outcome: toOutcome(error) });
        throw error;
      }
    },
  };
}

function toOutcome(error: unknown): 'timeout' | 'unavailable' | 'failed' {
  if (error instanceof BusTimeout) return 'timeout';
  return error instanceof BusUnavailable ? 'unavailable' : 'failed';
}
