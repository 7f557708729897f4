import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

// What a key may access, from its creation to the end of the last address. What it is shown: key-inboxes.attack.ts and key-domains.attack.ts.
let gateway: TestGateway;
let box: TestMailbox;
/** another address of the domain, and an address of another domain */
let second: { id: string; address: string };
let other: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
});
beforeEach(async () => {
  box = await gateway.mailbox();
  other = await gateway.mailbox({ workspaceId: box.workspaceId });
  second = await addAddress('second');
});
afterAll(() => gateway.close());

const readDomain = (mailbox: TestMailbox) => mailbox.address.split('@')[1] ?? '';
const LATER = new Date(Date.now() + 86_400_000).toISOString();
const mail = (from: string, more: object = {}) => ({
  from,
  to: ['bob@elsewhere.test'],
  subject: 'x',
  text: 'x',
  ...more,
});

async function addAddress(local: string): Promise<{ id: string; address: string }> {
  const address = `${local}@${readDomain(box)}`;
  const made = await gateway.call(box.apiKey, 'POST', '/email-addresses', { address, domain_id: box.domainId });
  expect(made.statusCode, made.body).toBe(201);
  return { id: made.json().id, address };
}

async function create(body: object, as = box.apiKey): Promise<{ id: string; token: string }> {
  const made = await gateway.call(as, 'POST', '/api-keys', { name: 'inbox', ...body });
  expect(made.statusCode, made.body).toBe(201);
  return made.json();
}
const change = (id: string, body: object) => gateway.call(box.apiKey, 'PATCH', `/api-keys/${id}`, body);
const shown = async (id: string) => {
  const { status, domains, addresses } = (await gateway.call(box.apiKey, 'GET', `/api-keys/${id}`)).json();
  return { status, domains: domains?.map((each: { name: string }) => each.name) ?? null, addresses };
};
const works = async (token: string) => (await gateway.call(token, 'GET', '/emails')).statusCode;

describe('a key of addresses', () => {
  test('is created with several domains and addresses, by id and by name, in any case', async () => {
    const { id } = await create({ domains: [readDomain(other)], addresses: [second.id, box.address.toUpperCase()] });
    expect(await shown(id)).toEqual({
      status: 'active',
      domains: [readDomain(other)],
      addresses: [second.address, box.address],
    });
  });

  test('sends from its addresses only, and sees what it sent', async () => {
    const { token } = await create({ addresses: [box.address] });
    const sent = await gateway.call(token, 'POST', '/emails', mail(box.address));
    expect(sent.statusCode, sent.body).toBe(200);
    expect((await gateway.call(token, 'GET', `/emails/${sent.json().id}`)).statusCode).toBe(200);
    for (const from of [second.address, other.address, `hello+tag@${readDomain(box)}`, `x${box.address}`]) {
      const message = `This API key can send from ${box.address} only, not from ${from}.`;
      const refused = await gateway.call(token, 'POST', '/emails', mail(from));
      expect([refused.statusCode, refused.json()], from).toEqual([
        403,
        expect.objectContaining({ message, code: 'limited_to_address', addresses: [box.address] }),
      ]);
      const draft = await gateway.call(token, 'POST', '/drafts', { kind: 'new', from, subject: 'x' });
      expect(draft.statusCode, draft.body).toBe(403);
    }
  });

  test('keeps a draft without a sender to itself, and a key of the other address does not see it', async () => {
    const { token } = await create({ addresses: [box.address] });
    const { token: stranger } = await create({ addresses: [second.address] });
    const draft = await gateway.call(token, 'POST', '/drafts', { kind: 'new', subject: 'Without sender' });
    expect(draft.statusCode, draft.body).toBe(201);
    const { id } = draft.json();
    expect((await gateway.call(token, 'GET', `/drafts/${id}`)).statusCode).toBe(200);
    expect((await gateway.call(stranger, 'GET', `/drafts/${id}`)).statusCode).toBe(404);
  });

  test('neither creates keys nor changes its own reach', async () => {
    const { id, token } = await create({ addresses: [box.address] });
    for (const response of [
      await gateway.call(token, 'POST', '/api-keys', { name: 'wider' }),
      await gateway.call(token, 'PATCH', `/api-keys/${id}`, { addresses: [second.address] }),
    ])
      expect([response.statusCode, response.json().code]).toEqual([403, 'insufficient_scope']);
  });

  test('counts only mail of its addresses when it has a domain and an address of another domain', async () => {
    for (const [ownAddress, at] of [
      [box.address, 1],
      [second.address, 2],
      [other.address, 3],
    ] as const)
      await insertMail(gateway.actor, [
        { workspaceId: box.workspaceId, ownAddress, threadId: `th_${box.workspaceId}_${at}`, threadPosition: 1 },
      ]);
    const totals = async (body: object) => {
      const { token } = await create(body);
      return (await gateway.call(token, 'GET', '/emails?time_range=all')).json().pagination.total;
    };
    expect(await totals({ domains: [readDomain(box)] })).toBe(2);
    expect(await totals({ addresses: [box.address] })).toBe(1);
    expect(await totals({ domains: [readDomain(box)], addresses: [box.address] })).toBe(2);
    expect(await totals({ domains: [readDomain(other)], addresses: [second.address] })).toBe(2);
    expect(await totals({})).toBe(3);
  });
});

