import { getCompileCacheDir } from 'node:module';
import path from 'node:path';
import { parentPort, type Transferable, Worker } from 'node:worker_threads';
import { createSemaphore } from '../../core/shared/semaphore.ts';

/** A thread that can be terminated at any point. Of the environment, it gets only the folder of compiled code. */
export interface Thread {
  /** `transfer`: memory that the thread gets instead of a copy. */
  post(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  /** Returns what it holds now, after a long step of C++ that it is within; nothing when it has ended. */
  measureMemory(): Promise<ThreadMemory>;
  /** Returns the processor time that it has used, likewise; milliseconds. */
  measureProcessor(): Promise<number>;
  /** Terminates the thread; `onEnd` is not called. */
  end(): Promise<void>;
}

/** Bytes. */
interface ThreadMemory {
  heap: number;
  /** of its buffers, which the limit of the heap does not count */
  buffers: number;
}

export interface ThreadOptions {
  /** the file that the thread runs */
  program: URL;
  /** Node terminates the thread above this; no limit by default */
  heapLimitMb?: number;
  /** memory for new objects; YOUNG_GENERATION_MB by default */
  youngGenerationMb?: number;
  /** given to the program as `workerData` */
  data?: unknown;
  onMessage: (message: unknown) => void;
  /** called once when the thread ended without `end()` */
  onEnd: (reason: string) => void;
}

/**
 * Memory for new objects, in MB. Node's 192 let a thread hold 50 MB more of garbage and take little less time for it; with 64 a message
 * takes a tenth more.
 */
const YOUNG_GENERATION_MB = 96;

export function startThread({
  program,
  heapLimitMb,
  youngGenerationMb = YOUNG_GENERATION_MB,
  data,
  onMessage,
  onEnd,
}: ThreadOptions): Thread {
  const worker = new Worker(program, {
    env: environmentOfThreads(),
    execArgv: [],
    workerData: data,
    resourceLimits: {
      maxYoungGenerationSizeMb: youngGenerationMb,
      ...(heapLimitMb === undefined ? {} : { maxOldGenerationSizeMb: heapLimitMb }),
    },
  });
  worker.unref();
  let reason: string | null = 'ended by itself';
  worker.on('message', onMessage);
  // 'exit' follows.
  worker.on('error', (error: unknown) => {
    if (reason !== null) reason = error instanceof Error ? error.message : String(error);
  });
  worker.on('exit', () => {
    if (reason !== null) onEnd(reason);
  });
  return {
    post: (message, transfer = []) => worker.postMessage(message, transfer),
    measureMemory: () =>
      worker.getHeapStatistics().then(
        ({ total_heap_size: heap, external_memory: buffers }) => ({ heap, buffers }),
        () => ({ heap: 0, buffers: 0 }),
      ),
    measureProcessor: () =>
      worker.cpuUsage().then(
        ({ user, system }) => (user + system) / 1_000,
        () => 0,
      ),
    async end() {
      reason = null;
      await worker.terminate();
    },
  };
}

/** With the compile cache of the process, a thread starts in half the time. */
function environmentOfThreads(): NodeJS.ProcessEnv {
  // Node adds a folder for its version to the one that it was given.
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: path.dirname(folder) };
}

/** A decompressor fills about 15 MB in this time. */
const BUFFER_CHECK_MS = 100;

export interface WorkerThreadsOptions<Input> {
  /** the program of the threads, which calls `serveThread` */
  program: URL;
  /** maximum threads; each starts with its first task, and again after it ended */
  threads: number;
  /** tasks that one thread has at once; 1 by default, so that a task that brings down its thread affects no other */
  tasksPerThread?: number;
  heapLimitMb?: number;
  /** a thread whose buffers take more during a task is ended; looked at every BUFFER_CHECK_MS, no limit by default */
  bufferLimitMb?: number;
  /** a thread without a task for this long ends; milliseconds, never by default */
  idleMs?: number;
  /** time limit of one task, from when its turn comes, and once more from when a new thread is ready; milliseconds, no limit by default */
  timeLimitMs?: number;
  /** Starts the time limit of a task instead, which calls `onExpired` once, and returns a function that stops it. */
  startTimeLimit?: (input: Input, onExpired: () => void) => () => void;
}

