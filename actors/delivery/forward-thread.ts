import { Worker } from 'node:worker_threads';
import type { CopyFacts, ForwardConfig, ForwardedOriginal } from '../../core/endpoints/forward.ts';

/** A copy to be composed. */
export interface ForwardWork {
  original: ForwardedOriginal;
  config: ForwardConfig;
  facts: CopyFacts;
}

/** What goes to forward-worker.ts, and what comes back. */
export interface ForwardTask extends ForwardWork {
  number: number;
}
export type ForwardAnswer =
  | { number: number; octets: Uint8Array; error?: undefined }
  | { number: number; error: string };

/** Threads that compose copies: the mail is a stranger's, and may take long or much memory to read. */
export interface ForwardThreads {
  /** Rejects with CompositionTimeout when it takes too long, otherwise when the message cannot be read or the thread ended. */
  compose(work: ForwardWork): Promise<Buffer>;
  /** Ends what is being composed; from now on nothing is. */
  end(): Promise<void>;
}

/** A message took longer to compose than the time limit allows. */
export class CompositionTimeout extends Error {
  constructor() {
    super('the copy was not composed in time');
    this.name = 'CompositionTimeout';
  }
}

export interface ForwardThreadsOptions {
  /** the program of the threads; forward-worker.ts by default */
  program?: URL;
  /** Starts the time limit of one composition, which calls `onExpired` once; returns a function that stops it. 15 s by default. */
  startTimeLimit?: (work: ForwardWork, onExpired: () => void) => () => void;
}

/** Copies that are composed at once. */
export const FORWARD_THREADS = 2;
/** For one message; milliseconds. */
const TIME_LIMIT_MS = 15_000;
const HEAP_LIMIT_MB = 512;
const PROGRAM = new URL('./forward-worker.ts', import.meta.url);

/** Work beyond what the threads do waits its turn; its time counts from then on. */
export function createForwardThreads(options: ForwardThreadsOptions = {}): ForwardThreads {
  const threads = Array.from({ length: FORWARD_THREADS }, () => createThread(options));
  const idle = [...threads];
  const waiting: ((thread: ForwardThreads) => void)[] = [];
  return {
    async compose(work) {
      const thread = idle.pop() ?? (await new Promise<ForwardThreads>((resolve) => waiting.push(resolve)));
      try {
        return await thread.compose(work);
      } finally {
        const next = waiting.shift();
        if (next === undefined) idle.push(thread);
        else next(thread);
      }
    },
    async end() {
      await Promise.all(threads.map((thread) => thread.end()));
    },
  };
}

/** Composes one copy at a time. The thread starts with the first message, and again when it ended by itself or was ended. */
function createThread({ program = PROGRAM, startTimeLimit = startTimer }: ForwardThreadsOptions): ForwardThreads {
  const waiting = new Map<number, { resolve: (octets: Buffer) => void; reject: (error: Error) => void }>();
  let worker: Worker | null = null;
  let lastNumber = 0;
  let isEnded = false;

  function start(): Worker {
    const started = new Worker(program, {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_LIMIT_MB },
    });
    started.unref();
    started.on('message', (answer: ForwardAnswer) => {
      const asker = waiting.get(answer.number);
      waiting.delete(answer.number);
      if (answer.error === undefined) asker?.resolve(Buffer.from(answer.octets.buffer));
      else asker?.reject(new Error(answer.error));
    });
    // 'exit' follows.
    started.on('error', () => undefined);
    started.on('exit', () => {
      if (worker !== started) return;
      worker = null;
      for (const asker of waiting.values()) asker.reject(new Error('the thread that composes copies ended'));
      waiting.clear();
    });
    return started;
  }

  return {
    async compose(work) {
      if (isEnded) throw new Error('no copies are composed any more');
      const number = ++lastNumber;
      const task: ForwardTask = { ...work, number };
      worker ??= start();
      const used = worker;
      const { promise: composed, resolve, reject } = Promise.withResolvers<Buffer>();
      waiting.set(number, { resolve, reject });
      const stopTimeLimit = startTimeLimit(work, () => {
        if (!waiting.delete(number)) return;
        if (worker === used) worker = null;
        reject(new CompositionTimeout());
        void used.terminate();
      });
      try {
        used.postMessage(task);
        return await composed;
      } finally {
        stopTimeLimit();
      }
    },
    async end() {
      isEnded = true;
      await worker?.terminate();
    },
  };
}

function startTimer(_work: ForwardWork, onExpired: () => void): () => void {
  const timer = setTimeout(onExpired, TIME_LIMIT_MS);
  return () => clearTimeout(timer);
}
