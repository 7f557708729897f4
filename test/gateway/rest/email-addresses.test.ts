import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertKey } from '../../support/rows/key-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

const HOOK = 'https://hooks.example.com/';
let gateway: TestGateway;
const changed: string[] = [];

beforeAll(async () => {
  gateway = await openTestGateway();
  gateway.bus.subscribe('routing.changed', ({ name }) => void changed.push(name));
});
afterAll(() => gateway.close());

const call = async (box: TestMailbox, method: string, path: string, body?: unknown) => {
  const response = await gateway.call(box.apiKey, method, path, body);
  return { status: response.statusCode, body: response.json() };
};
const post = (box: TestMailbox, path: string, body?: unknown) => call(box, 'POST', path, body);
const get = async (box: TestMailbox, path: string) => (await call(box, 'GET', path)).body;

let box: TestMailbox;
let domain: { id: string; name: string };

beforeAll(async () => {
  box = await gateway.mailbox({ endpointUrl: HOOK });
  domain = await addDomain(box.workspaceId, 'first.test');
});

/** Another domain of the user, with an address on it. */
async function addDomain(workspaceId: string, name: string, domainStatus: 'verified' | 'pending' = 'verified') {
  const { domainId } = await gateway.mailbox({ workspaceId, domain: name, address: `own@${name}`, domainStatus });
  return { id: domainId, name };
}

async function addEndpoint(owner: TestMailbox, more: object = {}): Promise<string> {
  const made = await post(owner, '/endpoints', { name: 'hook', type: 'webhook', config: { url: HOOK }, ...more });
  expect(made.status).toBe(201);
  return made.body.id;
}

const NOTHING_GIVEN = 'At least one field must be provided: endpointId, webhookId, isActive, policy, signature';

test('an address with an endpoint shows every documented field', async () => {
  const address = `Help.Desk@${domain.name.toUpperCase()}`;
  const made = await post(box, '/email-addresses', { address, domainId: domain.id, endpointId: box.endpointId });
  expect(made.status).toBe(201);
  expect(made.body).toEqual({
    id: expect.stringMatching(/^addr_/),
    address: address.toLowerCase(),
    domainId: domain.id,
    webhookId: null,
    endpointId: box.endpointId,
    isActive: true,
    isReceiptRuleConfigured: true,
    receiptRuleName: null,
    policy: null,
    policyUsage: null,
    signature: null,
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
    userId: box.workspaceId,
    domain: { id: domain.id, name: domain.name, status: 'verified' },
    routing: {
      type: 'endpoint',
      id: box.endpointId,
      name: 'test',
      config: expect.objectContaining({ url: HOOK }),
      isActive: true,
    },
  });
  expect(await get(box, `/email-addresses/${made.body.id}`)).toEqual(made.body);
  expect(changed).toContain(address.toLowerCase());
});

test('a signature is stored as text without blank lines around it, changed, and removed', async () => {
  const address = `signed@${domain.name}`;
  const made = await post(box, '/email-addresses', { address, domainId: domain.id, signature: '\r\n Ann\r\nLee \n\n' });
  expect(made.body.signature).toBe(' Ann\nLee');
  const path = `/email-addresses/${made.body.id}`;
  const change = (signature: string | null) => gateway.call(box.apiKey, 'PUT', path, { signature });
  expect((await change('Bob')).json().signature).toBe('Bob');
  const refused = await change('x'.repeat(2_001));
  expect([refused.statusCode, refused.body]).toEqual([400, expect.stringContaining('signature')]);
  expect(await get(box, path)).toMatchObject({ signature: 'Bob' });
  for (const none of [' \n', null]) expect((await change(none)).json().signature).toBe(null);
});

test('an address without an endpoint has routing of type none', async () => {
  const made = await post(box, '/email-addresses', {
    address: `quiet@${domain.name}`,
    domainId: domain.id,
    isActive: false,
  });
  expect(made.body).toMatchObject({
    isActive: false,
    isReceiptRuleConfigured: false,
    endpointId: null,
    routing: { type: 'none', id: null, name: null, isActive: false },
  });
});

test('an address whose mail does not arrive here has a warning', async () => {
  const elsewhere = await gateway.mailbox();
  await gateway.actor.pool.query('update domain set is_trusted = false where id = $1', [elsewhere.domainId]);
  expect(await get(elsewhere, `/email-addresses/${elsewhere.addressId}`)).toMatchObject({
    isActive: true,
    isReceiptRuleConfigured: false,
    warning: expect.stringContaining('MX'),
  });
  expect(await get(box, `/email-addresses/${box.addressId}`)).not.toHaveProperty('warning');
});

