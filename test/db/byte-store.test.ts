import { createHash, randomBytes } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ByteStore, createByteStore, storeBytesSql } from '../../db/byte-store.ts';
import type { Database } from '../../db/connection/database.ts';
import { packMessage } from '../../db/packed-message.ts';
import { createTestDatabase, type TestDatabase } from '../support/cluster/database.ts';

let test_: TestDatabase;
let actor: Database;
let store: ByteStore;
let logged: string[];

beforeAll(async () => {
  test_ = await createTestDatabase();
  actor = test_.open('postroom_actor');
});
afterAll(() => test_.drop());
beforeEach(() => {
  logged = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void logged.push(line) });
  store = createByteStore({ database: actor, log, cacheBytes: 1_000 });
});

async function write(rawId: string, bytes: Buffer): Promise<void> {
  const packed = await packMessage(bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const message = { raw_id: rawId, sha256, size: bytes.length, start: 0, length: packed.length };
  await actor.pool.query(
    storeBytesSql(
      '(select * from json_to_recordset($1) as r (raw_id text, sha256 text, size integer, start integer, length integer))',
      '$2',
    ),
    [JSON.stringify([message]), packed],
  );
}

/** zstd itself, which must come back as it is. */
const packedText = zstdCompressSync(randomBytes(2_000).toString('hex'));
const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

test.each([
  ['every octet, U+0000 among them', everyByte],
  ['every octet but U+0000', everyByte.subarray(1)],
  ['nothing', Buffer.alloc(0)],
  ['a megabyte of chance', randomBytes(1_000_000)],
  ['backslashes and hex', Buffer.from('\\x41\\\\000 \\x')],
  ['three megabytes of text', Buffer.from('A line of text.\r\n'.repeat(180_000))],
  ['a message that looks packed', packedText],
])('%s is read as it was written', async (name, bytes) => {
  await write(`raw_${name}`, bytes);
  expect((await store.get(`raw_${name}`))?.equals(bytes)).toBe(true);
});

test('bytes in memory are returned without the database', async () => {
  store.keep('raw_memory', Buffer.from('only in memory'));
  const held = await store.get('raw_memory');
  expect(held?.toString()).toBe('only in memory');
  // not a view into a buffer that would be kept with it
  expect(held?.buffer.byteLength).toBe(held?.length);
});

test('memory has a limit of bytes: the oldest are removed first, and a message above the limit is not kept', async () => {
  for (let n = 0; n < 6; n++) store.keep(`raw_kept${n}`, Buffer.alloc(300, n));
  store.keep('raw_huge', Buffer.alloc(1_001));
  const held = await Promise.all(
    ['raw_kept0', 'raw_kept2', 'raw_kept3', 'raw_kept5', 'raw_huge'].map((rawId) => store.get(rawId)),
  );
  expect(held.map((bytes) => bytes?.length ?? null)).toEqual([null, null, 300, 300, null]);
});

test('bytes that do not match their sha256 are not returned, and the damage is logged', async () => {
  await write('raw_damaged', Buffer.from('as it was'));
  await test_.open(null).pool.query(`update raw_message set packed = set_byte(packed, 3, 0) where id = 'raw_damaged'`);
  expect(await store.get('raw_damaged')).toBeNull();
  expect(logged.join()).toMatch(/raw_damaged.*sha256/);
});

test('missing bytes are null, and the loss is logged', async () => {
  expect(await store.get('raw_unknown')).toBeNull();
  expect(logged.join()).toMatch(/raw_unknown.*gone/);
});

test('small messages are read ahead together, and then returned without the database', async () => {
  const roomy = createByteStore({ database: actor, log: pino({ level: 'silent' }) });
  await write('raw_ahead1', Buffer.from('one'));
  await write('raw_ahead2', Buffer.from('two \xff', 'latin1'));
  await write('raw_ahead3', randomBytes(70_000));
  await write('raw_ahead4', Buffer.from('spoiled'));
  await actor.pool.query(`update raw_message set packed = 'other' where id = 'raw_ahead4'`);
  await roomy.keepStored(['raw_ahead1', 'raw_ahead2', 'raw_ahead3', 'raw_ahead4', 'raw_nothing']);
  await actor.pool.query(`delete from raw_message where id like 'raw_ahead%'`);
  expect((await roomy.get('raw_ahead1'))?.toString()).toBe('one');
  expect((await roomy.get('raw_ahead2'))?.toString('latin1')).toBe('two \xff');
  expect(await roomy.get('raw_ahead3')).toBeNull();
  expect(await roomy.get('raw_ahead4')).toBeNull();
});

test('a message with U+0000 does not keep others from being read', async () => {
  await write('raw_nul1', everyByte);
  await write('raw_nul2', Buffer.from('two'));
  await store.keepStored(['raw_nul1', 'raw_nul2']);
  expect((await store.get('raw_nul1'))?.equals(everyByte)).toBe(true);
  expect((await store.get('raw_nul2'))?.toString()).toBe('two');
});

test('messages for one job are read together, those in memory among them, and not kept', async () => {
  const roomy = createByteStore({ database: actor, log: pino({ level: 'silent' }) });
  await write('raw_now1', Buffer.from('one'));
  await write('raw_now2', Buffer.from('two \xff', 'latin1'));
  await write('raw_now3', randomBytes(70_000));
  await write('raw_now4', Buffer.from('spoiled'));
  await actor.pool.query(`update raw_message set packed = 'other' where id = 'raw_now4'`);
  roomy.keep('raw_now5', Buffer.from('kept'));
  const found = await roomy.readTogether(['raw_now1', 'raw_now2', 'raw_now3', 'raw_now4', 'raw_now5', 'raw_none']);
  expect(Object.fromEntries([...found].map(([id, bytes]) => [id, bytes.toString('latin1')]))).toEqual({
    raw_now1: 'one',
    raw_now2: 'two \xff',
    raw_now5: 'kept',
  });
  await actor.pool.query(`delete from raw_message where id like 'raw_now%'`);
  expect(await roomy.get('raw_now1')).toBeNull();
  expect((await roomy.get('raw_now5'))?.toString()).toBe('kept');
});
