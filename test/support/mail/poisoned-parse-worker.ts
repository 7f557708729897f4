import libmime from 'libmime';

// The parser's thread with faults planted in it: an encoded word of the made-up charset `poison` does to the thread what it names.

const decodeWords = libmime.decodeWords.bind(libmime);
const hoard: unknown[] = [];
const large = Array.from({ length: 1_000_000 }, (_, at) => at / 2);

libmime.decodeWords = (text) => {
  switch (/=\?poison\?Q\?(\w+)\?=/.exec(text)?.[1] ?? '') {
    case 'hang':
      for (;;) hoard.length = 0;
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

await import('../../../actors/receiving/parse-worker.ts');
