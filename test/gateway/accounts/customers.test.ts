import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkRecipient } from '../../../actors/receiving/check-recipient.ts';
import { settleKeys } from '../../../actors/scheduling/settle-expired-keys.ts';
import type { Scope } from '../../../core/accounts/key-rights.ts';
import { measureStoredBytes } from '../../../db/queries/accounts/customer.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { recipientCheck } from '../../support/rows/sent-mail.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

const TRUSTED = 'customers.test';
let gateway: TestGateway;
/** the product, and another one */
let product: TestMailbox;
let rival: TestMailbox;
let names = 0;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { trustedDomains: [`*.${TRUSTED}`] } });
});
beforeEach(async () => {
  product = await gateway.mailbox();
  rival = await gateway.mailbox();
});
afterAll(() => gateway.close());

const call = (method: string, path: string, body?: unknown, as = product.apiKey) =>
  gateway.call(as, method, path, body);
const create = (body: object, as = product.apiKey) => call('POST', '/workspaces', body, as);
const mail = (from: string) => ({ from, to: ['bob@elsewhere.test'], subject: 'x', text: 'x' });

async function makeCustomer(body: object = {}) {
  const made = await create({ client_id: `customer-${names++}`, ...body });
  expect(made.statusCode, made.body).toBe(201);
  const id: string = made.json().id;
  return { id, key: await makeKey(id) };
}
async function makeKey(id: string, scopes: readonly Scope[] = ['read', 'send', 'manage'], as = product.apiKey) {
  const made = await call('POST', `/workspaces/${id}/api-keys`, { name: 'customer', scopes }, as);
  expect(made.statusCode, made.body).toBeLessThan(300);
  return made.json().token as string;
}
async function addAddress(key: string) {
  const domain = `d${names++}.${TRUSTED}`;
  const added = await call('POST', '/domains', { domain }, key);
  expect(added.statusCode, added.body).toBe(201);
  const address = `hello@${domain}`;
  const made = await call('POST', '/email-addresses', { address, domain_id: added.json().id }, key);
  expect(made.statusCode, made.body).toBe(201);
  return { address, domainId: added.json().id as string };
}
const verdict = async (address: string) => {
  const given = await checkRecipient(recipientCheck(gateway.actor), address, 'ann@elsewhere.test');
  return given.verdict === 'accept' ? given.workspaceId : `${given.code} ${given.enhancedCode}`;
};