test('an invalid address is refused with its text', async () => {
  const other = await gateway.mailbox({ endpointUrl: HOOK });
  const inactive = await addEndpoint(box, { isActive: false });
  const forward = await addEndpoint(box, { type: 'email', config: { forwardTo: 'a@x.test' } });
  const pending = (await addDomain(box.workspaceId, 'not-yet.example', 'pending')).id;
  const address = `new@${domain.name}`;
  const domainId = domain.id;
  await post(box, '/email-addresses', { address: `taken@${domain.name}`, domainId });
  const cases: [object, number, string][] = [
    [{ address: 'nonsense', domainId }, 400, 'Invalid email address format'],
    [{ address: `two words@${domain.name}`, domainId }, 400, 'Invalid email address format'],
    [{ address: `a@b@${domain.name}`, domainId }, 400, 'Invalid email address format'],
    [{ address: `${'a'.repeat(65)}@${domain.name}`, domainId }, 400, 'Invalid email address format'],
    [{ address: `x\r\nBcc: y@${domain.name}`, domainId }, 400, 'Invalid email address format'],
    [{ address, domainId: other.domainId }, 404, 'Domain not found or access denied'],
    [{ address, domainId: 'dom_00000000000000000000000000000000' }, 404, 'Domain not found or access denied'],
    [{ address, domainId: "';" }, 404, 'Domain not found or access denied'],
    [{ address: 'new@elsewhere.test', domainId }, 400, `Email must belong to domain ${domain.name}`],
    [{ address: `new@sub.${domain.name}`, domainId }, 400, `Email must belong to domain ${domain.name}`],
    [{ address: 'new@not-yet.example', domainId: pending }, 400, 'Domain must be verified'],
    [{ address: `TAKEN@${domain.name}`, domainId }, 409, 'Email address already exists'],
    [{ address, domainId, endpointId: other.endpointId }, 404, 'Endpoint not found'],
    [{ address, domainId, endpointId: 'ep_00000000000000000000000000000000' }, 404, 'Endpoint not found'],
    [{ address, domainId, endpointId: inactive }, 400, 'Endpoint is not active'],
    [
      { address, domainId, endpointId: box.endpointId, webhookId: 'w' },
      400,
      'Cannot specify both endpoint and webhook',
    ],
    [{ address, domainId, webhookId: 'w' }, 404, 'Webhook not found'],
    [{ address, domainId, webhookId: forward }, 404, 'Webhook not found'],
    [{ address, domainId, webhookId: other.endpointId }, 404, 'Webhook not found'],
    [{ address, domainId, webhookId: inactive }, 400, 'Webhook is not active'],
  ];
  for (const [body, status, error] of cases) {
    const made = await post(box, '/email-addresses', body);
    expect([made.status, made.body.error], JSON.stringify(body)).toEqual([status, error]);
  }
  expect(
    (await get(box, `/email-addresses?domainId=${domainId}`)).data.map((each: { address: string }) => each.address),
  ).not.toContain(address);
});

test('a missing field is 400 and named', async () => {
  expect(await post(box, '/email-addresses', { address: 'a@b.test' })).toMatchObject({
    status: 400,
    body: { details: [{ field: 'domainId' }] },
  });
});

test('the list is filtered and counted', async () => {
  const owner = await gateway.mailbox();
  const other = await addDomain(owner.workspaceId, 'listed.test');
  for (const local of ['a', 'b', 'c'])
    await post(owner, '/email-addresses', {
      address: `${local}@listed.test`,
      domainId: other.id,
      isActive: local !== 'b',
    });
  const total = async (query: string) => (await get(owner, `/email-addresses?${query}`)).pagination.total;
  expect(await total('')).toBe(5);
  expect(await total(`domainId=${other.id}`)).toBe(4);
  expect(await total('domainId=dom_none')).toBe(0);
  expect(await total(`domainId=${box.domainId}`)).toBe(0);
  expect(await total('isActive=true')).toBe(4);
  expect(await total('isActive=false')).toBe(1);
  expect(await total('isReceiptRuleConfigured=false')).toBe(1);
  await gateway.actor.pool.query('update domain set is_trusted = false where id = $1', [other.id]);
  expect(await total('isReceiptRuleConfigured=true')).toBe(1);
  await gateway.actor.pool.query('update domain set is_mx_seen = true where id = $1', [other.id]);
  expect(await total('isReceiptRuleConfigured=true')).toBe(4);
  const every = (await get(owner, '/email-addresses')).data.map((address: { id: string }) => address.id);
  const page = await get(owner, '/email-addresses?limit=1&offset=1');
  expect(page.data.map((address: { id: string }) => address.id)).toEqual([every[1]]);
  expect(page.pagination).toEqual({ limit: 1, offset: 1, total: 5, hasMore: true });
  // Newest first: the one that the account began with comes last.
  expect(every.at(-1)).toBe(owner.addressId);
  expect((await call(owner, 'GET', '/email-addresses?isActive=maybe')).status).toBe(400);
});

