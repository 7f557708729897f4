import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { DataReader, type HeldBytes } from '../../haraka-plugins/plugins/receiving/data-reader.ts';
import { openSpoolSpace, type SpoolSpace } from '../../haraka-plugins/plugins/receiving/spool.ts';
import { toData } from '../support/servers/smtp-client.ts';

const plenty = (): HeldBytes => ({ sum: 0, limit: 100_000_000, spools: null });

/** A stream of numbers in [0, 1) that is the same each time. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

function feed(reader: DataReader, wire: Buffer, random: () => number): Buffer | null {
  for (let at = 0; at < wire.length; ) {
    const size = 1 + Math.floor(random() ** 3 * 200);
    const behind = reader.take(wire.subarray(at, at + size));
    at += size;
    if (behind !== null) return Buffer.concat([behind, wire.subarray(at)]);
  }
  return null;
}

describe('whatever the pieces, the message is the same:', () => {
  test('a thousand messages of dots, CR, CRLF and letters are split into random pieces', () => {
    const random = seeded(7);
    for (let n = 0; n < 1_000; n++) {
      const parts = Array.from(
        { length: Math.floor(random() * 60) },
        () => ['.', '\r', 'a', '\r\n', '..', '\0'][Math.floor(random() * 6)],
      );
      const message = Buffer.from(`X: y\r\n\r\n${parts.join('')}x\r\n`, 'latin1');
      const held = plenty();
      const reader = new DataReader(held, new Set());
      expect(feed(reader, Buffer.concat([toData(message), Buffer.from('NOOP\r\n')]), random)?.toString()).toBe(
        'NOOP\r\n',
      );
      expect(reader.refusal).toBeNull();
      expect(reader.bytes?.equals(message)).toBe(true);
      reader.release();
      expect(held.sum).toBe(0);
    }
  });

  test('a refused message of any size is read to its end, and takes almost no memory', () => {
    for (const filler of ['x'.repeat(3_000_000), 'X: 1\r\n'.repeat(3_000), '.\r\n..\r\n'.repeat(3_000)]) {
      const held: HeldBytes = { sum: 0, limit: 10_000, spools: null };
      const reader = new DataReader(held, new Set());
      const wire = toData(Buffer.from(`${filler}\r\n.\r\n.x\r\n`, 'latin1'));
      let largest = 0;
      let at = 0;
      let behind: Buffer | null = null;
      for (; behind === null && at < wire.length; at += 1_000) {
        behind = reader.take(wire.subarray(at, at + 1_000));
        largest = Math.max(largest, held.sum);
      }
      expect(behind).not.toBeNull();
      expect(at).toBeGreaterThanOrEqual(wire.length);
      expect(reader.refusal).not.toBeNull();
      expect(largest).toBeLessThan(40_000);
      reader.release();
      expect(held.sum).toBe(0);
    }
  });
});

test('the message that grows is deferred with 452 when the process holds too many bytes', () => {
  const held: HeldBytes = { sum: 0, limit: 50_000, spools: null };
  const first = new DataReader(held, new Set());
  first.take(Buffer.from(`X: y\r\n\r\n${'x'.repeat(20_000)}\r\n`));
  const second = new DataReader(held, new Set());
  second.take(Buffer.from(`X: y\r\n\r\n${'x'.repeat(40_000)}\r\n`));
  expect(second.take(Buffer.from('.\r\n'))).toEqual(Buffer.alloc(0));
  expect(second.refusal).toMatchObject({ code: 452, text: expect.stringContaining('4.3.1') });
  expect(first.take(Buffer.from('.\r\n'))).toEqual(Buffer.alloc(0));
  expect(first.refusal).toBeNull();
});

test('a bare line feed outranks every other reason, because it must end the session', () => {
  const reader = new DataReader(plenty(), new Set());
  reader.take(Buffer.from(`${'X: 1\r\n'.repeat(1_001)}\r\n`));
  expect(reader.refusal).toMatchObject({ code: 552 });
  reader.take(Buffer.from('a\nb\r\n.\r\n'));
  expect(reader.refusal).toMatchObject({ kind: 'close', code: 550 });
});

describe('a large message on the disk', () => {
  const LIMIT = 3_000_000;
  const log = pino({ level: 'silent' });
  let directory: string;
  let spools: SpoolSpace | null;
  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'postroom-spool-'));
    spools = await openSpoolSpace(path.join(directory, 'spool'), LIMIT, log);
  });
  afterAll(() => rm(directory, { recursive: true }));

  const lines = (bytes: number) => `X: y\r\n\r\n${'..a line\r\n.\rx\r\n'.repeat(bytes / 15)}`;

  async function read(held: HeldBytes, message: Buffer): Promise<DataReader> {
    const reader = new DataReader(held, new Set());
    const wire = toData(message);
    for (let at = 0; at < wire.length; at += 60_001) {
      reader.take(wire.subarray(at, at + 60_001));
      if (reader.isBehind) await new Promise<void>((resolve) => reader.whenReady(resolve));
    }
    return reader;
  }

  test('is what was sent, takes no memory once it is complete, and leaves no file', async () => {
    const held: HeldBytes = { sum: 0, limit: 100_000_000, spools };
    const message = Buffer.from(lines(2_000_000), 'latin1');
    const reader = await read(held, message);
    expect(reader.refusal).toBeNull();
    expect(reader.bytes).toBeNull();
    expect(reader.sizeBytes).toBe(message.length);
    expect((await reader.load()).equals(message)).toBe(true);
    expect(held.sum).toBe(0);
    expect(await readdir(path.join(directory, 'spool'))).toEqual([]);
    reader.release();
    expect([held.sum, spools?.sum]).toEqual([0, 0]);
  });

  test('has its space also beside a directory, and removes files that a killed process left', async () => {
    const folder = path.join(directory, 'left');
    await mkdir(path.join(folder, 'lost+found'), { recursive: true });
    await writeFile(path.join(folder, 'left-over'), 'x');
    expect(await openSpoolSpace(folder, 1_000_000, log)).not.toBeNull();
    expect(await readdir(folder)).toEqual(['lost+found']);
  });

  test('begins at 65,536 bytes while a fourth of the memory for messages is taken', async () => {
    const message = Buffer.from(lines(150_000), 'latin1');
    for (const [sum, isInMemory] of [
      [0, true],
      [30_000_000, false],
    ] as const) {
      const reader = await read({ sum, limit: 100_000_000, spools }, message);
      expect(reader.bytes !== null).toBe(isInMemory);
      if (!isInMemory) expect((await reader.load()).equals(message)).toBe(true);
      reader.release();
    }
  });

  test('of 80,000 bytes takes at most 131,072 while a fourth of the memory for messages is taken', async () => {
    const held: HeldBytes = { sum: 30_000_000, limit: 100_000_000, spools };
    const reader = new DataReader(held, new Set());
    const wire = Buffer.from(lines(80_000), 'latin1');
    for (let at = 0; at < wire.length; at += 16_384) reader.take(wire.subarray(at, at + 16_384));
    await new Promise<void>((resolve) => reader.whenReady(resolve));
    expect(held.sum - 30_000_000).toBeLessThanOrEqual(131_072);
    reader.release();
    expect(held.sum).toBe(30_000_000);
  });

  test('is deferred with 452 when the messages on the disk have no room, which it gives back', async () => {
    const held: HeldBytes = { sum: 0, limit: 100_000_000, spools };
    const first = await read(held, Buffer.from(lines(2_000_000), 'latin1'));
    const second = await read(held, Buffer.from(lines(2_000_000), 'latin1'));
    expect(second.refusal).toMatchObject({
      code: 452,
      text: '4.3.1 Too many large messages in progress, please try again later',
    });
    expect(first.refusal).toBeNull();
    first.release();
    second.release();
    await vi.waitFor(() => expect([held.sum, spools?.sum]).toEqual([0, 0]));
  });

  test('is deferred with 452 when the disk has little room left', async () => {
    const full = await openSpoolSpace(path.join(directory, 'full'), 100_000_000, log, () => 1_000_000);
    const held: HeldBytes = { sum: 0, limit: 100_000_000, spools: full };
    const reader = await read(held, Buffer.from(lines(2_000_000), 'latin1'));
    expect(reader.refusal).toMatchObject({ code: 452 });
    reader.release();
    const small = await read(held, Buffer.from(lines(150_000), 'latin1'));
    expect(small.refusal).toBeNull();
    small.release();
  });

  test('of more than 15 MB is refused with 552', async () => {
    const wide = await openSpoolSpace(path.join(directory, 'wide'), 100_000_000, log);
    const reader = await read({ sum: 0, limit: 100_000_000, spools: wide }, Buffer.from(lines(15_000_100), 'latin1'));
    expect(reader.refusal).toMatchObject({ code: 552 });
    expect(wide?.sum).toBe(0);
    reader.release();
  });

  test('stays in memory where nothing can be written', async () => {
    expect(await openSpoolSpace(path.join(import.meta.filename, 'spool'), LIMIT, log)).toBeNull();
  });
});
