import { createHash, randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { createOctetStore, type OctetStore } from '../../db/octet-store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let testDatabase: TestDatabase;
let database: Database;
let store: OctetStore;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
  store = createOctetStore({ database, log: pino({ level: 'silent' }) });
});
afterAll(() => testDatabase.drop());

async function stored(octets: Buffer, sha256 = createHash('sha256').update(octets).digest()): Promise<string> {
  const id = `raw_${randomBytes(8).toString('hex')}`;
  await database.pool.query('insert into raw_message (id, octets, sha256, size_octets) values ($1, $2, $3, $4)', [
    id,
    octets,
    sha256,
    octets.length,
  ]);
  return id;
}

test.each([
  ['ASCII', Buffer.from('Subject: hello\r\n\r\nplain')],
  ['every octet but NUL', Buffer.from(Array.from({ length: 255 }, (_, n) => n + 1))],
  ['every octet', Buffer.from(Array.from({ length: 256 }, (_, n) => n))],
  ['nothing', Buffer.alloc(0)],
  ['100 KB at random', randomBytes(100_000)],
])('octets are read back as they were stored: %s', async (_, octets) => {
  const id = await stored(octets);
  expect((await store.get(id))?.equals(octets)).toBe(true);
  expect((await store.slice(id, 3, 200))?.equals(octets.subarray(3, 203))).toBe(true);
});

test('octets that do not fit their sha256 are not handed out', async () => {
  expect(await store.get(await stored(Buffer.from('changed'), Buffer.alloc(32)))).toBeNull();
});

test('octets that are gone are null', async () => {
  expect(await store.get('raw_none')).toBeNull();
  expect(await store.slice('raw_none', 0, 10)).toBeNull();
});