interface TaskOptions {
  /** on performance.now(): a task whose turn comes later is not started */
  startBy?: number;
  /** overrides the limit of all tasks */
  timeLimitMs?: number;
}

/** Threads for work on untrusted data, which may take long, or much memory. */
export interface WorkerThreads<Input, Output> {
  /** Rejects with TimeLimitExceeded, with ThreadEnded, or with the message of what the program threw. */
  run(input: Input, options?: TaskOptions): Promise<Output>;
  /** Terminates the threads. The tasks in hand are rejected, and so is every later one. */
  end(): Promise<void>;
}

/** A task took too long, or its turn came too late. */
export class TimeLimitExceeded extends Error {
  constructor() {
    super('the task took too long');
    this.name = 'TimeLimitExceeded';
  }
}

/** The thread ended during a task, for example because it needs too much memory, or was terminated. */
export class ThreadEnded extends Error {
  constructor(reason: string) {
    super(`the thread ended: ${reason}`);
    this.name = 'ThreadEnded';
  }
}

/** Tasks beyond what the threads take at once wait in the order they arrived. */
export function createWorkerThreads<Input, Output>(options: WorkerThreadsOptions<Input>): WorkerThreads<Input, Output> {
  const { tasksPerThread = 1 } = options;
  const semaphore = createSemaphore(options.threads * tasksPerThread);
  const seats = Array.from({ length: options.threads }, () => createSeat<Input, Output>(options));
  let isEnded = false;

  const startTimeLimit = (input: Input, timeLimitMs: number | undefined, onExpired: () => void): (() => void) => {
    if (timeLimitMs === undefined && options.startTimeLimit !== undefined)
      return options.startTimeLimit(input, onExpired);
    const limitMs = timeLimitMs ?? options.timeLimitMs;
    if (limitMs === undefined) return () => undefined;
    const timer = setTimeout(onExpired, limitMs);
    return () => clearTimeout(timer);
  };

  return {
    run: (input, { startBy, timeLimitMs } = {}) =>
      semaphore.run(async () => {
        if (isEnded) throw new ThreadEnded('it was stopped');
        if (startBy !== undefined && performance.now() > startBy) throw new TimeLimitExceeded();
        const seat = seats.reduce((best, each) => (each.taskCount() < best.taskCount() ? each : best));
        const task = seat.begin(input);
        let isDone = false;
        let stopTimeLimit = startTimeLimit(input, timeLimitMs, () => task.expire());
        // On a busy machine, a thread may take as long to start as a task may take.
        void task.isPosted.then(() => {
          if (isDone) return;
          stopTimeLimit();
          stopTimeLimit = startTimeLimit(input, timeLimitMs, () => task.expire());
        });
        try {
          return await task.output;
        } finally {
          isDone = true;
          stopTimeLimit();
        }
      }),
    async end() {
      isEnded = true;
      await Promise.all(seats.map((seat) => seat.end()));
    },
  };
}

/** What a program posts once it is loaded. Tasks are posted from then on: one that expires before never runs. */
const READY = 'ready';
/** A thread that starts is not ended by tasks that expire, unless it takes longer. Milliseconds. */
const START_LIMIT_MS = 60_000;

/** What the pool sends to the program, and what comes back. */
interface Task<Input> {
  number: number;
  input: Input;
}
type ThreadReply<Output> = { number: number; output: Output; error?: undefined } | { number: number; error: string };

/** One thread, or a free place for one. */
interface Seat<Input, Output> {
  taskCount(): number;
  /** `isPosted` resolves when a thread that had to start first gets the task; never for a task that a ready thread gets at once */
  begin(input: Input): { output: Promise<Output>; isPosted: Promise<void>; expire: () => void };
  end(): Promise<void>;
}

