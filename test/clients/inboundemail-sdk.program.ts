import { randomBytes } from 'node:crypto';
import {
  getEmailText,
  getRecipientAddresses,
  getSenderInfo,
  Inbound,
  type InboundWebhookPayload,
  isInboundWebhook,
  VERSION,
  verifyWebhookFromHeaders,
} from '@inboundemail/sdk';
import { simpleParser } from 'mailparser';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { SendingStage, type SharedGround } from '../support/stages/sending-stage.ts';
import { publishedClient, receiveMail } from './client-stage.ts';

const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const ID = expect.stringMatching(/^[a-z]+_[0-9a-f]{32}$/);
const MESSAGE_ID = expect.stringMatching(/^<[^@]+@[^@]+>$/);
let stage: SendingStage<SharedGround>;
let receiver: WebhookReceiver;
let sender: string;
let client: Inbound;

const plain = () => ({ from: sender, to: 'bob@sdk-peer.test', subject: 'Hi', text: 'Hello' });
const email = <More extends object>(more: More) => ({ ...plain(), ...more });
const anHourAhead = () => new Date(Date.now() + 3_600_000).toISOString();

/** Returns the data of a response. Throws its error if there is one. */
function readData<T>(response: { data?: T; error?: string }): T {
  if (response.data === undefined) throw new Error(response.error);
  return response.data;
}

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  stage = await SendingStage.share('single', 'sdk-peer.test');
  sender = await stage.createAddress('hello');
  // Its own default ends in /api/v2, too.
  client = new Inbound(stage.account.apiKey, `${stage.service.url}/api/v2`);
}, 300_000);
afterAll(async () => {
  await stage?.stop();
  await receiver?.stop();
});

// The client warns of its own deprecated names.
beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => undefined));
afterEach(() => void vi.restoreAllMocks());

test('the client is the published version of the lock file', () => {
  expect(publishedClient('@inboundemail/sdk')).toEqual({
    version: VERSION,
    integrity: expect.stringMatching(/^sha512-[A-Za-z0-9+/]{86}==$/),
  });
  expect(VERSION).toBe('4.4.0');
});