describe('the reach of a key', () => {
  test('shrinks and never grows', async () => {
    const { id, token } = await create({ addresses: [box.address, second.address] });
    expect((await change(id, { addresses: [second.address] })).statusCode).toBe(200);
    expect(await shown(id)).toEqual({ status: 'active', domains: [], addresses: [second.address] });
    expect((await gateway.call(token, 'POST', '/emails', mail(box.address))).statusCode).toBe(403);
    for (const body of [
      { addresses: [box.address] },
      { domains: [readDomain(box)] },
      { domains: [readDomain(other)] },
    ]) {
      const refused = await change(id, body);
      const message = `A key can only lose domains and addresses, and this key is limited to ${second.address}. Create a new key.`;
      expect([refused.statusCode, refused.json().details]).toEqual([400, [{ field: 'domains', message }]]);
    }
    expect((await change(id, { addresses: [] })).statusCode).toBe(400);
    expect(await shown(id)).toEqual({ status: 'active', domains: [], addresses: [second.address] });
  });

  test('of a domain becomes that of its addresses', async () => {
    const { id, token } = await create({ domains: [readDomain(box)] });
    expect((await change(id, { addresses: [second.address] })).statusCode).toBe(200);
    expect(await shown(id)).toEqual({ status: 'active', domains: [], addresses: [second.address] });
    expect((await gateway.call(token, 'GET', '/domains')).json().data).toEqual([]);
  });

  test('is asked for together with scopes that a limited key can have', async () => {
    const { id } = await create({ scopes: ['read', 'manage'] });
    const refused = await change(id, { addresses: [box.address] });
    expect([refused.statusCode, refused.json().details[0].field]).toEqual([400, 'scopes']);
    expect((await change(id, { addresses: [box.address], scopes: ['read'] })).statusCode).toBe(200);
  });

  test('is taken from the keys that it created, and keys without a rest are revoked', async () => {
    const parent = await create({ scopes: ['read', 'send', 'manage'] });
    const whole = await create({ scopes: ['read', 'manage'] }, parent.token);
    const domain = await create({ scopes: ['read'], domains: [readDomain(box), readDomain(other)] }, parent.token);
    const foreign = await create({ scopes: ['read'], domains: [readDomain(other)] }, parent.token);
    const inbox = await create({ scopes: ['read'], addresses: [second.address, box.address] }, whole.token);
    expect((await change(parent.id, { scopes: ['read', 'send'], addresses: [second.address] })).statusCode).toBe(200);
    const rest = { status: 'active', domains: [], addresses: [second.address] };
    for (const { id } of [parent, whole, domain, inbox]) expect(await shown(id)).toEqual(rest);
    expect(await shown(foreign.id)).toMatchObject({ status: 'revoked' });
    expect(await works(foreign.token)).toBe(401);
    expect(await works(inbox.token)).toBe(200);
  });

  test('stops what a key set up for the whole account', async () => {
    const { id, token } = await create({ scopes: ['read', 'send', 'manage'] });
    const endpoint = await gateway.call(token, 'POST', '/endpoints', {
      name: 'hook',
      type: 'webhook',
      config: { url: 'https://hooks.example.com/' },
    });
    expect(endpoint.statusCode, endpoint.body).toBe(201);
    expect((await change(id, { scopes: ['read', 'send'], domains: [readDomain(box)] })).statusCode).toBe(200);
    const { rows } = await gateway.actor.pool.query('select is_active, inactive_reason from endpoint where id = $1', [
      endpoint.json().id,
    ]);
    expect(rows).toEqual([
      { is_active: false, inactive_reason: expect.stringContaining('was limited to domains or addresses') },
    ]);
  });

  test('pauses scheduled mail that is no longer within it', async () => {
    const { id, token } = await create({ addresses: [box.address, second.address] });
    const schedule = async (from: string) =>
      (await gateway.call(token, 'POST', '/emails', mail(from, { scheduled_at: LATER }))).json().id as string;
    const [kept, lost] = [await schedule(second.address), await schedule(box.address)];
    expect((await change(id, { addresses: [second.address] })).statusCode).toBe(200);
    const readStatus = async (email: string) =>
      (await gateway.call(box.apiKey, 'GET', `/emails/${email}`)).json().status as string;
    expect([await readStatus(kept), await readStatus(lost)]).toEqual(['scheduled', 'paused']);
  });
});

