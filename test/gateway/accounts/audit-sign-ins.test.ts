import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../../../db/queries/accounts/account.ts';
import { removeOldAuditEntries } from '../../../db/queries/accounts/audit-entry.ts';
import { eraseRows } from '../../../db/queries/accounts/erase-account.ts';
import { makeSignInLink } from '../../../db/queries/accounts/sign-in-link.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';

const PASSWORD = 'correct horse battery';
let gateway: TestGateway;
let accounts = 0;

beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(() => gateway.close());

async function makeAccount(): Promise<{ email: string; workspaceId: string }> {
  const email = `audited${accounts++}@example.com`;
  const made = await createAccount(gateway.owner, { email, password: PASSWORD, apiKey: null, mailbox: null });
  if (made.outcome !== 'created') throw new Error(made.outcome);
  const { rows } = await gateway.owner.pool.query('select id from person where email = $1', [email]);
  return { email, workspaceId: rows[0].id };
}

const signIn = async (email: string, password = PASSWORD): Promise<[BrowserSession, number]> => {
  const browser = openBrowser(gateway.app);
  return [browser, (await browser.auth('POST', '/sign-in/email', { email, password })).statusCode];
};

/** Returns the entries of an account in the order in which they were written. */
async function listEntries(workspaceId: string) {
  const { rows } = await gateway.owner.pool.query(
    `select action, actor_kind as kind, actor_id as actor, actor_name as name, client_address as address, is_denied as denied, reason, before, after
     from audit_entry where workspace_id = $1 order by created_at, id`,
    [workspaceId],
  );
  return rows;
}

