import libmime from 'libmime';

// The parser's thread with faults planted in it: an encoded word of the made-up charset `poison` does to the thread what it names.

const decodeWords = libmime.decodeWords.bind(libmime);
const hoard: unknown[] = [];
const still = new Int32Array(new SharedArrayBuffer(4));
const large = Array.from({ length: 1_000_000 }, (_, at) => at / 2);

libmime.decodeWords = (text) => {
  switch (/=\?poison\?Q\?(\w+)\?=/.exec(text)?.[1] ?? '') {
    case 'hang':
      // A loop that never gives its thread back, but leaves the core to the other tests.
      for (;;) Atomics.wait(still, 0, 0, 1);
    case 'exit':
      process.exit(1);
    case 'heap':
      for (;;) hoard.push(large.map((value) => value + hoard.length));
    case 'buffers':
      for (;;) hoard.push(Buffer.alloc(4_000_000, 1));
    default:
      return decodeWords(text);
  }
};

await import('../../actors/receiving/parse-worker.ts');
