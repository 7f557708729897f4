import { syncBuiltinESMExports } from 'node:module';
import threads, { Worker, type WorkerOptions } from 'node:worker_threads';

// Loaded before Postroom by `node --import`: its parser threads then run the program that a mail with HANGING_SUBJECT hangs.

const program = new URL('../support/mail/poisoned-parse-worker.ts', import.meta.url);

threads.Worker = class extends Worker {
  constructor(file: string | URL, options?: WorkerOptions) {
    super(String(file).endsWith('/parse-worker.ts') ? program : file, options);
  }
};
syncBuiltinESMExports();