describe('legacy routing', () => {
  test('accepts a webhook under its old name, and shows it under that name', async () => {
    const hook = await addEndpoint(box);
    const address = `legacy@${domain.name}`;
    const made = await post(box, '/email-addresses', { address, domainId: domain.id, webhookId: hook });
    expect(made).toMatchObject({
      status: 201,
      body: {
        webhookId: hook,
        endpointId: null,
        routing: { type: 'webhook', id: hook, name: 'hook', config: { url: HOOK }, isActive: true },
      },
    });
    expect((await get(box, `/endpoints/${hook}`)).associatedEmails).toMatchObject([{ address }]);
  });
});

describe.each(['PATCH', 'PUT'])('%s', (method) => {
  const change = (id: string, body: unknown) => call(box, method, `/email-addresses/${id}`, body);
  const make = async (more: object = {}) => {
    const address = `${method.toLowerCase()}${made++}@${domain.name}`;
    const { body, status } = await post(box, '/email-addresses', { address, domainId: domain.id, ...more });
    expect(status).toBe(201);
    return body as { id: string; address: string; updatedAt: string };
  };
  let made = 0;

  test('one kind of routing replaces the other', async () => {
    const hook = await addEndpoint(box);
    const { id } = await make({ endpointId: box.endpointId });
    const legacy = await change(id, { webhookId: hook });
    expect(legacy).toMatchObject({ status: 200, body: { endpointId: null, webhookId: hook } });
    expect(legacy.body.routing).toMatchObject({ type: 'webhook', id: hook });
    expect((await change(id, { endpointId: box.endpointId, webhookId: null })).body).toMatchObject({
      endpointId: box.endpointId,
      webhookId: null,
      routing: { type: 'endpoint', id: box.endpointId },
    });
    // What is not there is taken away without harm.
    expect((await change(id, { webhookId: null })).body.endpointId).toBe(box.endpointId);
    expect((await change(id, { endpointId: null })).body).toMatchObject({
      endpointId: null,
      webhookId: null,
      routing: { type: 'none', id: null, name: null, isActive: false },
    });
    expect(await get(box, `/email-addresses/${id}`)).toMatchObject({ endpointId: null, webhookId: null });
  });

  test('a disabled address accepts no mail, and receivers learn of it', async () => {
    const { id, address } = await make({ endpointId: box.endpointId });
    changed.length = 0;
    expect((await change(id, { isActive: false })).body).toMatchObject({
      isActive: false,
      isReceiptRuleConfigured: false,
      endpointId: box.endpointId,
    });
    expect(changed).toEqual([address]);
    expect((await change(id, { isActive: true })).body).toMatchObject({
      isActive: true,
      isReceiptRuleConfigured: true,
    });
  });

  test('an invalid change is refused with its text, and changes nothing', async () => {
    const other = await gateway.mailbox({ endpointUrl: HOOK });
    const inactive = await addEndpoint(box, { isActive: false });
    const before = await make({ endpointId: box.endpointId });
    const cases: [unknown, number, string][] = [
      [{}, 400, NOTHING_GIVEN],
      [{ address: 'new@first.test' }, 400, NOTHING_GIVEN],
      [{ endpointId: box.endpointId, webhookId: box.endpointId }, 400, 'Cannot specify both endpoint and webhook'],
      [{ endpointId: other.endpointId }, 404, 'Endpoint not found'],
      [{ endpointId: "';" }, 404, 'Endpoint not found'],
      [{ endpointId: '' }, 404, 'Endpoint not found'],
      [{ endpointId: inactive }, 400, 'Endpoint is not active'],
      [{ webhookId: other.endpointId }, 404, 'Webhook not found'],
      [{ webhookId: inactive, isActive: false }, 400, 'Webhook is not active'],
      [{ isActive: 'false' }, 400, 'Bad Request'],
      [{ isActive: null }, 400, 'Bad Request'],
      [{ endpointId: 7 }, 400, 'Bad Request'],
    ];
    for (const [body, status, error] of cases) {
      const response = await change(before.id, body);
      expect([response.status, response.body.error], JSON.stringify(body)).toEqual([status, error]);
    }
    expect(await get(box, `/email-addresses/${before.id}`)).toEqual(before);
  });

  test('an address of another user is not found, like an unknown one', async () => {
    const other = await gateway.mailbox();
    const responses = [];
    for (const id of [box.addressId, 'addr_00000000000000000000000000000000', 'x', "';"])
      responses.push(await call(other, method, `/email-addresses/${id}`, {}));
    expect(new Set(responses.map((response) => JSON.stringify(response))).size).toBe(1);
    expect(responses[0]).toMatchObject({ status: 404, body: { error: 'Email address not found' } });
  });
});

