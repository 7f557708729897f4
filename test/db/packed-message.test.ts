import { hash, randomBytes } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type PackedMessage, packMessage, unpackMessage, unpackSmall } from '../../db/packed-message.ts';
import { hasCorpora, readEmlMessages } from '../support/mail/corpora.ts';

async function pack(bytes: Buffer): Promise<PackedMessage> {
  return { octets: await packMessage(bytes), sha256: hash('sha256', bytes, 'buffer'), sizeBytes: bytes.length };
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
  expect(packed.octets.length).toBeLessThanOrEqual(bytes.length);
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
      ({ octets }) => ({ octets: Buffer.from(octets.map((byte, at) => (at === 40 ? byte ^ 1 : byte))) }),
    ],
    ['its end is missing', ({ octets }) => ({ octets: octets.subarray(0, -1) })],
    ['it has no bytes', () => ({ octets: Buffer.alloc(0) })],
    ['it is another message', () => ({ octets: zstdCompressSync(text(4_096).fill('x')) })],
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
    const bomb = { octets: zstdCompressSync(Buffer.alloc(200_000_000)), sha256: Buffer.alloc(32), sizeBytes: 100_000 };
    const before = process.memoryUsage().arrayBuffers;
    expect(await unpackMessage(bomb)).toBeNull();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
  });
});

test('large messages are unpacked a few at a time, and none waits forever behind a damaged one', async () => {
  const bytes = text(20_000_000);
  const packed = await pack(bytes);
  const all = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      unpackMessage(n % 3 === 0 ? { ...packed, octets: packed.octets.subarray(1) } : packed, `usr_${n % 2}`),
    ),
  );
  expect(all.map((each) => each?.length ?? null)).toEqual(
    Array.from({ length: 12 }, (_, n) => (n % 3 === 0 ? null : bytes.length)),
  );
});

test.runIf(hasCorpora)('every message of the corpora is unpacked byte for byte', async () => {
  let before = 0;
  let after = 0;
  for (const { bytes, file } of await readEmlMessages()) {
    const packed = await pack(bytes);
    expect((await unpackMessage(packed))?.equals(bytes), file).toBe(true);
    before += bytes.length;
    after += packed.octets.length;
  }
  expect(after / before).toBeLessThan(0.5);
});
