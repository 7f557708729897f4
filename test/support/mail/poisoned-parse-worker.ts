import { existsSync, writeFileSync } from 'node:fs';
import libmime from 'libmime';

// The parser's thread with faults planted in it: an encoded word of the made-up charset `poison` does to the thread what it names.

const decodeWords = libmime.decodeWords.bind(libmime);
const hoard: unknown[] = [];
/** Milliseconds; for ever by default. */
const pause = (ms?: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

libmime.decodeWords = (text) => {
  const [, fault = '', gate] = /=\?poison\?Q\?([a-z]+)([\da-f]+)?\?=/.exec(text) ?? [];
  switch (fault) {
    case 'hang':
      for (;;) hoard.length = 0;
    case 'exit':
      process.exit(1);
    // Ends the first thread at once, and further ones when the test has opened the gate: a folder, whose path follows in hex.
    case 'gate': {
      const folder = Buffer.from(gate ?? '', 'hex').toString();
      if (existsSync(`${folder}/tried`)) while (!existsSync(`${folder}/open`)) pause(20);
      writeFileSync(`${folder}/tried`, '');
      process.exit(1);
    }
    // Busy until the test has opened the gate. Only one thread may begin.
    case 'wait': {
      const folder = Buffer.from(gate ?? '', 'hex').toString();
      writeFileSync(`${folder}/begun`, '', { flag: 'wx' });
      while (!existsSync(`${folder}/open`)) hoard.length = 0;
      return 'slow';
    }
    case 'heap': {
      const large = Array.from({ length: 1_000_000 }, (_, at) => at / 2);
      for (;;) hoard.push(large.slice());
    }
    case 'buffers':
      // More than the process may have kept of ended threads; the pauses let the pool notice in time.
      for (let count = 0; count < 500; count++) {
        hoard.push(Buffer.alloc(4_000_000, 1));
        pause(2);
      }
      for (;;) pause();
    default:
      return decodeWords(text);
  }
};

await import('../../../actors/receiving/parse-worker.ts');
