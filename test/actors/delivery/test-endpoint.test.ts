import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { encodeSigningSecrets, signStandardWebhook } from '../../../core/endpoints/webhook-signature.ts';
import { parseMessage } from '../../../core/mime/parse-message.ts';
import { encryptSecret } from '../../../core/shared/secret-box.ts';
import type { Database } from '../../../db/connection/database.ts';
import type { Reply, Request } from '../../../schema/messages.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import { createMailbox, type TestMailbox } from '../../support/rows/routing-rows.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { SECRET_KEY, startDelivering, type TestDelivery } from './delivering.ts';
import { startLoopbackDns } from './loopback-dns.ts';

let testDatabase: TestDatabase;
let database: Database;
let owner: Database;
let receiver: WebhookReceiver;
let actor: TestDelivery | undefined;
let count = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
  owner = testDatabase.open(null);
});
afterEach(async () => {
  await actor?.stop();
  actor = undefined;
  await receiver?.stop();
});
afterAll(() => testDatabase.drop());

async function start(options: Parameters<typeof startDelivering>[2] = {}): Promise<void> {
  actor = await startDelivering(database, owner, options);
}

async function mailboxFor(endpointConfig: Record<string, unknown> = {}, webhookFormat = 'native') {
  const domain = `tested${count++}.test`;
  const mailbox = await createMailbox(database, {
    domain,
    address: `hello@${domain}`,
    endpointUrl: `${receiver.url}/hook?x=1`,
    endpointConfig,
  });
  await database.pool.query('update endpoint set webhook_format = $2 where id = $1', [
    mailbox.endpointId,
    webhookFormat,
  ]);
  return mailbox;
}

type Asked = Partial<Request<'delivery.endpoint.test'>>;
type Tested = Extract<Reply<'delivery.endpoint.test'>, { verdict: 'tested' }>;

const ask = ({ workspaceId, endpointId }: TestMailbox, more: Asked = {}) =>
  actor?.bus.ask('delivery.endpoint.test', {
    workspaceId,
    endpointId: endpointId ?? '',
    webhookFormat: null,
    overrideUrl: null,
    event: null,
    ...more,
  });

async function tested(mailbox: TestMailbox, more: Asked = {}): Promise<Tested> {
  const reply = await ask(mailbox, more);
  if (reply?.verdict !== 'tested') throw new Error(JSON.stringify(reply));
  return reply;
}

/** All keys of a JSON value in their order; lists by what their elements have. Header fields are data, not keys. */
function readKeys(value: unknown): unknown {
  if (Array.isArray(value)) return ['list', ...new Set(value.map((each) => JSON.stringify(readKeys(each))))];
  if (typeof value !== 'object' || value === null) return null;
  return Object.entries(value).map(([key, inner]) => [key, key === 'headers' ? null : readKeys(inner)]);
}

const readTree = (body: string) => readKeys(JSON.parse(body));

/** A mail as somebody's program made it, with one of everything that a payload tells. */
const REAL_MAIL = Buffer.from(
  [
    'From: "Doe, Jane" <jane@elsewhere.test>',
    'To: <hello@own.test>, other@own.test',
    'Cc: Third <third@elsewhere.test>',
    'Reply-To: desk@elsewhere.test',
    'Subject: Your order',
    'Date: Fri, 20 Nov 2026 10:00:00 +0100',
    'Message-ID: <real.1@elsewhere.test>',
    'In-Reply-To: <real.0@elsewhere.test>',
    'References: <real.0@elsewhere.test>',
    'X-Priority: 1',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/html; charset=iso-8859-1',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    '<h1>Gr=FC=DFe</h1><script>alert(1)</script>',
    '--b',
    'Content-Type: text/plain',
    '',
    'Plain, too.',
    '--b',
    'Content-Type: application/pdf; name=order.pdf',
    'Content-Transfer-Encoding: base64',
    'Content-ID: <pdf@elsewhere.test>',
    '',
    'JVBERi0x',
    '--b--',
    '',
  ].join('\r\n'),
  'latin1',
);

