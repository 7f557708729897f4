import { randomBytes } from 'node:crypto';
import { Inbound as Sdk } from '@inboundemail/sdk';
import Inboundemail from 'inboundemail';
import { Resend } from 'resend';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { listMethods } from '../support/clients/record-client.ts';
import { until } from '../support/servers/service.ts';
import type { SharedService } from '../support/servers/shared-service.ts';
import { SmtpClient } from '../support/servers/smtp-client.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { SendingStage, type SharedGround, type StageAccount } from '../support/stages/sending-stage.ts';
import { receiveMail } from './client-stage.ts';
import { findTypeDifferences, type Outcome, recordCalls, type TypedResponse } from './response-types.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 300_000 });

let stage: SendingStage<SharedGround>;
/** of the domains that the clients add */
const zones = new Map<string, ReturnType<SharedService['openZone']>>();
let receiver: WebhookReceiver;
let account: StageAccount;
let sender: string;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  stage = await SendingStage.share('single', 'types-peer.test');
  for (const apex of ['typed.example', 'inbound.example', 'setup.example', 'sdk.example'])
    zones.set(apex, stage.service.openZone(apex));
  account = stage.account;
  sender = await stage.createAddress('hello');
});
afterAll(async () => {
  await stage?.stop();
  await receiver?.stop();
});
// @inboundemail/sdk warns of its own deprecated names.
beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => undefined));
afterEach(() => void vi.restoreAllMocks());

const anHourAhead = () => new Date(Date.now() + 3_600_000).toISOString();
const plain = () => ({ from: sender, to: 'bob@types-peer.test', subject: 'Hi', text: 'Hello' });
const FILES = [
  { filename: 'plan.txt', content: 'the plan' },
  { filename: false as const, content: 'nameless', contentType: 'application/pdf' },
  { filename: 'logo.png', content: 'PNG', cid: 'logo@types-peer.test', contentType: 'image/png' },
];

/** A mail with as much as mails have, one with little, and one with nothing. */
async function receiveEach(to = sender): Promise<[full: string, least: string, bare: string]> {
  return [
    await receiveMail(stage, to, {
      subject: 'A plan',
      text: 'Words',
      html: '<p>Words',
      cc: 'Eve <eve@types-peer.test>',
      replyTo: 'answers@types-peer.test',
      inReplyTo: '<before@types-peer.test>',
      references: ['<before@types-peer.test>'],
      priority: 'high',
      attachments: FILES,
    }),
    await receiveMail(stage, to, { from: 'ada@types-peer.test', subject: '', text: 'x' }),
    await receiveBare(to),
  ];
}

/** A mail whose header section is a Message-ID alone. */
async function receiveBare(to: string): Promise<string> {
  const messageId = `<${randomBytes(8).toString('hex')}@types-peer.test>`;
  const client = await SmtpClient.greet(stage.service.smtpPort);
  expect((await client.deliver(`Message-ID: ${messageId}\r\n\r\nx\r\n.\r\n`, [to])).code).toBe(250);
  client.destroy();
  let found: { id: string; thread_id: string | null } | undefined;
  await until(
    'the mail has its thread',
    () => stage.service.output.slice(-2_000),
    async () => {
      const { body } = await account.call('GET', '/emails?type=received&limit=100');
      found = body.data.find((email: { message_id: string }) => email.message_id === messageId);
      return found?.thread_id != null;
    },
  );
  return found?.id ?? '';
}

/** The type of what a method resolves with. */
const resolved = (client: string, method: string) =>
  `Awaited<ReturnType<${client}${method
    .split('.')
    .map((name) => `['${name}']`)
    .join('')}>>`;

const methodsIn = (outcomes: readonly Outcome[]) => new Set(outcomes.map(({ method }) => method));

