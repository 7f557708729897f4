import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepPreviousKey } from '../../../../core/shared/previous-key.ts';
import { decryptSecret, encryptSecret } from '../../../../core/shared/secret-box.ts';
import type { Database } from '../../../../db/connection/database.ts';
import { ENCRYPTED_COLUMNS, rotateSecretKey } from '../../../../db/queries/upkeep/rotate-secret.ts';
import { fitsSecretKey } from '../../../../db/queries/upkeep/secret-canary.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/cluster/database.ts';
import { createMailbox } from '../../../support/rows/routing-rows.ts';

const KEYS = 250;
const before = randomBytes(32);
let testDatabase: TestDatabase;
let owner: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  owner = testDatabase.open(null);
});
afterAll(() => testDatabase.drop());

test('every encrypted column is rewritten', async () => {
  const { rows } = await owner.pool.query<{ name: string }>(
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = 'public' and column_name like '%ciphertext' and table_name <> 'secret_canary' order by 1`,
  );
  expect(ENCRYPTED_COLUMNS.map(({ table, column }) => `${table}.${column}`).toSorted()).toEqual(
    rows.map(({ name }) => name).toSorted(),
  );
});

test('a rotation goes on after it was killed, keeps values that were changed meanwhile, and ends the previous key', async () => {
  const { workspaceId } = await createMailbox(owner, { domain: 'rotated.test', address: 'a@rotated.test' });
  const domains = await owner.pool.query<{ id: string }>('select id from domain where workspace_id = $1', [
    workspaceId,
  ]);
  expect(await fitsSecretKey(owner, before, randomBytes)).toBe(true);
  await owner.pool.query('delete from dkim_key');
  for (let n = 0; n < KEYS; n++)
    await owner.pool.query(
      `insert into dkim_key (workspace_id, domain_id, selector, private_key_ciphertext, public_key) values ($1, $2, $3, $4, 'p')`,
      [workspaceId, domains.rows[0]?.id, `s${n}`, encryptSecret(before, 'dkim-key', `private ${n}`, randomBytes(12))],
    );
  const stranger = randomBytes(32);
  expect(await fitsSecretKey(owner, stranger, randomBytes)).toBe(false);
  const after = keepPreviousKey(randomBytes(32), before);
  // Both keys fit while the rotation runs.
  expect(await fitsSecretKey(owner, after, randomBytes)).toBe(true);
  expect(await fitsSecretKey(owner, before, randomBytes)).toBe(true);
  let count = 0;
  const killed = rotateSecretKey(owner, {
    secretKey: after,
    random: randomBytes,
    rewritten() {
      if (++count === 120) throw new Error('the process ends here');
    },
  });
  await expect(killed).rejects.toThrow('ends here');
  await owner.pool.query(`update dkim_key set private_key_ciphertext = $1 where selector = 's249'`, [
    encryptSecret(before, 'dkim-key', 'changed', randomBytes(12)),
  ]);
  const counts = await rotateSecretKey(owner, { secretKey: after, random: randomBytes });
  expect(counts['dkim_key']).toBe(KEYS - 120);
  const only = Buffer.from(after);
  const { rows } = await owner.pool.query<{ selector: string; ciphertext: string }>(
    'select selector, private_key_ciphertext as ciphertext from dkim_key',
  );
  const texts = new Map(
    rows.map(({ selector, ciphertext }) => [selector, decryptSecret(only, 'dkim-key', ciphertext)]),
  );
  expect([texts.get('s0'), texts.get('s130'), texts.get('s249')]).toEqual(['private 0', 'private 130', 'changed']);
  expect(await fitsSecretKey(owner, before, randomBytes)).toBe(false);
  expect(await fitsSecretKey(owner, only, randomBytes)).toBe(true);
  expect((await rotateSecretKey(owner, { secretKey: after, random: randomBytes }))['dkim_key']).toBe(0);
});

test('a value of neither key ends a rotation with an error, and both keys still fit', async () => {
  const present = keepPreviousKey(randomBytes(32), before);
  await owner.pool.query('delete from secret_canary');
  expect(await fitsSecretKey(owner, before, randomBytes)).toBe(true);
  expect(await fitsSecretKey(owner, present, randomBytes)).toBe(true);
  await owner.pool.query(`update dkim_key set private_key_ciphertext = $1 where selector = 's1'`, [
    encryptSecret(randomBytes(32), 'dkim-key', 'lost', randomBytes(12)),
  ]);
  await expect(rotateSecretKey(owner, { secretKey: present, random: randomBytes })).rejects.toThrow(
    'another SECRET_KEY',
  );
  expect(await fitsSecretKey(owner, before, randomBytes)).toBe(true);
});