/** Puts that mail into the mailbox, parsed, waiting for its route. */
async function receive(mailbox: TestMailbox, bytes: Buffer): Promise<string> {
  const [mail] = await insertReceivedMail(database, mailbox, { subject: 'Your order' });
  const message = await parseMessage(bytes);
  await database.pool.query(
    `update raw_message set packed = $2, sha256 = sha256($2), size_bytes = length($2) where id = $1`,
    [mail?.rawId, bytes],
  );
  await database.pool.query(
    `update email_content set headers = $2, addresses = $3, in_reply_to = $4, reference_ids = $5, text_body = $6, html_body = $7,
       cleaned_text = $8, cleaned_html = $9, attachments = $10, priority = $11 where email_id = $1`,
    [
      mail?.emailId,
      JSON.stringify(message.headers),
      JSON.stringify(message.addresses),
      message.inReplyTo,
      message.references,
      message.textBody,
      message.htmlBody,
      message.cleanedText,
      message.cleanedHtml,
      JSON.stringify(message.attachments),
      message.priority,
    ],
  );
  return mail?.emailId ?? '';
}

test.each([
  ['native', {}],
  ['native', { attachments: 'link' }],
  ['native', { payload: 'flat' }],
  ['chat_a', {}],
  ['chat_b', {}],
] as const)('the test of %s %j has the keys and the header fields of real mail', async (format, config) => {
  receiver = await startWebhookReceiver();
  const mailbox = await mailboxFor({ ...config, headers: { 'X-Mine': 'yes' } }, format);
  await receive(mailbox, REAL_MAIL);
  await start();
  const [ofMail] = await receiver.received(1);
  const reply = await tested(mailbox);
  const [, ofTest] = await receiver.received(2);

  expect(reply).toMatchObject({
    success: true,
    message: 'Webhook responded successfully (200)',
    statusCode: 200,
    webhookFormat: format,
    urlTested: `${receiver.url}/hook?x=1`,
  });
  expect(reply.payload).toBe(ofTest?.body);
  expect(readTree(ofTest?.body ?? '')).toStrictEqual(readTree(ofMail?.body ?? ''));
  const { 'x-test-request': isTest, 'x-webhook-format': named, ...headers } = ofTest?.headers ?? {};
  expect([isTest, named]).toEqual(['true', format]);
  expect(Object.keys(headers)).toEqual(Object.keys(ofMail?.headers ?? {}));
});

test("a requested format is tested instead of the endpoint's own", async () => {
  receiver = await startWebhookReceiver();
  const mailbox = await mailboxFor({}, 'chat_b');
  await start();
  expect(await tested(mailbox, { webhookFormat: 'chat_a' })).toMatchObject({ success: true, webhookFormat: 'chat_a' });
  expect(JSON.parse((await receiver.received(1))[0]?.body ?? '').embeds).toHaveLength(1);
});

test('a test is signed like real mail, and neither stored nor counted', async () => {
  receiver = await startWebhookReceiver();
  const token = 'b'.repeat(64);
  const mailbox = await mailboxFor({ verificationToken: token, signatureScheme: 'hmac' });
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const secrets = encodeSigningSecrets([{ secret, validUntil: null }]);
  const sealed = encryptSecret(SECRET_KEY, 'webhook-secret', secrets, Buffer.alloc(12, 3));
  await database.pool.query('update endpoint set secret_ciphertext = $2, is_active = false where id = $1', [
    mailbox.endpointId,
    sealed,
  ]);
  await start();
  // Switched off as it is.
  expect((await tested(mailbox)).success).toBe(true);
  const [request] = await receiver.received(1);
  const { headers = {}, body = '', webhookId = '' } = request ?? {};
  const seconds = Number(request?.headers['webhook-timestamp']);
  const hmac = createHmac('sha256', token).update(body).digest('hex');
  expect(webhookId).toMatch(/^dlv_[0-9a-f]{32}$/);
  expect(headers).toMatchObject({
    'x-service-signature': hmac,
    'x-webhook-signature': `sha256=${hmac}`,
    'x-webhook-event': 'email.received',
    'x-webhook-verification-token': token,
    'x-endpoint-id': mailbox.endpointId,
    'x-email-id': JSON.parse(body).email.id,
    'webhook-signature': signStandardWebhook(secret, webhookId, seconds, Buffer.from(body)),
  });
  expect(JSON.parse(body).email.recipient).toBe(mailbox.address);
  for (const table of ['delivery', 'delivery_attempt', 'email', 'endpoint_stat']) {
    const { rows } = await database.pool.query(`select 1 from ${table} where workspace_id = $1`, [mailbox.workspaceId]);
    expect(rows, table).toHaveLength(0);
  }
});