describe('a workspace for a customer', () => {
  test('is created once for a customer, by 50 requests at once', async () => {
    const made = await Promise.all(
      Array.from({ length: 50 }, () => create({ client_id: 'customer-42', name: 'Smith' })),
    );
    expect(new Set(made.map(({ statusCode }) => statusCode))).toEqual(new Set([201]));
    expect(new Set(made.map((each) => each.json().id)).size).toBe(1);
    const again = await create({ client_id: 'customer-42', name: 'Other', quotas: { domains: 1 } });
    expect(again.json()).toMatchObject({ object: 'workspace', client_id: 'customer-42', name: 'Smith', quotas: null });
    const list = await call('GET', '/workspaces?client_id=customer-42');
    expect(list.json().data, list.body).toHaveLength(1);
    // Another product has a customer of its own with that ID.
    const theirs = await create({ client_id: 'customer-42' }, rival.apiKey);
    expect(theirs.json().id).not.toBe(again.json().id);
  });

  test.each([
    ['POST', '', { client_id: 'misspelled', quota: { domains: 1 } }, 'quota'],
    ['POST', '', { client_id: 'misspelled', quotas: { domain: 1 } }, 'quotas.domain'],
    ['PATCH', '/ID', { name: 'Smith', suspended: true }, 'suspended'],
    ['POST', '/ID/tokens', { rights: ['read'], origins: ['https://a.test'], address: ['a@a.test'] }, 'address'],
    ['POST', '/ID/api-keys', { name: 'key', scopes: ['read'], expires: '2030-01-01T00:00:00Z' }, 'expires'],
  ] as const)('is refused by %s /workspaces%s with %j, because %s is unknown', async (method, path, body, field) => {
    const { id } = await makeCustomer();
    const refused = await call(method, `/workspaces${path.replace('ID', id)}`, body);
    expect([refused.statusCode, refused.json().details]).toEqual([400, [{ field, message: 'Unknown field' }]]);
  });

  test('needs the scope workspaces, and the right of the parent alone', async () => {
    const manages = await insertKey(gateway.owner, product, { scopes: ['read', 'send', 'manage', 'approve'] });
    const refused = await create({ client_id: 'x' }, manages.secret);
    expect([refused.statusCode, refused.json().requiredScope]).toEqual([403, 'workspaces']);
    const { id, key } = await makeCustomer();
    for (const [method, path, body] of [
      ['GET', `/workspaces/${id}`],
      ['GET', `/workspaces/${id}/usage`],
      ['POST', `/workspaces/${id}/tokens`, { rights: ['read'], origins: ['https://app.example.com'] }],
      ['PATCH', `/workspaces/${id}`, { name: 'x' }],
      ['DELETE', `/workspaces/${id}`],
      ['POST', `/workspaces/${id}/api-keys`, { name: 'x', scopes: ['read'] }],
    ] as const) {
      expect((await call(method, path, body, rival.apiKey)).statusCode, `${method} ${path}`).toBe(404);
      expect((await call(method, path, body, key)).statusCode, `${method} ${path}`).toBe(403);
    }
    expect((await call('GET', `/workspaces/${id}`)).json().status).toBe('active');
  });

  test('has mail, domains and keys of its own, which the parent does not see', async () => {
    const { id, key } = await makeCustomer();
    const { address } = await addAddress(key);
    expect(await verdict(address)).toBe(id);
    const sent = await call('POST', '/emails', mail(address), key);
    expect(sent.statusCode, sent.body).toBe(200);
    expect((await call('GET', `/emails/${sent.json().id}`)).statusCode).toBe(404);
    expect((await call('POST', '/emails', mail(address))).statusCode).toBe(403);
    const domain = address.split('@')[1];
    expect((await call('POST', '/domains', { domain })).statusCode).toBe(409);
  });

  test('gives no key more scopes than the key that creates it, and ends with that key', async () => {
    const { id } = await makeCustomer();
    const parent = await insertKey(gateway.owner, product, { scopes: ['read', 'workspaces'] });
    const wide = await call(
      'POST',
      `/workspaces/${id}/api-keys`,
      { name: 'x', scopes: ['read', 'send'] },
      parent.secret,
    );
    expect([wide.statusCode, wide.json().code]).toEqual([403, 'insufficient_scope']);
    const nested = await call('POST', `/workspaces/${id}/api-keys`, { name: 'x', scopes: ['workspaces'] });
    expect([nested.statusCode, nested.json().details[0].field]).toEqual([400, 'scopes']);
    // A key that lost the scope a moment ago, and whose rights this gateway knew before.
    const late = await insertKey(gateway.owner, product, { scopes: ['read', 'workspaces'] });
    expect((await call('GET', `/workspaces/${id}`, undefined, late.secret)).statusCode).toBe(200);
    await gateway.owner.pool.query(`update api_key set scopes = '{read}' where id = $1`, [late.id]);
    const narrowed = await call('POST', `/workspaces/${id}/api-keys`, { name: 'x', scopes: ['read'] }, late.secret);
    expect([narrowed.statusCode, narrowed.json().code]).toEqual([403, 'insufficient_scope']);
    const key = await makeKey(id, ['read'], parent.secret);
    expect((await call('GET', '/emails', undefined, key)).statusCode).toBe(200);
    expect((await call('DELETE', `/api-keys/${parent.id}`)).statusCode).toBe(200);
    // Of another gateway than this one, which may know the key for three seconds more.
    const { rows } = await gateway.actor.pool.query('select * from credential_owner(sha256($1))', [Buffer.from(key)]);
    expect(rows).toEqual([]);
  });

  describe('whose key is created by a key of the parent', () => {
    /** A customer with a key that a parent's key of these scopes created, and a webhook, a scheduled email and a key of that key. */
    async function makeByKey() {
      const { id } = await makeCustomer();
      const parent = await insertKey(gateway.owner, product, { scopes: ['read', 'send', 'manage', 'workspaces'] });
      const key = await makeKey(id, ['read', 'send', 'manage'], parent.secret);
      const { address } = await addAddress(key);
      const hook = { name: 'x', type: 'webhook', config: { url: 'https://hooks.example.com/' } };
      const endpointId = (await call('POST', '/endpoints', hook, key)).json().id as string;
      const later = { ...mail(address), scheduled_at: new Date(Date.now() + 86_400_000).toISOString() };
      const emailId = (await call('POST', '/emails', later, key)).json().id as string;
      const child = (await call('POST', '/api-keys', { name: 'child', scopes: ['read', 'manage'] }, key)).json()
        .token as string;
      const watcher = await makeKey(id);
      return { id, parentId: parent.id, key, child, address, endpointId, emailId, watcher };
    }
    type Made = Awaited<ReturnType<typeof makeByKey>>;
    const readScopes = async (key: string) => {
      const { rows } = await gateway.actor.pool.query('select scopes from credential_owner(sha256($1))', [
        Buffer.from(key),
      ]);
      return rows[0]?.scopes ?? null;
    };
    const stored = async ({ endpointId, emailId, watcher }: Made) => [
      (await call('GET', `/endpoints/${endpointId}`, undefined, watcher)).json().isActive,
      (await call('GET', `/emails/${emailId}`, undefined, watcher)).json().status,
    ];
    const settle = () => settleKeys(testActorContext(gateway.actor));

    test('loses that key, those that it created, and what it set up when the parent revokes its own', async () => {
      const made = await makeByKey();
      // Those of other tests.
      await settle();
      expect((await call('DELETE', `/api-keys/${made.parentId}`)).statusCode).toBe(200);
      expect([await readScopes(made.key), await readScopes(made.child)]).toEqual([null, null]);
      // The key of the parent, too: its browser tokens may have scheduled mail of the customer.
      expect(await settle()).toBe(3);
      expect(await stored(made)).toEqual([false, 'paused']);
      expect(await settle()).toBe(0);
      const kinds = (await call('GET', '/events', undefined, made.watcher))
        .json()
        .data.map(({ kind }: { kind: string }) => kind);
      expect(kinds).toEqual(expect.arrayContaining(['endpoint.disabled', 'email.paused']));
    });

    test('loses the scopes that the key of the parent loses, with what needs them', async () => {
      const made = await makeByKey();
      await call('PATCH', `/api-keys/${made.parentId}`, { scopes: ['send', 'manage', 'workspaces'] });
      expect([await readScopes(made.key), await readScopes(made.child)]).toEqual([['send', 'manage'], ['manage']]);
      await settle();
      expect(await stored(made)).toEqual([false, 'scheduled']);
    });

    test('loses that key when the key of the parent may keep no workspaces, or expires earlier', async () => {
      const [ended, shortened] = [await makeByKey(), await makeByKey()];
      await call('PATCH', `/api-keys/${ended.parentId}`, { scopes: ['read', 'send', 'manage'] });
      expect(await readScopes(ended.key)).toBeNull();
      const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
      await call('PATCH', `/api-keys/${shortened.parentId}`, { expires_at: expiresAt });
      const keys = (await call('GET', '/api-keys', undefined, shortened.watcher)).json().data;
      expect(keys.map(({ expires_at: at }: { expires_at: string | null }) => at)).toEqual(
        expect.arrayContaining([expiresAt]),
      );
      await settle();
      expect([await stored(ended), await stored(shortened)]).toEqual([
        [false, 'paused'],
        [true, 'scheduled'],
      ]);
    });

    test('keeps both when the key of the parent is revoked with keep_configuration', async () => {
      const made = await makeByKey();
      expect((await call('DELETE', `/api-keys/${made.parentId}?keep_configuration=true`)).statusCode).toBe(200);
      expect([await readScopes(made.key), await readScopes(made.child)]).toEqual([
        ['read', 'send', 'manage'],
        ['read', 'manage'],
      ]);
      await settle();
      expect(await stored(made)).toEqual([true, 'scheduled']);
    });

    test('has mail approved by a key of another key of the parent only', async () => {
      const { id } = await makeCustomer();
      const scopes: Scope[] = ['read', 'send', 'manage', 'approve', 'workspaces'];
      const [one, other] = [
        await insertKey(gateway.owner, product, { scopes }),
        await insertKey(gateway.owner, product, { scopes }),
      ];
      const [agent, approver, stranger] = [
        await makeKey(id, ['read', 'send', 'manage'], one.secret),
        await makeKey(id, ['read', 'approve'], one.secret),
        await makeKey(id, ['read', 'approve'], other.secret),
      ];
      const { address } = await addAddress(agent);
      const limited = (
        await call('POST', '/api-keys', { name: 'x', scopes: ['send'], policy: { approval: 'always' } }, agent)
      ).json();
      const sent = (await call('POST', '/emails', mail(address), limited.token)).json();
      const refused = await call('POST', `/emails/${sent.id}/approve`, {}, approver);
      expect(refused.statusCode, refused.body).toBe(403);
      expect((await call('POST', `/emails/${sent.id}/approve`, {}, stranger)).statusCode).toBe(200);
    });
  });

  test('shows what it used and what it has', async () => {
    const { id, key } = await makeCustomer();
    const { address } = await addAddress(key);
    await insertMail(gateway.actor, [
      { workspaceId: id, ownAddress: address, threadId: 'th_usage', threadPosition: 1, raw: Buffer.from('ten bytes!') },
    ]);
    expect((await call('POST', '/emails', mail(address), key)).statusCode).toBe(200);
    const shown = (await call('GET', `/workspaces/${id}/usage`)).json();
    expect(shown).toMatchObject({ domains: 1, addresses: 1, rows_left: null });
    expect(shown.stored_bytes).toBeGreaterThan(10);
    expect(shown.days).toEqual([expect.objectContaining({ mail_in: 1, mail_out: 1 })]);
  });
});