describe('sending', () => {
  test('an email with its names in camel case arrives', async () => {
    const sent = readData(
      await client.email.send({
        from: `Ada <${sender}>`,
        to: ['bob@sdk-peer.test'],
        cc: 'carl@sdk-peer.test',
        bcc: 'blind@sdk-peer.test',
        replyTo: ['answers@sdk-peer.test'],
        subject: 'All of it',
        html: '<img src="cid:logo">',
        text: 'Hello',
        headers: { 'X-Order': '4711' },
        tags: [{ name: 'kind', value: 'order' }],
        attachments: [
          {
            filename: 'logo.png',
            content: Buffer.from('PNG').toString('base64'),
            contentType: 'image/png',
            content_id: 'logo',
          },
        ],
      }),
    );
    expect(sent).toMatchObject({ id: ID, messageId: MESSAGE_ID, status: 'sent' });
    const message = await stage.awaitMessage(sent.messageId ?? '');
    expect(message.recipients).toHaveLength(3);
    const mail = await simpleParser(message.bytes);
    expect([mail.replyTo?.text, mail.attachments[0]?.cid, mail.attachments[0]?.contentType]).toEqual([
      'answers@sdk-peer.test',
      'logo',
      'image/png',
    ]);
    await stage.awaitStatus(sent.id, 'delivered');
    // It asks for received mail first, and for any other when there is none.
    expect(readData(await client.email.get(sent.id))).toMatchObject({
      object: 'email',
      id: sent.id,
      reply_to: ['answers@sdk-peer.test'],
      text: 'Hello',
      last_event: 'delivered',
    });
    expect(readData(await client.email.sent.get(sent.id)).id).toBe(sent.id);
  });

  test('the same idempotency key creates one email, and another body is refused with a text', async () => {
    const options = { idempotencyKey: randomBytes(8).toString('hex') };
    const first = readData(await client.send(plain(), options));
    expect(readData(await client.send(plain(), options))).toEqual(first);
    expect((await client.send(email({ text: 'Other' }), options)).error).toBe('Conflict');
  });

  test('an email is scheduled, listed, read and cancelled at the legacy paths', async () => {
    const scheduled_at = anHourAhead();
    const sent = readData(await client.email.send(email({ scheduled_at, timezone: 'Europe/Berlin' })));
    expect(sent).toMatchObject({ id: ID, scheduled_at, status: 'scheduled', timezone: 'Europe/Berlin' });
    const reminder = readData(await client.scheduleReminder('bob@sdk-peer.test', 'Call', 'in 2 hours', sender));
    expect(reminder).toMatchObject({ id: ID, scheduled_at: INSTANT, status: 'scheduled', timezone: 'UTC' });

    const listed = readData(await client.email.sent.listScheduled({ limit: 1, status: 'scheduled' }));
    expect(listed).toMatchObject({
      data: [
        { id: reminder.id, subject: 'Call', status: 'scheduled', timezone: 'UTC', attempts: 0, created_at: INSTANT },
      ],
      pagination: { limit: 1, offset: 0, total: 2, hasMore: true },
    });
    const found = readData(await client.email.sent.getScheduled(sent.id));
    expect(found).toMatchObject({
      id: sent.id,
      to: ['bob@sdk-peer.test'],
      text: 'Hello',
      scheduled_at,
      max_attempts: 1,
      updated_at: INSTANT,
    });
    for (const field of ['html', 'sent_at', 'sent_email_id']) expect(found).not.toHaveProperty(field);
    expect(readData(await client.email.sent.cancel(sent.id))).toEqual({
      id: sent.id,
      status: 'cancelled',
      cancelled_at: INSTANT,
    });
    expect((await client.email.sent.getScheduled('em_unknown')).error).toBe('Scheduled email not found');
    expect((await client.email.schedule(email({ scheduled_at: 'when it suits' }))).error).toMatch(
      /^Unable to parse date/,
    );
  });
});