/** Ends a thread whose buffers take too much while it has a task. */
function watchBuffers(
  thread: Thread,
  limitMb: number,
  hasTask: () => boolean,
  end: (reason: string) => Promise<void>,
): void {
  const check = async () => {
    const { buffers } = await thread.measureMemory();
    if (!hasTask()) return;
    if (buffers > limitMb * 1_000_000) await end('its buffers take too much memory');
    else setTimeout(() => void check(), BUFFER_CHECK_MS).unref();
  };
  void check();
}

function createSeat<Input, Output>(options: WorkerThreadsOptions<Input>): Seat<Input, Output> {
  const tasks = new Map<number, { resolve: (output: Output) => void; reject: (error: Error) => void }>();
  let thread: Thread | null = null;
  let startedAt = 0;
  /** what to do when the thread is ready; null when it is */
  let waiting: (() => void)[] | null = null;
  let lastNumber = 0;
  let idleTimer: NodeJS.Timeout | undefined;

  const handleReply = (reply: ThreadReply<Output>) => {
    const task = tasks.get(reply.number);
    tasks.delete(reply.number);
    if (reply.error === undefined) task?.resolve(reply.output);
    else task?.reject(new Error(reply.error));
    endWhenIdle();
  };

  const endWhenIdle = () => {
    if (tasks.size === 0 && options.idleMs !== undefined)
      idleTimer = setTimeout(() => void end('idle'), options.idleMs).unref();
  };

  const handleReady = () => {
    const posts = waiting ?? [];
    waiting = null;
    for (const post of posts) post();
    endWhenIdle();
  };

  const rejectAll = (reason: string) => {
    thread = null;
    for (const task of tasks.values()) task.reject(new ThreadEnded(reason));
    tasks.clear();
  };

  const end = async (reason: string) => {
    const ended = thread;
    rejectAll(reason);
    await ended?.end();
  };

  const start = (): Thread => {
    startedAt = performance.now();
    waiting = [];
    const started: Thread = startThread({
      program: options.program,
      ...(options.heapLimitMb === undefined ? {} : { heapLimitMb: options.heapLimitMb }),
      // The program of a thread posts as serveThread does.
      onMessage: (message) => {
        if (message !== READY) handleReply(message as ThreadReply<Output>);
        else if (thread === started) handleReady();
      },
      onEnd: (reason) => {
        if (thread === started) rejectAll(reason);
      },
    });
    return started;
  };

  return {
    taskCount: () => tasks.size,
    begin(input) {
      clearTimeout(idleTimer);
      const number = ++lastNumber;
      const { promise: output, resolve, reject } = Promise.withResolvers<Output>();
      tasks.set(number, { resolve, reject });
      thread ??= start();
      const posted = Promise.withResolvers<void>();
      const post = () => {
        if (!tasks.has(number)) return;
        try {
          thread?.post({ number, input } satisfies Task<Input>);
          if (options.bufferLimitMb !== undefined && thread !== null)
            watchBuffers(thread, options.bufferLimitMb, () => tasks.has(number), end);
        } catch (error) {
          tasks.delete(number);
          reject(error);
        }
      };
      if (waiting === null) post();
      else
        waiting.push(() => {
          post();
          posted.resolve();
        });
      const expire = () => {
        if (!tasks.delete(number)) return;
        reject(new TimeLimitExceeded());
        const isStarting = waiting !== null && performance.now() - startedAt < START_LIMIT_MS;
        if (!isStarting) void end('another task took too long');
      };
      return { output, isPosted: posted.promise, expire };
    },
    end: () => end('it was stopped'),
  };
}

/** Serves tasks in the program of a thread. `transfer` names the buffers that are moved instead of copied. */
export function serveThread<Input, Output>(
  work: (input: Input) => Output | Promise<Output>,
  transfer: (output: Output) => readonly Transferable[] = () => [],
): void {
  parentPort?.on('message', ({ number, input }: Task<Input>) => {
    void (async () => work(input))().then(
      (output) => parentPort?.postMessage({ number, output } satisfies ThreadReply<Output>, [...transfer(output)]),
      (error: unknown) => parentPort?.postMessage({ number, error: String(error) } satisfies ThreadReply<Output>),
    );
  });
  parentPort?.postMessage(READY);
}
