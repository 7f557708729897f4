import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { insertThread } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
});
beforeEach(async () => {
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

async function call(method: string, path: string, body?: object) {
  const response = await gateway.call(box.apiKey, method, path, body);
  return { status: response.statusCode, body: response.json() };
}

describe('an ID in the body', () => {
  test('of a new address is taken as domain_id and domainId', async () => {
    const domain = box.address.split('@')[1];
    for (const [field, name] of [
      ['domainId', 'camel'],
      ['domain_id', 'snake'],
    ] as const) {
      const made = await call('POST', '/email-addresses', { address: `${name}@${domain}`, [field]: box.domainId });
      expect([field, made.status, made.body.warnings]).toEqual([field, 201, undefined]);
      expect(made.body).toMatchObject({ domainId: box.domainId, address: `${name}@${domain}` });
    }
  });

  test('of an email is taken as email_ids and emailIds, threads as thread_ids and threadIds', async () => {
    const { threadId, emailIds } = await insertThread(gateway.actor, {
      workspaceId: box.workspaceId,
      count: 2,
      lastMessageAt: new Date(),
    });
    expect((await call('POST', '/emails/bulk', { emailIds, is_read: true })).status).toBe(200);
    expect((await call('POST', '/mail/threads/bulk', { threadIds: [threadId], is_read: true })).status).toBe(200);
  });

  test('of a nested object is taken in both forms', async () => {
    const endpoint = await call('POST', '/endpoints', {
      name: 'x',
      type: 'webhook',
      config: { url: 'https://hooks.example/x' },
    });
    const rule = (action: object) => ({
      name: 'r',
      type: 'explicit',
      config: { subject: { operator: 'OR', values: ['x'] } },
      action: { action: 'route', ...action },
    });
    for (const field of ['endpointId', 'endpoint_id'])
      expect((await call('POST', '/guard', rule({ [field]: endpoint.body.id }))).status, field).toBe(201);
  });

  test('under both names at once is refused, whatever its values', async () => {
    const { domainId } = box;
    const { status, body } = await call('POST', '/email-addresses', {
      address: 'a@b.test',
      domainId,
      domain_id: domainId,
    });
    expect([status, body.message]).toEqual([400, '`domainId` and `domain_id` are the same field. Give one of them.']);
  });

  test('keeps an inherited name, and other fields stay unchanged', async () => {
    const { status, body } = await call('POST', '/email-addresses', {
      address: 'a@b.test',
      domainId: box.domainId,
      is_active: true,
    });
    expect([status, body.warnings]).toEqual([400, [{ field: 'is_active', message: expect.any(String) }]]);
  });
});

test('a query parameter that is an ID is taken in both forms', async () => {
  for (const name of ['domainId', 'domain_id']) {
    const found = await call('GET', `/email-addresses?${name}=${box.domainId}`);
    expect([name, found.status, found.body.warnings, found.body.data.length]).toEqual([name, 200, undefined, 1]);
    const none = await call('GET', `/email-addresses?${name}=indm_${'0'.repeat(32)}`);
    expect([name, none.body.data]).toEqual([name, []]);
  }
});

describe('an empty variable in the path', () => {
  test.each([
    ['POST', '/emails//reply', 'id'],
    ['GET', '/emails//deliveries', 'id'],
    ['GET', '/attachments//file.txt', 'id'],
    ['POST', '/mail/threads//claim', 'id'],
    ['GET', '/domains//dmarc-reports/x', 'id'],
    ['GET', '/nothing//here', 'ID'],
  ])('in %s %s is 400 and says so', async (method, path, name) => {
    const { status, body } = await call(method, path, method === 'GET' ? undefined : {});
    expect([status, body.name]).toEqual([400, 'validation_error']);
    expect(body.message).toContain(`\`${name}\` in the path is empty: /api/e2${path}.`);
  });

  test('at the end of a path that lists objects is named where the method is not allowed', async () => {
    for (const method of ['DELETE', 'PATCH']) {
      const { status, body } = await call(method, '/emails/', method === 'PATCH' ? {} : undefined);
      expect([status, body.message]).toEqual([405, expect.stringContaining('an ID may be missing')]);
    }
  });
});

describe('the name of a conflict', () => {
  test('is thread_claimed for a claimed thread, and claim_lost for a claim that does not hold', async () => {
    const { threadId } = await insertThread(gateway.actor, {
      workspaceId: box.workspaceId,
      count: 1,
      lastMessageAt: new Date(),
    });
    await call('POST', `/mail/threads/${threadId}/claim`, { holder: 'one' });
    const second = await call('POST', `/mail/threads/${threadId}/claim`, { holder: 'two' });
    expect([second.status, second.body.name, second.body.code]).toEqual([409, 'thread_claimed', 'THREAD_CLAIMED']);
    const lost = await call('POST', `/mail/threads/${threadId}/claim/release`, { token: 'clm_x' });
    expect([lost.status, lost.body.name]).toEqual([409, 'claim_lost']);
  });

  test('is address_exists for an address that exists', async () => {
    const { status, body } = await call('POST', '/email-addresses', { address: box.address, domainId: box.domainId });
    expect([status, body.name, body.error]).toEqual([409, 'address_exists', 'Email address already exists']);
  });

  test('of a domain stays the one that the resend client knows', async () => {
    const { status, body } = await call('POST', '/domains', { domain: box.address.split('@')[1] });
    expect([status, body.name, body.code]).toEqual([409, 'validation_error', 'DOMAIN_ALREADY_REGISTERED']);
  });
});
