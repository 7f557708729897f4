import { Inbound as FormerInbound, verifyWebhookFromHeaders as formerVerify } from '@inboundemail/sdk';
import Inbound, { BadRequestError, ConflictError, NotFoundError, verifyWebhookFromHeaders } from 'inboundemail';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { DomainAccount } from '../support/servers/service.ts';
import { type SharedService, sharedService } from '../support/servers/shared-service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { publishedClient, receiveMail } from './client-stage.ts';

const ID = expect.stringMatching(/^[a-z]+_[0-9a-f]{32}$/);
const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const TOKEN = expect.stringMatching(/^[0-9a-f]{64}$/);
/** An account of this file on the shared service. */
let stage: { service: SharedService; account: DomainAccount };
let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  const service = await sharedService('single');
  stage = { service, account: await service.createAccount() };
}, 300_000);
afterAll(() => receiver?.stop());

test('the clients are the published versions of the lock file', () => {
  expect(publishedClient('inboundemail').version).toBe('0.20.0');
  expect(publishedClient('@inboundemail/sdk').version).toBe('4.4.0');
});

describe('inboundemail', () => {
  let client: Inbound;
  beforeAll(() => {
    client = new Inbound({ apiKey: stage.account.apiKey, baseURL: stage.service.url });
  });

  test("an endpoint is created, listed, read, changed, tested and deleted, with every field of the client's types", async () => {
    const made = await client.endpoints.create({
      name: 'hook',
      type: 'webhook',
      description: 'd',
      config: { url: receiver.url, timeout: 10, retryAttempts: 0, headers: { 'X-Mine': 'a' } },
    });
    const shown = {
      id: ID,
      name: 'hook',
      type: 'webhook',
      description: 'd',
      config: {
        url: receiver.url,
        timeout: 10,
        retryAttempts: 0,
        headers: { 'X-Mine': 'a' },
        verificationToken: TOKEN,
      },
      isActive: true,
      groupEmails: null,
      userId: expect.any(String),
      createdAt: INSTANT,
      updatedAt: INSTANT,
      deliveryStats: { total: 0, successful: 0, failed: 0, lastDelivery: null },
    };
    expect(made).toMatchObject(shown);
    const listed = await client.endpoints.list({
      active: 'true',
      type: 'webhook',
      search: 'hook',
      sortBy: 'oldest',
      limit: '5',
      offset: '0',
    });
    expect(listed).toMatchObject({ data: [shown], pagination: { limit: 5, offset: 0, total: 1, hasMore: false } });
    expect(await client.endpoints.retrieve(made.id)).toMatchObject({
      ...shown,
      recentDeliveries: [],
      associatedEmails: [],
      catchAllDomains: [],
    });

    const changed = await client.endpoints.update(made.id, {
      name: 'renamed',
      config: { url: `${receiver.url}/in` },
      webhookFormat: 'discord',
    });
    expect(changed).toMatchObject({
      id: made.id,
      name: 'renamed',
      config: {
        url: `${receiver.url}/in`,
        verificationToken: (made.config as { verificationToken: string }).verificationToken,
      },
    });

    const before = receiver.requests.length;
    const tested = await client.endpoints.test(made.id, {
      webhookFormat: 'inbound',
      overrideUrl: `${receiver.url}/try`,
    });
    const request = (await receiver.received(before + 1)).at(-1);
    expect(tested).toEqual({
      success: true,
      message: 'Webhook responded successfully (200)',
      responseTime: expect.any(Number),
      statusCode: 200,
      responseBody: '',
      webhookFormat: 'inbound',
      urlTested: `${receiver.url}/try`,
      testPayload: JSON.parse(request?.body ?? ''),
    });
    expect(await verifyWebhookFromHeaders(request?.headers ?? {}, client)).toBe(true);

    const address = await client.emailAddresses.create({
      address: `led@${stage.account.domain}`,
      domainId: stage.account.domainId,
      endpointId: made.id,
    });
    expect(await client.endpoints.delete(made.id)).toMatchObject({
      message: expect.any(String),
      cleanup: {
        emailAddressesUpdated: 1,
        emailAddresses: [address.address],
        domainsUpdated: 0,
        domains: [],
        groupEmailsDeleted: 0,
        deliveriesDeleted: 0,
      },
    });
    await expect(client.endpoints.retrieve(made.id)).rejects.toThrow(NotFoundError);
  });

  test('an address is created, changed and deleted, and its mail goes to its endpoint', async () => {
    const endpoint = await client.endpoints.create({ name: 'in', type: 'webhook', config: { url: receiver.url } });
    const made = await client.emailAddresses.create({
      address: `Moved@${stage.account.domain}`,
      domainId: stage.account.domainId,
    });
    const shown = {
      id: made.id,
      address: `moved@${stage.account.domain}`,
      domainId: stage.account.domainId,
      domain: { id: stage.account.domainId, name: stage.account.domain, status: 'verified' },
      isActive: true,
      isReceiptRuleConfigured: true,
      receiptRuleName: null,
      policy: null,
      policyUsage: null,
      signature: null,
      userId: expect.any(String),
      createdAt: INSTANT,
      updatedAt: INSTANT,
    };
    expect(made).toEqual({
      ...shown,
      endpointId: null,
      webhookId: null,
      routing: { type: 'none', id: null, name: null, isActive: false },
    });
    await expect(
      client.emailAddresses.create({ address: made.address, domainId: stage.account.domainId }),
    ).rejects.toThrow(ConflictError);
    const led = await client.emailAddresses.update(made.id, { webhookId: endpoint.id });
    expect(led).toMatchObject({ ...shown, routing: { type: 'webhook', id: endpoint.id, isActive: true } });

    const before = receiver.requests.length;
    const emailId = await receiveMail(stage, made.address, { subject: 'By the former name' });
    const request = (await receiver.received(before + 1)).at(-1);
    expect(JSON.parse(request?.body ?? '').email.id).toBe(emailId);
    expect(await verifyWebhookFromHeaders(request?.headers ?? {}, client)).toBe(true);

    await expect(
      client.emailAddresses.update(made.id, { endpointId: endpoint.id, webhookId: endpoint.id }),
    ).rejects.toThrow(BadRequestError);
    expect(await client.emailAddresses.update(made.id, { endpointId: endpoint.id })).toMatchObject({
      endpointId: endpoint.id,
      webhookId: null,
      routing: { type: 'endpoint' },
    });
    expect(await client.emailAddresses.delete(made.id)).toMatchObject({
      message: expect.any(String),
      cleanup: { emailAddress: made.address, domain: stage.account.domain, sesRuleUpdated: true },
    });
    await expect(client.emailAddresses.retrieve(made.id)).rejects.toThrow(NotFoundError);
  });
});

