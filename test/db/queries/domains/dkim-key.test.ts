import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decryptSecret } from '../../../../core/shared/secret-box.ts';
import type { Database } from '../../../../db/connection/database.ts';
import { findSigningKey } from '../../../../db/queries/domains/dkim-key.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/cluster/database.ts';
import { TEST_DKIM_PRIVATE_KEY, TEST_DKIM_SELECTOR } from '../../../support/mail/dkim-test-key.ts';
import { createMailbox, type TestMailbox } from '../../../support/rows/routing-rows.ts';

const secretKey = randomBytes(32);
let test_: TestDatabase;
let actor: Database;
let owner: Database;

beforeAll(async () => {
  test_ = await createTestDatabase();
  actor = test_.open('postroom_actor');
  owner = test_.open(null);
});
afterAll(() => test_.drop());

let domains = 0;
async function domain(
  options: { name?: string; workspaceId?: string; status?: 'pending'; hasKey?: boolean } = {},
): Promise<TestMailbox & { name: string }> {
  const name = options.name ?? `x${domains++}.test`;
  const { workspaceId, status = 'verified', hasKey = true } = options;
  const box = await createMailbox(owner, {
    domain: name,
    address: `a@${name}`,
    domainStatus: status,
    ...(workspaceId === undefined ? {} : { workspaceId }),
    ...(hasKey ? { dkim: { secretKey } } : {}),
  });
  return { ...box, name };
}
const addKey = (box: TestMailbox, selector: string, createdAt: string, retiredAt: string | null = null) =>
  owner.pool.query(
    `insert into dkim_key (workspace_id, domain_id, selector, private_key_ciphertext, public_key, created_at, activated_at, retired_at)
     values ($1, $2, $3, 'sealed', 'public', $4, $4, $5)`,
    [box.workspaceId, box.domainId, selector, createdAt, retiredAt],
  );

test('the key of a domain is found and decrypted', async () => {
  const { workspaceId, name } = await domain();
  const key = await findSigningKey(actor, workspaceId, [name, 'test']);
  expect(key).toEqual({ domain: name, selector: TEST_DKIM_SELECTOR, privateKeyCiphertext: expect.any(String) });
  expect(decryptSecret(secretKey, 'dkim-key', key?.privateKeyCiphertext ?? '')).toBe(TEST_DKIM_PRIVATE_KEY);
});

test('the newest key that is not retired signs', async () => {
  const box = await domain({ hasKey: false });
  await addKey(box, 'old', '2026-01-01');
  await addKey(box, 'new', '2026-02-01');
  await addKey(box, 'newest', '2026-03-01', '2026-04-01');
  expect(await findSigningKey(actor, box.workspaceId, [box.name])).toMatchObject({ selector: 'new' });
});

test('a domain signs with its own key rather than with its parent’s, and without one with the nearest', async () => {
  const root = await domain();
  const { workspaceId } = root;
  const middle = `b.${root.name}`;
  await domain({ name: middle, workspaceId });
  await domain({ name: `a.${middle}`, workspaceId, hasKey: false });
  const readSigner = async (names: string[]) => (await findSigningKey(actor, workspaceId, names))?.domain;
  expect(await readSigner([middle, root.name])).toBe(middle);
  expect(await readSigner([`a.${middle}`, middle, root.name])).toBe(middle);
  expect(await readSigner([`c.${root.name}`, root.name])).toBe(root.name);
});

test('the key of another user’s domain, or of an unverified one, does not sign', async () => {
  const theirs = await domain();
  const mine = await domain({ name: `sub.${theirs.name}`, hasKey: false });
  const pending = await domain({ status: 'pending', workspaceId: mine.workspaceId });
  expect(await findSigningKey(actor, mine.workspaceId, [mine.name, theirs.name])).toBeNull();
  expect(await findSigningKey(actor, mine.workspaceId, [pending.name])).toBeNull();
});
