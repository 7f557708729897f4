import { Worker } from 'node:worker_threads';

/** A message to be signed (RFC 6376). */
export interface SigningWork {
  octets: Uint8Array;
  /** `d=`, an A-label name */
  domain: string;
  /** `s=` */
  selector: string;
  /** PKCS #8 in PEM */
  privateKey: string;
}

/** What goes to sign-worker.ts, and what comes back. */
export interface SigningTask extends SigningWork {
  number: number;
}
export type SigningAnswer =
  | { number: number; signed: Uint8Array; error?: undefined }
  | { number: number; error: string };

/** A thread that signs messages, so that RSA does not hold up the dialogues of this one. */
export interface SigningThread {
  /** The message under its DKIM-Signature. Rejects when the message or the key cannot be used, or the thread ended. */
  sign(work: SigningWork): Promise<Buffer>;
  /** Ends the thread; what it had in hand is rejected. */
  end(): Promise<void>;
}

/** The thread starts with the first message, and again when it ended by itself. */
export function createSigningThread(): SigningThread {
  const waiting = new Map<number, { resolve: (signed: Buffer) => void; reject: (error: Error) => void }>();
  let worker: Worker | null = null;
  let lastNumber = 0;

  function start(): Worker {
    const started = new Worker(new URL('./sign-worker.ts', import.meta.url), { env: {}, execArgv: [] });
    started.unref();
    started.on('message', (answer: SigningAnswer) => {
      const asker = waiting.get(answer.number);
      waiting.delete(answer.number);
      if (answer.error === undefined) asker?.resolve(Buffer.from(answer.signed.buffer));
      else asker?.reject(new Error(answer.error));
    });
    // 'exit' follows.
    started.on('error', () => undefined);
    started.on('exit', () => {
      if (worker === started) worker = null;
      for (const asker of waiting.values()) asker.reject(new Error('the signing thread ended'));
      waiting.clear();
    });
    return started;
  }

  return {
    sign(work) {
      const number = ++lastNumber;
      const task: SigningTask = { ...work, number };
      return new Promise((resolve, reject) => {
        waiting.set(number, { resolve, reject });
        worker ??= start();
        worker.postMessage(task);
      });
    },
    async end() {
      await worker?.terminate();
    },
  };
}
