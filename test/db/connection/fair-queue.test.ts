import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '../../../db/connection/open-pool.ts';
import { chargeResults } from '../../../db/connection/result-charge.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

test('accounts take turns at the connections of a pool, whatever the order of their requests', async () => {
  const pool = openPool(database.url, { max: 1, connectionTimeoutMillis: 60_000 });
  const held = await pool.connect();
  const served: string[] = [];
  const ask = (owner: string, name: string) =>
    chargeResults(
      null,
      async () => {
        const client = await pool.connect();
        served.push(name);
        client.release();
      },
      owner,
    );
  const asked = [
    ...Array.from({ length: 50 }, (_, at) => ask('attacker', `attacker ${at}`)),
    ask('', 'unknown'),
    ask('other', 'other 0'),
    ask('other', 'other 1'),
  ];
  held.release();
  await Promise.all(asked);
  expect(served.slice(0, 5)).toEqual(['attacker 0', 'unknown', 'other 0', 'attacker 1', 'other 1']);
  expect(served.slice(5)).toEqual(Array.from({ length: 48 }, (_, at) => `attacker ${at + 2}`));
  await pool.end();
});

test('a request that waited too long for a connection leaves the queue', async () => {
  const pool = openPool(database.url, { max: 1, connectionTimeoutMillis: 500 });
  const held = await pool.connect();
  await expect(chargeResults(null, () => pool.connect(), 'late')).rejects.toThrow(
    'timeout exceeded when trying to connect',
  );
  expect(pool.waitingCount).toBe(0);
  held.release();
  const client = await pool.connect();
  client.release();
  await pool.end();
});