test('a difference of any kind is found', async () => {
  const type =
    "{ id: string; at: Date; kind: 'a' | 'b'; note: string | null; more?: number; maybe: string | undefined }";
  const good = { id: '1', at: '2026-11-22T00:00:00Z', kind: 'a', note: null, excess: true };
  const { id: _id, ...withoutId } = good;
  const differences = [
    withoutId,
    { ...good, id: null },
    { ...good, kind: 'c' },
    { ...good, more: null },
    { ...good, maybe: null },
    { ...good, id: 1 },
  ].map((value, at) => ({ name: `case ${at}`, type, value }));
  const ofType = [good, { ...good, more: 1, maybe: 'x' }].map((value, at) => ({ name: `good ${at}`, type, value }));
  const found = (await findTypeDifferences([...ofType, ...differences])).map((text) => text.slice(0, 6));
  expect(found).toEqual(differences.map(({ name }) => name));
});

/** Of `resend`: what it calls for which the service has no counterpart. Each of them is answered 404 or, where its path is another's, differs. */
const RESEND_NOT_SERVED =
  /^(?:segments|audiences|apiKeys|automations|broadcasts|contactProperties|contacts|domains\.claims|inboxes|oauthGrants|templates|topics|usage|events)\.|^emails\.(?:share|metrics)$|^emails\.receiving\.forward|^domains\.update$/;
/** Of `resend`: parts of its own methods, and what all of them go by. */
const RESEND_INNER = new Set(
  'logError fetchRequest post get put patch delete emails.receiving.forwardPassthrough emails.receiving.forwardWrapped emails.receiving.downloadRaw'.split(
    ' ',
  ),
);