describe('the audit log', () => {
  test('has an entry of each sign-in and sign-out', async () => {
    const { email, workspaceId } = await makeAccount();
    const [browser, status] = await signIn(email);
    expect(status).toBe(200);
    await browser.auth('POST', '/sign-out');
    const person = { kind: 'person', actor: workspaceId, name: email, denied: false };
    expect((await listEntries(workspaceId)).filter(({ action }) => action.startsWith('session'))).toMatchObject([
      { ...person, action: 'session.created', address: '127.0.0.1' },
      { ...person, action: 'session.deleted' },
    ]);
  });

  test('has an entry of a sign-in by a link', async () => {
    const { email, workspaceId } = await makeAccount();
    const token = await makeSignInLink(gateway.owner, email);
    const browser = openBrowser(gateway.app);
    expect((await browser.auth('POST', '/sign-in/link', { token })).statusCode).toBe(200);
    expect((await listEntries(workspaceId)).at(-1)).toMatchObject({
      action: 'session.created',
      kind: 'person',
      name: email,
    });
  });

  test('has an entry of a link that expired, and none of an unknown one', async () => {
    const { email, workspaceId } = await makeAccount();
    const token = await makeSignInLink(gateway.owner, email);
    await gateway.owner.pool.query(
      `update auth_verification set expires_at = now() - interval '1 hour' where value = $1`,
      [workspaceId],
    );
    for (const given of [token, 'x'.repeat(43)]) {
      const refused = await openBrowser(gateway.app).auth('POST', '/sign-in/link', { token: given });
      expect(refused.statusCode).toBeGreaterThanOrEqual(400);
    }
    const denied = (await listEntries(workspaceId)).filter(({ action }) => action === 'session.denied');
    expect(denied).toMatchObject([{ kind: 'person', actor: null, address: '127.0.0.1', denied: true }]);
  });

  test('has an entry of a passkey that is refused', async () => {
    const { workspaceId } = await makeAccount();
    await gateway.owner.pool.query(
      `insert into auth_passkey (id, person_id, name, public_key, credential_id, counter, device_type, backed_up)
       values ('pk_' || $1, $1, 'key', 'AAAA', 'credential-of-' || $1, 0, 'singleDevice', false)`,
      [workspaceId],
    );
    const verified = Buffer.alloc(37, 4).toString('base64url');
    const refused = await openBrowser(gateway.app).auth('POST', '/passkey/verify-authentication', {
      response: { id: `credential-of-${workspaceId}`, response: { authenticatorData: verified } },
    });
    expect(refused.statusCode).toBe(400);
    expect((await listEntries(workspaceId)).at(-1)).toMatchObject({
      action: 'session.denied',
      denied: true,
      actor: null,
    });
  });

  test('has an entry of each wrong password, and none of an account that does not exist', async () => {
    const { email, workspaceId } = await makeAccount();
    expect((await signIn(email, 'wrong horse battery'))[1]).not.toBe(200);
    expect((await signIn('nobody@example.com', 'wrong horse battery'))[1]).not.toBe(200);
    expect((await listEntries(workspaceId)).at(-1)).toMatchObject({
      action: 'session.denied',
      kind: 'person',
      actor: null,
      address: '127.0.0.1',
      denied: true,
      reason: 'Invalid email or password',
    });
    const { rows } = await gateway.owner.pool.query(`select from audit_entry where object_name = 'nobody@example.com'`);
    expect(rows).toEqual([]);
  });

  test('has an entry of a changed password, without the password', async () => {
    const { email, workspaceId } = await makeAccount();
    const [browser] = await signIn(email);
    const change = { currentPassword: PASSWORD, newPassword: 'another horse battery' };
    expect((await browser.auth('POST', '/change-password', change)).statusCode).toBe(200);
    const entry = (await listEntries(workspaceId)).find(({ action }) => action === 'password.updated');
    expect(entry).toMatchObject({
      actor: workspaceId,
      before: { password: '[redacted]' },
      after: { password: '[redacted]' },
    });
  });

  test('names the person who makes a change in the dashboard', async () => {
    const { email, workspaceId } = await makeAccount();
    const [browser] = await signIn(email);
    const created = await browser.graphql(
      'mutation { createApiKey(input: { name: "mine" }) { ... on CreateApiKeyPayload { secret } } }',
    );
    expect(created.json().errors).toBeUndefined();
    expect((await listEntries(workspaceId)).findLast(({ action }) => action === 'api_key.created')).toMatchObject({
      kind: 'person',
      actor: workspaceId,
      name: email,
      after: { name: 'mine', secret: '[redacted]' },
    });
  });

  test('has an entry of both members when the ownership is transferred', async () => {
    const { email, workspaceId } = await makeAccount();
    const other = await makeAccount();
    await gateway.owner.pool.query(
      `insert into workspace_member (workspace_id, person_id, role) values ($1, $2, 'admin')`,
      [workspaceId, other.workspaceId],
    );
    const [browser] = await signIn(email);
    const transfer = await browser.rest('POST', `/members/${other.workspaceId}/transfer`, {}, {});
    expect(transfer.statusCode, transfer.body).toBe(200);
    const members = (await listEntries(workspaceId)).filter(
      ({ action, actor }) => action.startsWith('member') && actor !== null,
    );
    expect(members.map(({ action, actor, after }) => [action, actor, after?.role])).toEqual(
      expect.arrayContaining([
        ['member.updated', workspaceId, 'owner'],
        ['member.updated', workspaceId, 'admin'],
      ]),
    );
  });

  test('has an entry of each export of the account, and is part of it', async () => {
    const { email, workspaceId } = await makeAccount();
    const [browser] = await signIn(email);
    expect((await browser.auth('GET', '/export')).statusCode).toBe(200);
    expect((await listEntries(workspaceId)).at(-1)).toMatchObject({
      action: 'account.exported',
      kind: 'person',
      name: email,
    });
  });

  test('ends with its account, and has no entry of what is erased', async () => {
    const { workspaceId, apiKey } = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/' });
    expect(apiKey).not.toBe('');
    await gateway.owner.pool.query(
      `select set_config('postroom.workspace_id', $1, false), close_account($1, interval '0')`,
      [workspaceId],
    );
    const last = (await listEntries(workspaceId)).at(-1);
    expect(last).toMatchObject({ action: 'workspace.erased', kind: 'system' });
    await eraseRows(gateway.actor, workspaceId);
    expect(await listEntries(workspaceId)).toEqual([]);
  });

  test('is kept for as many days as the setting says', async () => {
    const { workspaceId } = await gateway.mailbox();
    const before = await listEntries(workspaceId);
    expect(before.length).toBeGreaterThan(0);
    const shiftClock = (days: number) =>
      gateway.actor.pool.query(`update clock set shift = $1 * interval '1 day'`, [days]);
    try {
      await shiftClock(399);
      expect(await removeOldAuditEntries(gateway.actor, 400, 10_000)).toBe(0);
      await shiftClock(401);
      expect(await removeOldAuditEntries(gateway.actor, 400, 10_000)).toBeGreaterThanOrEqual(before.length);
    } finally {
      await shiftClock(0);
    }
    expect(await listEntries(workspaceId)).toEqual([]);
  });
});

describe('the export of the audit log', () => {
  const exported = async (key: string, query = '') => {
    const response = await gateway.call(key, 'GET', `/audit.ndjson${query}`);
    expect(response.statusCode, response.body.slice(0, 300)).toBe(200);
    return response.body
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  };

  test('has every entry once, in pieces, and its own entry', async () => {
    const { apiKey, workspaceId } = await gateway.mailbox();
    const { apiKey: otherKey } = await gateway.mailbox();
    await gateway.owner.pool.query(
      `insert into suppression (workspace_id, id, address, reason, created_at)
       select $1, 'sup_' || n, 'x' || n || '@elsewhere.test', 'manual', now() from generate_series(1, 450) n`,
      [workspaceId],
    );
    const entries = await exported(apiKey);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
    expect(entries).toHaveLength((await listEntries(workspaceId)).length);
    expect(entries[0]).toMatchObject({ object: 'audit_entry', action: 'audit.exported', actor_kind: 'key' });
    expect(await exported(apiKey, '?object_id=sup_7')).toMatchObject([{ action: 'suppression.created' }]);
    expect(await exported(otherKey, '?object_id=sup_7')).toEqual([]);
  });

  test('is refused to a key without the scope manage', async () => {
    const { workspaceId } = await gateway.mailbox();
    const { secret } = await insertKey(gateway.owner, { workspaceId }, { scopes: ['read'] });
    expect((await gateway.call(secret, 'GET', '/audit.ndjson')).statusCode).toBe(403);
  });
});
