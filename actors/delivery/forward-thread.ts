import { Worker } from 'node:worker_threads';
import type { CopyFacts, ForwardConfig, ForwardedOriginal } from '../../core/forward.ts';

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

/** A thread that composes copies: the mail is a stranger's, and may take long or much memory to read. */
export interface ForwardThread {
  /** Rejects when the message cannot be read, takes too long, or the thread ended. */
  compose(work: ForwardWork): Promise<Buffer>;
  end(): Promise<void>;
}

/** For one message; milliseconds. */
const TIME_LIMIT_MS = 15_000;
const HEAP_LIMIT_MB = 512;

/** The thread starts with the first message, and again when it ended by itself or was ended. */
export function createForwardThread(): ForwardThread {
  const waiting = new Map<number, { resolve: (octets: Buffer) => void; reject: (error: Error) => void }>();
  let worker: Worker | null = null;
  let lastNumber = 0;

  function start(): Worker {
    const started = new Worker(new URL('./forward-worker.ts', import.meta.url), {
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
      if (worker === started) worker = null;
      for (const asker of waiting.values()) asker.reject(new Error('the thread that composes copies ended'));
      waiting.clear();
    });
    return started;
  }

  return {
    async compose(work) {
      const number = ++lastNumber;
      const task: ForwardTask = { ...work, number };
      worker ??= start();
      const used = worker;
      const timer = setTimeout(() => void used.terminate(), TIME_LIMIT_MS);
      try {
        return await new Promise<Buffer>((resolve, reject) => {
          waiting.set(number, { resolve, reject });
          used.postMessage(task);
        });
      } finally {
        clearTimeout(timer);
      }
    },
    async end() {
      await worker?.terminate();
    },
  };
}