test('resend: the response of each method has its type', async () => {
  const outcomes: Outcome[] = [];
  const bare = new Resend(account.apiKey, { baseUrl: `${stage.service.url}/api/e2` });
  const client = recordCalls(bare, outcomes);
  const readData = <T>({ data, error }: { data: T; error: unknown }): NonNullable<T> =>
    data ?? expect.fail(JSON.stringify(error));

  const attachments = [{ filename: 'a.txt', content: Buffer.from('one') }];
  const full = readData(
    await client.emails.send({
      ...plain(),
      from: `Ada <${sender}>`,
      cc: 'carl@types-peer.test',
      bcc: 'blind@types-peer.test',
      replyTo: 'answers@types-peer.test',
      html: '<p>Hello',
      headers: { 'X-Order': '1' },
      tags: [{ name: 'kind', value: 'order' }],
      attachments,
    }),
  );
  const { text: _text, ...htmlOnly } = { ...plain(), html: '<p>Only' };
  const least = readData(await client.emails.create(htmlOnly));
  const scheduled = readData(await client.emails.send({ ...plain(), scheduledAt: 'in 1 hour' }));
  await stage.awaitStatus(full.id, 'delivered');
  for (const { id } of [full, least, scheduled]) readData(await client.emails.get(id));
  readData(await client.emails.list());
  readData(await client.emails.list({ limit: 2 }));
  readData(await client.emails.update({ id: scheduled.id, scheduledAt: anHourAhead() }));
  readData(await client.emails.cancel(scheduled.id));
  readData(await client.emails.get(scheduled.id));
  const sentFiles = readData(await client.emails.attachments.list({ emailId: full.id }));
  readData(await client.emails.attachments.get({ emailId: full.id, id: sentFiles.data[0]?.id ?? '' }));
  readData(await client.batch.send([plain(), plain()]));
  readData(await client.batch.create([plain()]));

  const received = await receiveEach();
  for (const id of received) {
    readData(await client.emails.receiving.get(id));
    readData(await client.emails.get(id));
    const files = readData(await client.emails.receiving.attachments.list({ emailId: id }));
    for (const file of files.data)
      readData(await client.emails.receiving.attachments.get({ emailId: id, id: file.id }));
  }
  readData(await client.emails.receiving.list());
  readData(await client.emails.list());

  const domain = readData(await client.domains.create({ name: 'typed.example' }));
  readData(await client.domains.list());
  readData(await client.domains.get(domain.id));
  readData(await client.domains.get(account.domainId));
  readData(await client.domains.verify(domain.id));
  readData(await client.domains.remove(domain.id));

  const added = readData(await client.suppressions.add({ email: 'unwanted@types-peer.test' }));
  readData(await client.suppressions.list());
  readData(await client.suppressions.get(added.id));
  readData(await client.suppressions.remove('unwanted@types-peer.test'));
  const emails = ['one@types-peer.test', 'two@types-peer.test'];
  readData(await client.suppressions.batch.add({ emails }));
  readData(await client.suppressions.batch.remove({ emails }));

  const key = readData(await client.apiKeys.create({ name: 'typed', permission: 'sending_access' }));
  readData(await client.apiKeys.list());
  readData(await client.apiKeys.update(key.id, { name: 'renamed' }));
  readData(await client.apiKeys.remove(key.id));
  readData(await client.oauthGrants.list());

  const events = ['email.received', 'email.delivered', 'email.opened', 'domain.updated'] as const;
  const hook = readData(await client.webhooks.create({ endpoint: receiver.url, events: [...events] }));
  receiver.respond([500]);
  readData(await client.emails.send({ ...plain(), subject: 'Posted by its delivery' }));
  const webhookId = hook.id;
  await receiver.until((requests) => requests.some(({ body }) => body.includes('Posted by its delivery')));
  const posted = readData(await client.webhooks.events.list({ webhookId, limit: 5 }));
  for (const { id: eventId } of posted.data) {
    readData(await client.webhooks.events.get({ webhookId, eventId }));
    readData(await client.webhooks.events.attempts.list({ webhookId, eventId }));
  }
  const eventId = posted.data[0]?.id ?? '';
  readData(await client.webhooks.events.replay({ webhookId, eventId }));
  receiver.respond([200]);
  readData(await client.webhooks.list());
  readData(await client.webhooks.get(hook.id));
  readData(await client.webhooks.update(hook.id, { events: ['email.bounced'], status: 'disabled' }));
  readData(await client.webhooks.get(hook.id));
  readData(await client.webhooks.rotateSigningSecret(hook.id));
  readData(await client.webhooks.remove(hook.id));
  const logged = readData(await client.logs.list({ limit: 5 }));
  for (const { id } of logged.data) readData(await client.logs.get(id));

  // What is not served is an error of the type that the client has for errors, and so is each other error.
  const errors: Outcome[] = [];
  const failing = recordCalls(bare, errors);
  const { segments, audiences, automations, broadcasts, contactProperties, contacts, templates } = failing;
  const { topics, inboxes } = failing;
  for (const lists of [segments, audiences, automations, broadcasts, contactProperties, contacts])
    expect((await lists.list()).error?.statusCode).toBe(501);
  for (const lists of [templates, topics, inboxes]) expect((await lists.list()).error?.statusCode).toBe(501);
  await failing.webhooks.events.get({ webhookId: hook.id, eventId: 'dlv_unknown' });
  await failing.webhooks.create({ endpoint: receiver.url, events: ['email.opened'] });
  await failing.webhooks.get(hook.id);
  await failing.logs.get('req_unknown');
  expect((await failing.usage.get()).error?.statusCode).toBe(501);
  await failing.emails.get('em_unknown');
  await failing.emails.send({ ...plain(), to: 'nonsense' });
  await failing.emails.send({ ...plain(), from: 'a@types-peer.test' });
  await failing.domains.create({ name: account.domain });
  const idempotencyKey = randomBytes(8).toString('hex');
  readData(await bare.emails.send(plain(), { idempotencyKey }));
  await failing.emails.send({ ...plain(), text: 'Other' }, { idempotencyKey });
  const keyless = recordCalls(new Resend('wrong', { baseUrl: `${stage.service.url}/api/e2` }), errors);
  await keyless.emails.list();

  const served = listMethods(bare).filter((method) => !RESEND_NOT_SERVED.test(method) && !RESEND_INNER.has(method));
  expect(served.filter((method) => !methodsIn(outcomes).has(method))).toEqual(['webhooks.verify']);
  const responses = outcomes.map(({ method, value }): TypedResponse => {
    const { data } = value as { data: unknown };
    return { name: method, type: `NonNullable<${resolved('Resend', method)}['data']>`, value: data };
  });
  for (const { method, value } of errors) {
    const { error } = value as { error: unknown };
    // The client has no name for what a server does not serve.
    if ((error as { name?: string } | null)?.name === 'not_implemented') continue;
    const type = `NonNullable<${resolved('Resend', method)}['error']>`;
    responses.push({ name: `the error of ${method}`, type, value: error });
  }
  expect(await findTypeDifferences(responses)).toEqual([]);
});