describe('a quota', () => {
  test('of domains and addresses refuses what is more, and names what is left', async () => {
    const { id, key } = await makeCustomer({ quotas: { domains: 1, addresses: 1 } });
    const { domainId, address } = await addAddress(key);
    const second = await call('POST', '/domains', { domain: `more${names++}.${TRUSTED}` }, key);
    expect([second.statusCode, second.json()]).toEqual([
      403,
      expect.objectContaining({ code: 'quota_exceeded', quota: 'domains', limit: 1, used: 1, left: 0 }),
    ]);
    const other = { address: `other@${address.split('@')[1]}`, domain_id: domainId };
    expect((await call('POST', '/email-addresses', other, key)).json()).toMatchObject({ quota: 'addresses' });
    expect((await call('PATCH', `/workspaces/${id}`, { quotas: { domains: 1, addresses: 2 } })).statusCode).toBe(200);
    expect((await call('POST', '/email-addresses', other, key)).statusCode).toBe(201);
  });

  test('of domains holds for 20 requests at once', async () => {
    const { key } = await makeCustomer({ quotas: { domains: 2 } });
    const added = await Promise.all(
      Array.from({ length: 20 }, () => call('POST', '/domains', { domain: `at${names++}.${TRUSTED}` }, key)),
    );
    expect(added.filter(({ statusCode }) => statusCode === 201)).toHaveLength(2);
  });

  test('of mail refuses what is sent and defers what comes in, and one below what is used takes effect at once', async () => {
    const { id, key } = await makeCustomer({ quotas: { mail_per_day: 2 } });
    const { address } = await addAddress(key);
    expect((await call('POST', '/emails', mail(address), key)).statusCode).toBe(200);
    expect(await verdict(address)).toBe(id);
    const batch = await call('POST', '/emails/batch', { emails: [mail(address), mail(address)] }, key);
    expect([batch.statusCode, batch.json()]).toMatchObject([403, { quota: 'mail_per_day', used: 1, left: 1 }]);
    expect((await call('POST', '/emails', mail(address), key)).statusCode).toBe(200);
    expect((await call('POST', '/emails', mail(address), key)).statusCode).toBe(403);
    expect(await verdict(address)).toBe('452 4.2.2');
    expect((await call('PATCH', `/workspaces/${id}`, { quotas: { mail_per_day: 1 } })).statusCode).toBe(200);
    expect((await call('POST', '/emails', mail(address), key)).json()).toMatchObject({ limit: 1, used: 2, left: 0 });
    expect((await call('PATCH', `/workspaces/${id}`, { quotas: null })).statusCode).toBe(200);
    expect((await call('POST', '/emails', mail(address), key)).statusCode).toBe(200);
    expect(await verdict(address)).toBe(id);
  });

  test('of stored bytes refuses what is sent and defers what comes in once it was measured, until there is room', async () => {
    const { id, key } = await makeCustomer({ quotas: { stored_bytes: 2_000 } });
    const { address } = await addAddress(key);
    expect((await call('POST', '/emails', mail(address), key)).statusCode).toBe(200);
    const measure = async () => {
      await gateway.owner.pool.query(
        `update workspace set stored_at = stored_at - interval '2 minutes' where id = $1`,
        [id],
      );
      while ((await measureStoredBytes(gateway.actor)) > 0);
      const { rows } = await gateway.owner.pool.query('select stored_bytes from workspace where id = $1', [id]);
      return Number(rows[0].stored_bytes);
    };
    const one = await measure();
    expect(one).toBeGreaterThan(100);
    expect(await verdict(address)).toBe(id);
    const large = { ...mail(address), text: 'x'.repeat(3_000) };
    expect((await call('POST', '/emails', large, key)).statusCode).toBe(200);
    expect(await measure()).toBeGreaterThan(one + 3_000);
    expect(await verdict(address)).toBe('452 4.2.2');
    const refused = await call('POST', '/emails', mail(address), key);
    expect([refused.statusCode, refused.json()]).toEqual([
      403,
      expect.objectContaining({ code: 'quota_exceeded', quota: 'stored_bytes', limit: 2_000, left: 0 }),
    ]);
    expect((await call('PATCH', `/workspaces/${id}`, { quotas: { stored_bytes: 5e9 } })).statusCode).toBe(200);
    expect(await verdict(address)).toBe(id);
    expect((await call('POST', '/emails', mail(address), key)).statusCode).toBe(200);
  });

  test('of stored bytes is measured again only where something happened', async () => {
    const { id, key } = await makeCustomer({ quotas: { stored_bytes: 2_000 } });
    while ((await measureStoredBytes(gateway.actor)) > 0);
    const age = () =>
      gateway.owner.pool.query(`update workspace set stored_at = stored_at - interval '2 minutes' where id = $1`, [id]);
    await age();
    expect(await measureStoredBytes(gateway.actor)).toBe(0);
    const { address } = await addAddress(key);
    await call('POST', '/emails', mail(address), key);
    expect(await measureStoredBytes(gateway.actor)).toBe(1);
  });

  test.for([
    [{ stored_bytes: -1 }],
    [{ stored_bytes: 1e16 }],
    [{ stored_bytes: 'much' }],
    [{ mail_per_day: -1 }],
    [{ domains: 1.5 }],
    [{ addresses: '3' }],
    [{ mails: 3 }],
  ])('is checked: %o', async ([quotas], { expect: check }) => {
    check((await create({ client_id: `bad-${names++}`, quotas })).statusCode).toBe(400);
  });
});