describe('the end of an address or a domain', () => {
  test('takes it from keys, and revokes keys without a rest', async () => {
    const both = await create({ addresses: [box.address, second.address] });
    const last = await create({ addresses: [second.address] });
    expect((await gateway.call(box.apiKey, 'DELETE', `/email-addresses/${second.id}`)).statusCode).toBe(200);
    expect(await shown(both.id)).toEqual({ status: 'active', domains: [], addresses: [box.address] });
    expect(await shown(last.id)).toEqual({ status: 'revoked', domains: [], addresses: [second.address] });
    expect([await works(both.token), await works(last.token)]).toEqual([200, 401]);
    // An address of the same name is another address.
    await addAddress('second');
    expect(await works(last.token)).toBe(401);
    expect(await shown(both.id)).toEqual({ status: 'active', domains: [], addresses: [box.address] });
  });

  test('of one domain leaves a key its other domain', async () => {
    const both = await create({ domains: [readDomain(box), readDomain(other)] });
    await gateway.owner.pool.query('delete from email_address where domain_id = $1', [other.domainId]);
    expect((await gateway.call(box.apiKey, 'DELETE', `/domains/${other.domainId}`)).statusCode).toBe(200);
    expect(await shown(both.id)).toEqual({ status: 'active', domains: [readDomain(box)], addresses: [] });
  });
});

test('50 changes of a key at once leave it no address that one of them took', async () => {
  const { id } = await create({ addresses: [box.address, second.address] });
  const bodies = Array.from({ length: 50 }, (_, at) =>
    at % 2 === 0 ? { addresses: [second.address] } : { addresses: [box.address, second.address] },
  );
  const responses = await Promise.all(bodies.map((body) => change(id, body)));
  expect(new Set(responses.map(({ statusCode }) => statusCode)).has(500)).toBe(false);
  expect(await shown(id)).toEqual({ status: 'active', domains: [], addresses: [second.address] });
});

test('a key inserted with an unknown address finds nothing', async () => {
  const { secret } = await insertKey(gateway.owner, box, { scopes: ['read'], addresses: ['unknown@elsewhere.test'] });
  const list = await gateway.call(secret, 'GET', '/emails?time_range=all');
  expect([list.statusCode, list.json().data]).toEqual([200, []]);
});

test('a key of an address counts events up to 10,000 of those that it may see', async () => {
  const { secret } = await insertKey(gateway.owner, box, { scopes: ['read'], addresses: [box.address] });
  const { workspaceId } = box;
  const append = async (mailbox: TestMailbox, count: number) => {
    const [emailId] = await insertMail(gateway.actor, [{ workspaceId, ownAddress: mailbox.address }]);
    await gateway.owner.pool.query(
      `select append_events($1, jsonb_agg(jsonb_build_object('id', $2::text || n, 'kind', 'email.read', 'emailId', $2::text))) from generate_series(1, $3) n`,
      [workspaceId, emailId, count],
    );
  };
  const countFor = async (key: string) =>
    (await gateway.graphql(key, '{ events(first: 1) { totalCount } }')).json().data.events.totalCount;
  const before = await countFor(secret);
  await append(other, 10);
  expect(await countFor(secret)).toBe(before);
  await append(box, 5);
  expect(await countFor(secret)).toBe(before + 5);
  await append(box, 10_000);
  expect(await countFor(secret)).toBe(10_000);
  expect(await countFor(box.apiKey)).toBeGreaterThan(10_014);
});
