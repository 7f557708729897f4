import type { CopyFacts, ForwardConfig, ForwardedOriginal } from '../../core/endpoints/forward.ts';
import { createWorkerThreads, type WorkerThreads, type WorkerThreadsOptions } from '../work/worker-threads.ts';

/** A copy to be composed. */
export interface ForwardWork {
  original: ForwardedOriginal;
  config: ForwardConfig;
  facts: CopyFacts;
}

/** Threads that compose copies. */
export type ForwardThreads = WorkerThreads<ForwardWork, Uint8Array<ArrayBuffer>>;

/** Replaces the ordinary program and time limit in tests. */
export type ForwardThreadsOptions = Partial<Pick<WorkerThreadsOptions<ForwardWork>, 'program' | 'startTimeLimit'>>;

/** Copies composed at the same time. */
export const FORWARD_THREADS = 2;
/** Time limit for one message; milliseconds. */
const TIME_LIMIT_MS = 15_000;
const HEAP_LIMIT_MB = 512;

export function createForwardThreads(options: ForwardThreadsOptions = {}): ForwardThreads {
  return createWorkerThreads({
    program: new URL('./forward-worker.ts', import.meta.url),
    threads: FORWARD_THREADS,
    heapLimitMb: HEAP_LIMIT_MB,
    timeLimitMs: TIME_LIMIT_MS,
    ...options,
  });
}