describe('@inboundemail/sdk', () => {
  let client: FormerInbound;
  // The client warns of its own deprecated names.
  beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => undefined));
  afterEach(() => void vi.restoreAllMocks());
  beforeAll(async () => {
    const account = await stage.service.createAccount();
    client = new FormerInbound(account.apiKey, `${stage.service.url}/api/v2`);
  });

  test('endpoints are created, listed, read, changed, tested without a body and deleted', async () => {
    const config = { url: receiver.url, timeout: 30, retryAttempts: 3 };
    const { data: made } = await client.endpoint.create({ name: 'hook', type: 'webhook', config });
    expect(made).toMatchObject({ id: ID, name: 'hook', isActive: true, config: { verificationToken: TOKEN } });
    const id = made?.id ?? '';
    expect((await client.endpoint.list({ active: 'true' })).data).toMatchObject({
      data: [{ id, deliveryStats: { total: 0 } }],
      pagination: { total: 1 },
    });
    expect((await client.endpoint.update(id, { name: 'renamed', isActive: true })).data).toMatchObject({
      name: 'renamed',
    });
    const before = receiver.requests.length;
    expect((await client.endpoint.test(id)).data).toMatchObject({ success: true, responseTime: expect.any(Number) });
    const headers = new Headers((await receiver.received(before + 1)).at(-1)?.headers as Record<string, string>);
    expect(await formerVerify(headers, client)).toBe(true);
    headers.set('x-webhook-verification-token', 'f'.repeat(64));
    expect(await formerVerify(headers, client)).toBe(false);
    expect((await client.endpoint.delete(id)).data).toMatchObject({ cleanup: { emailAddresses: [] } });
    expect(await client.endpoint.get(id)).toEqual({ error: 'Endpoint not found' });
  });

  test('createForwarder creates an endpoint that forwards; a timeout in milliseconds is refused with a text', async () => {
    const { data } = await client.createForwarder('from@x.test', 'to@away.test');
    expect(data).toMatchObject({ type: 'email', config: { forwardTo: 'to@away.test', preserveHeaders: false } });
    expect(
      await client.endpoint.create({
        name: 'x',
        type: 'webhook',
        config: { url: receiver.url, timeout: 30_000, retryAttempts: 3 },
      }),
    ).toEqual({ error: 'Invalid configuration' });
  });
});
