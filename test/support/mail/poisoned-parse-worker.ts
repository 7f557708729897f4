import { spawnSync } from 'node:child_process';
import { pbkdf2Sync } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import iconv from 'iconv-lite';

// The parser's thread with faults planted in it: an encoded word of the made-up charset `poison` does to the thread what it names. It ends in
// a byte that is not UTF-8, so that its charset must be decoded.

const decode = iconv.decode.bind(iconv);
const hoard: unknown[] = [];
let hasWaited = false;
const DEAF_MS = 6_000;
const REST_MS = 1_500;
const HASHES_TO_MEASURE = 200_000;
/** Returns the milliseconds of processor time that so many take. */
function hash(count: number): number {
  const since = process.threadCpuUsage();
  pbkdf2Sync('x', 'y', count, 20, 'sha1');
  return process.threadCpuUsage(since).user / 1_000;
}
/** A program that runs until the folder that it is given is gone. */
const UNTIL_GONE =
  "const { existsSync } = require('node:fs'); setInterval(() => existsSync(process.argv[1]) || process.exit(), 20)";
/** Milliseconds; for ever by default. */
const pause = (ms?: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

iconv.decode = (bytes, charset, options) => {
  const [, fault = '', gate] =
    /^(hang|sleep|rest|exit|gate|wait|deaf|mute|heap|buffers|hold)([\da-f]+)?\xff$/.exec(
      Buffer.from(bytes).toString('latin1'),
    ) ?? [];
  switch (fault) {
    case 'hang':
      for (;;) hoard.length = 0;
    case 'sleep':
      for (;;) pause();
    case 'rest':
      pause(REST_MS);
      return 'rest';
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
      if (hasWaited) return 'slow';
      hasWaited = true;
      const folder = Buffer.from(gate ?? '', 'hex').toString();
      writeFileSync(`${folder}/begun`, '', { flag: 'wx' });
      while (!existsSync(`${folder}/open`)) hoard.length = 0;
      return 'slow';
    }
    // Works for 6 s of processor time in one step of C++, in which it replies to nothing, and says so afterwards.
    case 'deaf': {
      hash(Math.round((DEAF_MS / hash(HASHES_TO_MEASURE)) * HASHES_TO_MEASURE));
      writeFileSync(`${Buffer.from(gate ?? '', 'hex').toString()}/spoke`, '');
      return 'deaf';
    }
    // The first thread is within one step of C++, without work and without a reply, until the test has removed the gate.
    case 'mute': {
      const folder = Buffer.from(gate ?? '', 'hex').toString();
      if (existsSync(`${folder}/begun`)) return 'mute';
      writeFileSync(`${folder}/begun`, '');
      spawnSync(process.execPath, ['-e', UNTIL_GONE, folder]);
      return 'mute';
    }
    case 'heap': {
      const large = Array.from({ length: 1_000_000 }, (_, at) => at / 2);
      for (;;) hoard.push(large.slice());
    }
    // Holds 300 MB until the test has opened the gate.
    case 'hold': {
      const folder = Buffer.from(gate ?? '', 'hex').toString();
      for (let count = 0; count < 75; count++) hoard.push(Buffer.alloc(4_000_000, 1));
      writeFileSync(`${folder}/held`, '.', { flag: 'a' });
      while (!existsSync(`${folder}/open`)) pause(20);
      hoard.length = 0;
      return 'held';
    }
    case 'buffers':
      // More than the process may have kept of ended threads; the pauses let the pool notice in time.
      for (let count = 0; count < 500; count++) {
        hoard.push(Buffer.alloc(4_000_000, 1));
        pause(2);
      }
      for (;;) pause();
    default:
      return decode(bytes, charset, options);
  }
};

await import('../../../actors/receiving/parse-worker.ts');