/** Of `inboundemail`: what all its methods go by. */
const INBOUNDEMAIL_INNER = /^[A-Za-z]+$/;

test('inboundemail: the response of each method has its type', async () => {
  const outcomes: Outcome[] = [];
  const bare = new Inboundemail({ apiKey: account.apiKey, baseURL: stage.service.url, maxRetries: 0 });
  const client = recordCalls(bare, outcomes);

  const full = await client.emails.send({
    ...plain(),
    from: `Ada <${sender}>`,
    cc: 'carl@types-peer.test',
    bcc: 'blind@types-peer.test',
    reply_to: 'answers@types-peer.test',
    html: '<p>Hello',
    tags: [{ name: 'kind', value: 'order' }],
    attachments: [{ filename: 'a.txt', content: Buffer.from('one').toString('base64') }],
  });
  const { text: _text, ...htmlOnly } = { ...plain(), html: '<p>Only' };
  const least = await client.emails.send(htmlOnly);
  const scheduled = await client.emails.send({ ...plain(), scheduled_at: 'in 1 hour' });
  await stage.awaitStatus(full.id, 'delivered');
  const config = { url: receiver.url, timeout: 30, retryAttempts: 3 };
  const endpoint = await client.endpoints.create({ name: 'hook', type: 'webhook', config });
  const group = await client.endpoints.create({
    name: 'group',
    type: 'email_group',
    config: { emails: ['a@types-peer.test', 'b@types-peer.test'] },
  });
  const forward = await client.endpoints.create({
    name: 'forward',
    type: 'email',
    description: 'd',
    config: { forwardTo: 'a@types-peer.test' },
  });
  const address = await client.emailAddresses.create({
    address: `typed@${account.domain}`,
    domainId: account.domainId,
    endpointId: endpoint.id,
  });
  const received = await receiveEach(address.address);
  for (const { id } of [full, least, scheduled, ...received.map((id) => ({ id }))]) await client.emails.retrieve(id);
  await client.emails.list();
  await client.emails.list({ type: 'scheduled' });
  await client.emails.list({ type: 'received', limit: '5', status: 'unread', domain: account.domain });
  await client.emails.delete(scheduled.id);
  const reply = await client.emails.reply(received[0], { from: sender, text: 'Yes' });
  await client.emails.reply(received[1], { from: sender, text: 'Yes', attachments: [] });
  await stage.awaitStatus(reply.id, 'delivered');
  await client.emails.retry(received[0], { endpoint_id: endpoint.id });
  await client.mail.list();
  const threads = await client.mail.list({ limit: '2', unread: 'true' });
  for (const { id } of threads.threads) await client.mail.retrieve(id);
  await client.attachments.retrieve('plan.txt', { id: received[0] });

  for (const each of [endpoint, group, forward]) {
    await client.endpoints.retrieve(each.id);
    await client.endpoints.test(each.id, { webhookFormat: 'inbound' });
  }
  // Where no format is named it is `native`, which the type of the client does not know.
  expect(await bare.endpoints.test(endpoint.id, {})).toMatchObject({ webhookFormat: 'native' });
  await client.endpoints.test(endpoint.id, { webhookFormat: 'slack' });
  await client.endpoints.list();
  await client.endpoints.update(endpoint.id, { name: 'renamed', description: 'd' });
  await client.emailAddresses.retrieve(address.id);
  await client.emailAddresses.list();
  await client.emailAddresses.update(address.id, { webhookId: endpoint.id });
  await client.emailAddresses.retrieve(address.id);
  await client.emailAddresses.update(address.id, { isActive: false, endpointId: null });
  await client.emailAddresses.delete(address.id);

  zones.get('inbound.example')?.set('inbound.example', 'MX', [{ preference: 1, exchange: 'mx.other.test' }]);
  const pending = await client.domains.create({ domain: 'inbound.example' });
  const subdomain = await client.domains.create({ domain: `sub.${account.domain}` });
  await client.domains.retrieve(pending.id);
  await client.domains.retrieve(pending.id, { check: 'true' });
  await client.domains.retrieve(account.domainId);
  await client.domains.retrieve(subdomain.id, { check: 'true' });
  await client.domains.update(account.domainId, { isCatchAllEnabled: true, catchAllEndpointId: forward.id });
  await client.domains.retrieve(account.domainId, { check: 'true' });
  await client.domains.list();
  await client.domains.list({ check: 'true' });
  await client.domains.update(account.domainId, { isCatchAllEnabled: false });
  await client.domains.delete(subdomain.id);
  await client.domains.delete(pending.id);
  for (const each of [endpoint, group, forward]) await client.endpoints.delete(each.id);

  const served = listMethods(bare).filter((method) => !INBOUNDEMAIL_INNER.test(method));
  expect(served.filter((method) => !methodsIn(outcomes).has(method))).toEqual([]);
  const responses = outcomes
    // Its type is void: what resolves is the text of the file.
    .filter(({ method }) => method !== 'attachments.retrieve')
    .map(({ method, value }): TypedResponse => ({ name: method, type: resolved('Inboundemail', method), value }));
  expect(await findTypeDifferences(responses)).toEqual([]);
});