test('a test shows a response that is no success, too long, too slow or missing', async () => {
  receiver = await startWebhookReceiver({
    script: [{ status: 500, body: `${'é'.repeat(1_500)}` }, 302, 204, 'endless body', 'hang', 'reset'],
  });
  const [mailbox, impatient] = [await mailboxFor(), await mailboxFor({ timeout: 1 })];
  await start();
  const first = await tested(mailbox);
  expect(first).toMatchObject({ success: false, message: 'Webhook returned error (500)', statusCode: 500 });
  expect(first.responseBody).toBe('é'.repeat(1_000));
  expect(await tested(mailbox)).toMatchObject({ success: false, statusCode: 302 });
  expect(await tested(mailbox)).toMatchObject({ success: true, statusCode: 204, responseBody: '' });
  const endless = await tested(mailbox);
  expect([endless.success, endless.responseBody?.length]).toEqual([true, 1_000]);
  // What is still on its way when it is cut off.
  expect(receiver.bytesSent()).toBeLessThan(20_000_000);
  const hanging = await tested(impatient);
  expect(hanging).toMatchObject({ success: false, message: 'Request timed out after 1 seconds', statusCode: null });
  expect(hanging.responseTimeMs).toBeGreaterThanOrEqual(990);
  expect(await tested(mailbox)).toMatchObject({ success: false, message: 'Connection reset', responseBody: null });
});

test.each([
  ['https://10.0.0.1/', 'Webhook URL must not point to a private address'],
  [
    'http://169.254.169.254/latest/meta-data/',
    'Webhook URL must begin with https://, or with http:// for localhost, 127.0.0.1 and [::1]',
  ],
  ['https://user:secret@example.com/', 'Webhook URL must not contain a user name or password'],
  ['file:///etc/passwd', 'Invalid webhook URL format'],
  ['gopher://127.0.0.1/', 'Webhook URL must begin with https://, or with http:// for localhost, 127.0.0.1 and [::1]'],
  ['nonsense', 'Invalid webhook URL format'],
])('the URL %s is not tested', async (overrideUrl, message) => {
  receiver = await startWebhookReceiver();
  const mailbox = await mailboxFor();
  await start();
  const reply = await tested(mailbox, { overrideUrl });
  expect(reply).toMatchObject({ success: false, message, statusCode: null, responseBody: null, payload: null });
  expect(receiver.connectionCount()).toBe(0);
});

test('a test of another URL passes the same address check as real mail', async () => {
  receiver = await startWebhookReceiver();
  const canary = await startWebhookReceiver({ host: '127.0.0.9', tlsName: 'inside.test' });
  const other = await startWebhookReceiver();
  const dns = await startLoopbackDns();
  dns.set('inside.test', { A: [['127.0.0.9']] });
  try {
    const mailbox = await mailboxFor();
    await start({
      allowedPrivateNetworks: ['127.0.0.1/32'],
      dnsServers: [dns.server],
      trustedCertificates: [canary.certificate ?? ''],
    });
    const blocked = await tested(mailbox, { overrideUrl: `https://inside.test:${canary.port}/` });
    expect(blocked).toMatchObject({ success: false, message: 'blocked address', statusCode: null, responseBody: null });
    expect(canary.connectionCount()).toBe(0);
    const overrideUrl = `${other.url}/instead`;
    expect(await tested(mailbox, { overrideUrl })).toMatchObject({ success: true, urlTested: overrideUrl });
    expect(other.requests[0]?.path).toBe('/instead');
    expect(receiver.requests).toHaveLength(0);
  } finally {
    await Promise.all([canary.stop(), other.stop(), dns.stop()]);
  }
});

test("a test of an endpoint that is deleted, another user's or unusable is refused", async () => {
  receiver = await startWebhookReceiver();
  const [mailbox, stranger] = [await mailboxFor(), await mailboxFor()];
  await start();
  const notFound = { verdict: 'refused', reason: 'not-found', details: 'Endpoint not found' };
  expect(await ask(mailbox, { endpointId: 'ep_none' })).toEqual(notFound);
  expect(await ask(mailbox, { endpointId: stranger.endpointId ?? '' })).toEqual(notFound);
  await database.pool.query(`update endpoint set config = '{}' where id = $1`, [mailbox.endpointId]);
  expect(await ask(mailbox)).toMatchObject({ verdict: 'refused', reason: 'invalid' });
  expect(receiver.requests).toHaveLength(0);
});
