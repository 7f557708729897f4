import { createWorkerThreads, type WorkerThreads, type WorkerThreadsOptions } from '../actors/work/worker-threads.ts';

/** Time limit of a task; milliseconds. A request has more, for what comes before and after. */
const TIME_LIMIT_MS = 6_000;
const HEAP_LIMIT_MB = 256;
/** A thread without a task for this long ends; milliseconds. */
const IDLE_MS = 60_000;

/** Opens a thread for work of requests on hostile mail, where it delays no other request and can be ended. It starts with its first task. */
export function createRequestThread<Input, Output>(
  options: Pick<WorkerThreadsOptions<Input>, 'program' | 'heapLimitMb' | 'bufferLimitMb' | 'timeLimitMs'>,
): WorkerThreads<Input, Output> {
  return createWorkerThreads({
    threads: 1,
    heapLimitMb: HEAP_LIMIT_MB,
    timeLimitMs: TIME_LIMIT_MS,
    idleMs: IDLE_MS,
    ...options,
  });
}
