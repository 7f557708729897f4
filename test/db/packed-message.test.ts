import { hash, randomBytes } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  inUnpackingTurn,
  type PackedMessage,
  packMessage,
  unpackInPieces,
  unpackMessage,
  unpackSmall,
} from '../../db/packed-message.ts';
import { hasCorpora, readEmlMessages } from '../support/mail/corpora.ts';

async function pack(bytes: Buffer): Promise<PackedMessage> {
  return { packed: await packMessage(bytes), sha256: hash('sha256', bytes, 'buffer'), sizeBytes: bytes.length };
}

const text = (bytes: number) => Buffer.from('Subject: Hello\r\n\r\nA line of text.\r\n'.repeat(bytes / 34));

test.each([
  ['nothing', Buffer.alloc(0)],
  ['one byte', Buffer.from('a')],
  ['a message of 4 KB', text(4_096)],
  ['a message of 5 MB', text(5_000_000)],
  ['4 KB that cannot be compressed', randomBytes(4_096)],
  ['1 MB that cannot be compressed', randomBytes(1_000_000)],
  ['bytes that are zstd themselves', zstdCompressSync(randomBytes(3_000).toString('hex'))],
])('%s is unpacked as it was', async (_name, bytes) => {
  const packed = await pack(bytes);
  expect(packed.packed.length).toBeLessThanOrEqual(bytes.length);
  expect((await unpackMessage(packed))?.equals(bytes)).toBe(true);
  expect(unpackSmall(packed)?.equals(bytes)).toBe(true);
});

test('random sizes are unpacked as they were, on both sides of each limit', async () => {
  for (let n = 0; n < 200; n++) {
    const size = Math.floor(2 ** (Math.random() * 17));
    const bytes = Buffer.concat([randomBytes(Math.floor(size / 3)), Buffer.alloc(size, `line ${n}\r\n`)]);
    expect((await unpackMessage(await pack(bytes)))?.equals(bytes), `${size} bytes`).toBe(true);
  }
});

describe('a damaged message', () => {
  const bytes = text(4_096);

  test.each<[string, (packed: PackedMessage) => Partial<PackedMessage>]>([
    [
      'one bit differs',
      ({ packed }) => ({ packed: Buffer.from(packed.map((byte, at) => (at === 40 ? byte ^ 1 : byte))) }),
    ],
    ['its end is missing', ({ packed }) => ({ packed: packed.subarray(0, -1) })],
    ['it has no bytes', () => ({ packed: Buffer.alloc(0) })],
    ['it is another message', () => ({ packed: zstdCompressSync(text(4_096).fill('x')) })],
    ['its size is smaller than what it unpacks to', ({ sizeBytes }) => ({ sizeBytes: sizeBytes - 1 })],
    ['its size is larger than what it unpacks to', ({ sizeBytes }) => ({ sizeBytes: sizeBytes + 1 })],
    ['its sha256 is shorter', ({ sha256 }) => ({ sha256: sha256.subarray(1) })],
  ])('is null when %s', async (_name, change) => {
    const packed = await pack(bytes);
    const damaged = { ...packed, ...change(packed) };
    expect(await unpackMessage(damaged)).toBeNull();
    expect(unpackSmall(damaged)).toBeNull();
  });

  test('never makes more bytes than its row says', async () => {
    const bomb = { packed: zstdCompressSync(Buffer.alloc(200_000_000)), sha256: Buffer.alloc(32), sizeBytes: 100_000 };
    const before = process.memoryUsage().arrayBuffers;
    expect(await unpackMessage(bomb)).toBeNull();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
  });
});

test('of large messages, few are read at a time, and a failure ends its turn', async () => {
  let open = 0;
  let most = 0;
  const read = (n: number) =>
    inUnpackingTurn(`usr_${n % 2}`, 20_000_000, async () => {
      open++;
      most = Math.max(most, open);
      await new Promise(setImmediate);
      open--;
      if (n % 3 === 0) throw new Error('gone');
      return n;
    });
  const all = await Promise.allSettled(Array.from({ length: 30 }, (_, n) => read(n)));
  expect(all.map(({ status }) => status === 'fulfilled')).toEqual(all.map((_, n) => n % 3 !== 0));
  expect(most).toBe(3);
});

test.runIf(hasCorpora)('every message of the corpora is unpacked byte for byte', async () => {
  let before = 0;
  let after = 0;
  for (const { bytes, file } of await readEmlMessages()) {
    const packed = await pack(bytes);
    expect((await unpackMessage(packed))?.equals(bytes), file).toBe(true);
    before += bytes.length;
    after += packed.packed.length;
  }
  expect(after / before).toBeLessThan(0.5);
});

describe('a message that is unpacked in pieces', () => {
  async function join(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
    const joined: Buffer[] = [];
    for await (const piece of pieces) joined.push(piece);
    return Buffer.concat(joined);
  }
  const cut = (bytes: Buffer) =>
    Array.from({ length: Math.ceil(bytes.length / 1_000) }, (_, n) => bytes.subarray(n * 1_000, (n + 1) * 1_000));

  test.each([
    ['zstd', text(3_000_000)],
    ['as it is', randomBytes(300_000)],
  ])('is what it was, stored as %s', async (_name, bytes) => {
    const { packed } = await pack(bytes);
    const sizes = { packed: packed.length, message: bytes.length };
    expect((await join(unpackInPieces(cut(packed), sizes))).equals(bytes)).toBe(true);
  });

  test('fails when its packed are damaged or cannot be read, and has no more bytes than its row says', async () => {
    const packed = zstdCompressSync(randomBytes(100_000).toString('hex'));
    const sizes = { packed: packed.length, message: 200_000 };
    await expect(join(unpackInPieces(cut(packed.subarray(5)), sizes))).rejects.toThrow();
    async function* failing(): AsyncGenerator<Buffer> {
      yield packed.subarray(0, 1_000);
      throw new Error('the connection ended');
    }
    await expect(join(unpackInPieces(failing(), sizes))).rejects.toThrow('the connection ended');
    const bomb = zstdCompressSync(Buffer.alloc(50_000_000));
    const made = await join(unpackInPieces([bomb], { packed: bomb.length, message: 100_000 }));
    expect(made.length).toBeLessThanOrEqual(100_000);
  });
});