describe('deleting an address', () => {
  test('frees the name, for the user and all others, and returns the removed objects', async () => {
    const { body } = await post(box, '/email-addresses', { address: `gone@${domain.name}`, domainId: domain.id });
    changed.length = 0;
    expect(await call(box, 'DELETE', `/email-addresses/${body.id}`)).toEqual({
      status: 200,
      body: {
        success: true,
        message: 'Email address deleted successfully',
        id: body.id,
        cleanup: { emailAddress: body.address, domain: domain.name, sesRuleUpdated: true },
      },
    });
    expect(changed).toEqual([body.address]);
    expect((await call(box, 'GET', `/email-addresses/${body.id}`)).status).toBe(404);
    expect((await call(box, 'DELETE', `/email-addresses/${body.id}`)).status).toBe(404);
    const again = await post(box, '/email-addresses', { address: body.address, domainId: domain.id });
    expect(again.status).toBe(201);
    expect(again.body.id).not.toBe(body.id);
  });

  test('keeps another user’s address', async () => {
    const other = await gateway.mailbox();
    expect(await call(other, 'DELETE', `/email-addresses/${box.addressId}`)).toMatchObject({
      status: 404,
      body: { error: 'Email address not found' },
    });
    expect((await call(box, 'GET', `/email-addresses/${box.addressId}`)).status).toBe(200);
  });
});

describe('concurrent requests', () => {
  test('create one address, in any letter case, exactly once', async () => {
    const spellings = ['Same', 'same', 'SAME', 'sAme', 'saMe', 'samE', 'SAme', 'saME'];
    const responses = await Promise.all(
      spellings.map((local) =>
        post(box, '/email-addresses', { address: `${local}@${domain.name}`, domainId: domain.id }),
      ),
    );
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, ...Array(7).fill(409)]);
  });

  test('delete an endpoint and create an address, which never leads nowhere', async () => {
    for (let round = 0; round < 10; round++) {
      const endpointId = await addEndpoint(box);
      const address = `race${round}@${domain.name}`;
      const [made] = await Promise.all([
        post(box, '/email-addresses', { address, domainId: domain.id, endpointId }),
        call(box, 'DELETE', `/endpoints/${endpointId}`),
      ]);
      expect([201, 404]).toContain(made.status);
    }
    const { rows } = await gateway.actor.pool.query(
      `select a.address from email_address a where a.workspace_id = $1 and a.endpoint_id is not null
       and not exists (select from endpoint e where e.workspace_id = a.workspace_id and e.id = a.endpoint_id)`,
      [box.workspaceId],
    );
    expect(rows).toEqual([]);
  });
});

test('an address with a plus tag can exist beside its base address', async () => {
  for (const address of [`plus@${domain.name}`, `plus+tag@${domain.name}`])
    expect((await post(box, '/email-addresses', { address, domainId: domain.id })).status).toBe(201);
});