test('a suspended workspace refuses its keys and defers its mail until it is resumed', async () => {
  const { id, key } = await makeCustomer();
  const { address } = await addAddress(key);
  expect((await call('PATCH', `/workspaces/${id}`, { is_suspended: true })).json().status).toBe('suspended');
  const refused = await call('GET', '/emails', undefined, key);
  expect([refused.statusCode, refused.json().code]).toEqual([403, 'workspace_suspended']);
  expect(await verdict(address)).toBe('450 4.2.1');
  expect((await call('PATCH', `/workspaces/${id}`, { is_suspended: false })).json().status).toBe('active');
  expect((await call('GET', '/emails', undefined, key)).statusCode).toBe(200);
  expect(await verdict(address)).toBe(id);
});

test('a deleted workspace ends at once, is shown until it is erased, and frees the ID of its customer', async () => {
  const { id, key } = await makeCustomer({ client_id: 'leaving' });
  const { address } = await addAddress(key);
  expect((await call('POST', '/emails', mail(address), key)).statusCode).toBe(200);
  const deleted = await call('DELETE', `/workspaces/${id}`);
  expect(deleted.statusCode, deleted.body).toBe(200);
  expect((await call('GET', '/emails', undefined, key)).statusCode).toBe(401);
  expect(await verdict(address)).toBe('550 5.7.1');
  expect((await call('GET', `/workspaces/${id}`)).json().status).toBe('deleting');
  const { rows_left: rowsLeft, stored_bytes: storedBytes } = (await call('GET', `/workspaces/${id}/usage`)).json();
  expect([rowsLeft > 0, storedBytes]).toEqual([true, null]);
  expect((await create({ client_id: 'leaving' })).json().id).not.toBe(id);
  expect((await call('POST', `/workspaces/${id}/api-keys`, { name: 'x', scopes: ['read'] })).statusCode).toBe(404);
});