describe('received mail', () => {
  test('is listed, read, marked, and read as a thread under /mail', async () => {
    const subject = `Order ${randomBytes(4).toString('hex')}`;
    const id = await receiveMail(stage, sender, { subject, text: 'Two, please', html: '<p>Two, please' });
    const { received } = client.email;
    const { domain, address: emailAddress } = { domain: stage.account.domain, address: sender };
    const filter = { search: subject, status: 'processed', timeRange: '24h', domain, emailAddress } as const;
    const listed = readData(await received.list({ ...filter, limit: 5, includeArchived: false }));
    expect(listed).toMatchObject({
      emails: [
        {
          id,
          emailId: id,
          messageId: MESSAGE_ID,
          from: 'ada@sdk-peer.test',
          fromName: 'Ada',
          recipient: sender,
          preview: 'Two, please',
          receivedAt: INSTANT,
          isRead: false,
          parseSuccess: true,
        },
      ],
      pagination: { limit: 5, offset: 0, total: 1, hasMore: false },
    });
    expect(readData(await received.get(id))).toMatchObject({ id, to: sender, textBody: 'Two, please' });
    expect(readData(await received.markRead(id))).toMatchObject({ success: true, isRead: true });
    expect(readData(await received.markUnread(id))).toMatchObject({ isRead: false });
    expect(readData(await received.archive(id))).toMatchObject({ isArchived: true });
    expect(readData(await received.list(filter)).emails).toEqual([]);
    expect(readData(await received.unarchive(id))).toMatchObject({ isArchived: false });
    expect(readData(await received.bulk([id], { isRead: true }))).toMatchObject({ success: true, updated: 1 });
    expect(readData(await received.thread(id))).toMatchObject({ total_count: 1, messages: [{ id, is_read: true }] });
    expect((await received.get('em_unknown')).error).toBe('Email not found');
  });

  test('is replied to in three ways', async () => {
    const id = await receiveMail(stage, sender, { subject: 'Question', text: 'Well?' });
    const reply = readData(
      await client.email.sent.reply(id, { from: sender, from_name: 'Ann', text: 'Yes', simple: true }),
    );
    expect(reply).toMatchObject({ id: ID, messageId: MESSAGE_ID, awsMessageId: expect.any(String) });
    const mail = await simpleParser((await stage.awaitMessage(reply.messageId)).bytes);
    expect([mail.subject, mail.from?.text]).toEqual(['Re: Question', `"Ann" <${sender}>`]);
    expect(readData(await client.quickReply(id, 'Quickly', sender))).toMatchObject({ id: ID });
    const former = { emailId: id, to: 'ada@sdk-peer.test', subject: 'Re: Question', textBody: 'Formerly' };
    expect(readData(await client.email.received.reply(former))).toMatchObject({ message: 'Reply sent', id: ID });
  });

  test('arrives by a webhook that the functions of the client read and verify', async () => {
    const config = { url: receiver.url, timeout: 30, retryAttempts: 3 };
    const endpoint = readData(await client.endpoint.create({ name: 'hook', type: 'webhook', config }));
    expect(endpoint).toMatchObject({ id: ID, isActive: true, description: null });
    const address = `hooked@${stage.account.domain}`;
    const { domainId } = stage.account;
    readData(await client.email.address.create({ address, domainId, endpointId: endpoint.id }));
    await receiveMail(stage, address, { subject: 'Signed', text: 'Words' });
    const [request] = await receiver.received(1);
    const headers = new Headers((request?.headers ?? {}) as Record<string, string>);
    expect(await verifyWebhookFromHeaders(headers, client)).toBe(true);
    headers.set('x-webhook-verification-token', 'other');
    expect(await verifyWebhookFromHeaders(headers, client)).toBe(false);
    const payload = JSON.parse(request?.body ?? '') as InboundWebhookPayload;
    expect(isInboundWebhook(payload)).toBe(true);
    expect(getSenderInfo(payload.email)).toEqual({ name: 'Ada', address: 'ada@sdk-peer.test' });
    expect(getRecipientAddresses(payload.email)).toEqual([address]);
    expect(getEmailText(payload.email).trim()).toBe('Words');
  });
});

describe('domains, addresses and endpoints', () => {
  test('are listed and read', async () => {
    const domains = readData(await client.domain.list({ canReceive: 'true', limit: 5 }));
    expect(domains).toMatchObject({ data: [{ id: stage.account.domainId, status: 'verified' }] });
    expect(readData(await client.domain.get(stage.account.domainId))).toMatchObject({ domain: stage.account.domain });
    const addresses = readData(await client.email.address.list({ isActive: 'true' }));
    expect(addresses.data.map((each) => each.address)).toContain(sender);
    expect(readData(await client.endpoint.list({ active: 'true' })).pagination).toMatchObject({
      total: 1,
      hasMore: false,
    });
  });
});

describe('errors', () => {
  test.each([
    ['an unknown key', () => new Inbound('wrong', `${stage.service.url}/api/e2`).email.received.list(), 'Unauthorized'],
    ['no text', () => client.send(email({ text: undefined })), 'Either html or text content must be provided'],
    ["another's domain", () => client.send(email({ from: 'a@sdk-peer.test' })), /permission to send/],
    ['an unknown email', () => client.email.get('em_unknown'), 'Email not found'],
    ['a status that is none', () => client.email.sent.listScheduled({ status: 'odd' }), 'Bad Request'],
    ['no from address', () => client.reply('em_unknown', { from: '', text: 'x' }), /from/],
  ] as const)('%s is one string', async (_case, request, expected) => {
    const { data, error } = await request();
    expect(data).toBeUndefined();
    expect(error).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected));
  });
});