describe('reply addresses', () => {
  const readDomain = (of: TestMailbox) => of.address.split('@')[1] ?? '';

  test.each([
    [{ metadata: 'text' }, 'metadata'],
    [{ metadata: { text: 'x'.repeat(4_096) } }, 'metadata'],
    [{ metadata: { text: 'a\0b' } }, 'metadata'],
    [{ max_messages: 0 }, 'max_messages'],
    [{ max_messages: 1.5 }, 'max_messages'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    [{ senders: ['ann@elsewhere.test', 'no domain'] }, 'senders.1'],
    [{ senders: Array.from({ length: 101 }, (_, n) => `a${n}.test`) }, 'senders'],
    [{ domain: '' }, 'domain'],
  ])('%j is refused with its field', async (input, field) => {
    const mailbox = await gateway.mailbox();
    const response = await gateway.call(mailbox.apiKey, 'POST', '/reply-addresses', {
      domain: readDomain(mailbox),
      ...input,
    });
    expect(response.statusCode).toBe(400);
    expect(response.json().details).toMatchObject([{ field }]);
  });

  test('are shown with all their fields, and revoked with the scope send', async () => {
    const mailbox = await gateway.mailbox();
    const call = (method: string, path: string, body?: unknown) => gateway.call(mailbox.apiKey, method, path, body);
    const input = {
      domain: readDomain(mailbox),
      metadata: { order: 4711 },
      senders: ['Ann@Elsewhere.test'],
      max_messages: 5,
      expires_at: '2099-01-31T13:00:00+01:00',
      deliver_to: mailbox.address,
    };
    const made = await call('POST', '/reply-addresses', input);
    expect(made.statusCode).toBe(201);
    const body = made.json();
    expect(body).toEqual({
      ...input,
      object: 'reply_address',
      id: expect.stringMatching(/^rpl_/),
      address: expect.stringMatching(/^reply\+[a-z2-7]{58}@/),
      status: 'active',
      senders: ['ann@elsewhere.test'],
      expires_at: '2099-01-31T12:00:00.000Z',
      thread_id: null,
      message_count: 0,
      revoked_at: null,
      created_at: expect.any(String),
      warning: expect.stringContaining(`${mailbox.address} has none`),
    });
    expect((await call('GET', `/reply-addresses/${body.id}`)).json()).toEqual(body);
    const { warning: _, ...listed } = body;
    const revoked = (await call('DELETE', `/reply-addresses/${body.id}`)).json();
    expect(revoked).toEqual({ ...listed, status: 'revoked', revoked_at: expect.any(String) });
    expect((await call('DELETE', `/reply-addresses/${body.id}`)).json()).toEqual(revoked);
    expect((await call('GET', '/reply-addresses')).json()).toMatchObject({ data: [revoked], pagination: { total: 1 } });
  });

  test('warn of mail that reaches no endpoint, and say what to do', async () => {
    const mailbox = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/' });
    const { workspaceId, endpointId, addressId, domainId } = mailbox;
    const domain = readDomain(mailbox);
    const create = async (more: object = {}) => {
      const made = await gateway.call(mailbox.apiKey, 'POST', '/reply-addresses', { domain, ...more });
      expect(made.statusCode, made.body).toBe(201);
      const { warning = null } = made.json();
      return warning as string | null;
    };
    const change = (text: string, ...values: unknown[]) => gateway.actor.pool.query(text, values);
    const own = { deliver_to: mailbox.address };
    expect(await create(own)).toBeNull();
    expect(await create()).toBe(
      `Mail to this address is only stored, and no endpoint gets it: there is no address reply@${domain}, and the domain has no catch-all with an endpoint. Create reply@${domain} with an endpoint, or name another address in deliver_to.`,
    );
    await change(
      `update domain set is_catch_all_enabled = true, catch_all_endpoint_id = $2 where id = $1`,
      domainId,
      endpointId,
    );
    expect(await create(), 'the catch-all takes it').toBeNull();
    await change(`update endpoint set filter = '{"addresses":[],"domains":["other.test"]}' where id = $1`, endpointId);
    expect(await create()).toMatch(/the endpoint of the catch-all does not take it/);
    expect(await create(own)).toMatch(/the endpoint of .* does not take it\. Check its events and filter/);
    await change('update endpoint set filter = null, is_active = false where id = $1', endpointId);
    expect(await create(own)).toBe('Mail to this address is only stored, because its endpoint is disabled. Enable it.');
    await change('update email_address set is_active = false where id = $1', addressId);
    expect(await create(own)).toMatch(/is refused, because .* is disabled/);
    const lists = await gateway.call(mailbox.apiKey, 'GET', '/reply-addresses');
    expect(lists.body).not.toContain('warning');
    // A key that only sends learns nothing of endpoints.
    const sender = await insertKey(gateway.owner, { workspaceId }, { scopes: ['send'] });
    const made = await gateway.call(sender.secret, 'POST', '/reply-addresses', { domain });
    expect(made.statusCode).toBe(201);
    expect(made.body).not.toContain(endpointId);
  });
});