/** Of `@inboundemail/sdk`: private by its types. */
const SDK_INNER = new Set(['request', 'processReactComponent']);

test('@inboundemail/sdk: the response of each method has its type, and so does a webhook', async () => {
  const outcomes: Outcome[] = [];
  const bare = new Sdk(account.apiKey, `${stage.service.url}/api/v2`);
  const client = recordCalls(bare, outcomes);
  const readData = <T>({ data, error }: { data?: T; error?: string }): T => data ?? expect.fail(error);

  const config = { url: receiver.url, timeout: 30, retryAttempts: 3 };
  const before = receiver.requests.length;
  const ids: string[] = [];
  for (const { endpoints, addresses } of [
    { endpoints: client.endpoint, addresses: client.email.address },
    { endpoints: client.endpoints, addresses: client.emailAddresses },
    { endpoints: client.endpoints, addresses: client.emails.address },
  ]) {
    const endpoint = readData(await endpoints.create({ name: 'hook', type: 'webhook', config }));
    readData(await endpoints.list());
    readData(await endpoints.get(endpoint.id));
    readData(await endpoints.update(endpoint.id, { name: 'renamed' }));
    readData(await endpoints.test(endpoint.id));
    const { domainId, domain } = account;
    const address = readData(await addresses.create({ address: `sdk@${domain}`, domainId, endpointId: endpoint.id }));
    readData(await addresses.list());
    readData(await addresses.get(address.id));
    if (ids.length === 0) ids.push(...(await receiveEach(address.address)));
    readData(await addresses.update(address.id, { isActive: false }));
    readData(await addresses.delete(address.id));
    readData(await endpoints.delete(endpoint.id));
  }
  const [id = ''] = ids;

  for (const received of [client.mail, client.email.received, client.emails.received]) {
    readData(await received.list());
    for (const each of ids) readData(await received.get(each));
    readData(await received.thread(id));
    readData(await received.markRead(id));
    readData(await received.archive(id));
    readData(await received.list({ includeArchived: true }));
    readData(await received.unarchive(id));
    readData(await received.markUnread(id));
    readData(await received.bulk([id], { isRead: true }));
    const former = { emailId: id, to: 'ada@types-peer.test', subject: 'Re: A plan', textBody: 'Formerly' };
    readData(await received.reply(former));
  }

  const html = '<p>Hello';
  const more = { html, cc: 'carl@types-peer.test', bcc: 'blind@types-peer.test', replyTo: 'answers@types-peer.test' };
  for (const email of [client.email, client.emails]) {
    const full = readData(await email.send({ ...plain(), ...more }));
    const { text: _text, ...htmlOnly } = { ...plain(), html };
    const least = readData(await email.send(htmlOnly));
    const later = readData(await email.send({ ...plain(), scheduled_at: anHourAhead() }));
    for (const each of [full.id, least.id, later.id, ...ids]) readData(await email.get(each));
    for (const each of [full.id, least.id]) readData(await email.sent.get(each));
    readData(await email.reply(id, { from: sender, text: 'Yes' }));
    readData(await email.sent.reply(id, { from: sender, text: 'Yes' }));
    const first = readData(await email.schedule({ ...plain(), ...more, scheduled_at: anHourAhead() }));
    const second = readData(await email.schedule({ ...htmlOnly, scheduled_at: anHourAhead() }));
    for (const scheduled of [email, email.sent]) {
      readData(await scheduled.listScheduled());
      readData(await scheduled.getScheduled(first.id));
      readData(await scheduled.getScheduled(second.id));
    }
    readData(await email.cancel(first.id));
    readData(await email.sent.cancel(second.id));
    readData(await email.sent.getScheduled(second.id));
    readData(await email.cancelScheduled(later.id));
    const due = readData(await email.schedule({ ...plain(), scheduled_at: anHourAhead() }));
    await stage.makeDue(due.id);
    await stage.awaitStatus(due.id, 'delivered');
    readData(await email.getScheduled(due.id));
    readData(await email.listScheduled());
  }
  readData(await client.send(plain()));
  readData(await client.reply(id, { from: sender, text: 'Yes' }));
  readData(await client.quickReply(id, 'Quickly', sender));
  readData(await client.scheduleReminder('bob@types-peer.test', 'Call', 'in 2 hours', sender));
  readData(await client.createForwarder('from@x.test', 'to@types-peer.test'));
  // It asks for 30,000 seconds, which is an error.
  await client.setupDomain('setup.example');

  for (const domains of [client.domain, client.domains]) {
    const domain = readData(await domains.create({ domain: 'sdk.example' }));
    readData(await domains.list());
    readData(await domains.list({ check: 'true' }));
    readData(await domains.get(domain.id));
    readData(await domains.get(account.domainId));
    readData(await domains.update(account.domainId, { isCatchAllEnabled: false, catchAllEndpointId: null }));
    readData(await domains.getDnsRecords(domain.id));
    readData(await domains.verify(domain.id));
    readData(await domains.checkStatus(domain.id));
    readData(await domains.delete(domain.id));
  }

  const served = listMethods(bare).filter((method) => !SDK_INNER.has(method));
  expect(served.filter((method) => !methodsIn(outcomes).has(method))).toEqual([]);
  const responses = outcomes.flatMap(({ method, value }): TypedResponse[] => {
    const { data } = value as { data?: unknown };
    if (data === undefined) return [];
    return [{ name: method, type: `NonNullable<${resolved('Sdk', method)}['data']>`, value: data }];
  });
  const payloads = receiver.requests.slice(before).map(({ body }): unknown => JSON.parse(body));
  // A test of each endpoint, and the mails.
  expect(payloads.length).toBeGreaterThanOrEqual(6);
  const typedPayloads = payloads.flatMap((value, at): TypedResponse[] => [
    { name: `webhook ${at}, inboundemail`, type: 'InboundWebhookPayload', value },
    { name: `webhook ${at}, @inboundemail/sdk`, type: 'SdkWebhookPayload', value: withoutContradictions(value) },
  ]);
  expect(await findTypeDifferences([...responses, ...typedPayloads])).toEqual([]);
});

/**
 * A payload without what the types of `inboundemail` and `@inboundemail/sdk` contradict each other in: the former has null for a missing
 * body or Content-ID and texts for header fields, the latter absence and objects. Payloads are of the former.
 */
function withoutContradictions(payload: unknown): unknown {
  const text = JSON.stringify(payload, (key, value: unknown) => {
    if (key === 'headers') return {};
    return value === null && /^(?:contentId|textBody|htmlBody)$/.test(key) ? undefined : value;
  });
  return JSON.parse(text);
}
