import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Actor } from '../../../actors/actor.ts';
import { SECRET_KEY, startDelivering, untilDeliveries } from '../../actors/delivery/delivering.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type GraphClient, graphClient } from '../../support/servers/graph-client.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { openBrowser } from '../../support/stages/browser-session.ts';

let gateway: TestGateway;
let receiver: WebhookReceiver;
let actor: Actor | null = null;
let box: TestMailbox;
let graph: GraphClient;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { secretKey: SECRET_KEY } });
  receiver = await startWebhookReceiver({ script: () => 200 });
});
beforeEach(async () => {
  receiver.requests.length = 0;
  box = await gateway.mailbox({ endpointUrl: receiver.url });
  graph = graphClient(gateway, box.apiKey);
});
afterEach(async () => {
  await actor?.stop();
  actor = null;
});
afterAll(async () => {
  await receiver.stop();
  await gateway.close();
});

/** Received mail that was delivered to the receiver. */
async function delivered(): Promise<{ emailId: string; deliveryId: string; raw: string }> {
  actor = await startDelivering(gateway.actor, gateway.owner, { bus: gateway.bus, publicUrl: 'http://postroom.test' });
  const [mail] = await insertReceivedMail(gateway.actor, box, { textBytes: 100_000 });
  const emailId = mail?.emailId ?? '';
  gateway.bus.wake('delivery.route.wake', { workspaceId: box.workspaceId, emailIds: [emailId] });
  const [delivery] = await untilDeliveries(gateway.actor, box.endpointId, ([one]) => one?.status === 'success');
  return { emailId, deliveryId: delivery?.id ?? '', raw: mail?.raw.toString() ?? '' };
}

/** Cuts the holder and the signature from the links of a body: who looks at it gets links of their own. */
const withoutHolders = (body: string) => body.replace(/(?<=[?&](?:for|signature)=)[\w-]+/g, '');

const PAYLOAD = `query($id: ID!, $most: Int) { delivery(id: $id) { payload(maxBytes: $most) { text sizeBytes isCut url isEndpointChanged } } }`;

describe('the payload of a delivery', () => {
  test.each([
    ['native', {}],
    ['native', { payload: 'flat', attachments: 'link' }],
    ['chat_a', {}],
  ])('of format %s %j equals the sent body but for whom its links name, byte for byte', async (format, config) => {
    await gateway.actor.pool.query(
      `update endpoint set webhook_format = $2, config = config || $3::jsonb, updated_at = now() - interval '1 min' where id = $1`,
      [box.endpointId, format, JSON.stringify(config)],
    );
    const { deliveryId } = await delivered();
    const { delivery } = await graph.ask(PAYLOAD, { id: deliveryId, most: 1_000_000 });
    const sent = receiver.requests.at(-1)?.body ?? '';
    expect(sent.length).toBeGreaterThan(100);
    const { text } = delivery.payload;
    expect(withoutHolders(text)).toBe(withoutHolders(sent));
    expect(delivery.payload).toEqual({
      text,
      sizeBytes: Buffer.byteLength(text),
      isCut: false,
      url: receiver.url,
      isEndpointChanged: false,
    });
  });

  test('is returned in part when it is long, and says when its endpoint was changed since', async () => {
    const { deliveryId } = await delivered();
    await gateway.actor.pool.query(`update endpoint set updated_at = now() + interval '1 s' where id = $1`, [
      box.endpointId,
    ]);
    const sent = receiver.requests.at(-1)?.body ?? '';
    const whole = await graph.ask(PAYLOAD, { id: deliveryId, most: 1_000_000 });
    const { delivery } = await graph.ask(PAYLOAD, { id: deliveryId, most: 1_000 });
    expect(delivery.payload).toMatchObject({
      text: sent.slice(0, 1_000),
      sizeBytes: Buffer.byteLength(whole.delivery.payload.text),
      isCut: true,
      isEndpointChanged: true,
    });
    const usual = await graph.ask(`query($id: ID!) { delivery(id: $id) { payload { text } } }`, { id: deliveryId });
    expect(usual.delivery.payload.text).toHaveLength(65_536);
  });

  test('is null for copies, for deleted mail, and for a deleted endpoint', async () => {
    const { emailId, deliveryId } = await delivered();
    await gateway.actor.pool.query(
      `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, attempts_allowed, created_at)
       values ($1, $3, $2, $4, 'email', 1, now()), ($1, $5, 'em_gone', $4, 'webhook', 1, now())`,
      [box.workspaceId, emailId, `dlv_copy${box.workspaceId}`, box.endpointId, `dlv_gone${box.workspaceId}`],
    );
    const payload = async (id: string) => (await graph.ask(PAYLOAD, { id })).delivery.payload;
    expect(await payload(`dlv_copy${box.workspaceId}`)).toBeNull();
    expect(await payload(`dlv_gone${box.workspaceId}`)).toBeNull();
    expect(await payload(deliveryId)).not.toBeNull();
    await gateway.actor.pool.query('delete from endpoint where id = $1', [box.endpointId]);
    expect(await payload(deliveryId)).toBeNull();
    const stranger = graphClient(gateway, (await gateway.mailbox()).apiKey);
    expect(await stranger.ask(PAYLOAD, { id: deliveryId })).toEqual({ delivery: null });
  });
});

describe('the source of an email', () => {
  const SOURCE = `query($id: ID!, $most: Int) { email(id: $id) { rawUrl rawSource(maxBytes: $most) { text isCut } } }`;

  test('is returned as text, cut if it is long, and only to its user', async () => {
    const [mail] = await insertReceivedMail(gateway.actor, box, { textBytes: 1_000 });
    const { emailId = '', raw = Buffer.alloc(0) } = mail ?? {};
    const source = async (most?: number) => (await graph.ask(SOURCE, { id: emailId, most })).email.rawSource;
    expect(await source()).toEqual({ text: raw.toString(), isCut: false });
    expect(await source(raw.length)).toEqual({ text: raw.toString(), isCut: false });
    expect(await source(raw.length - 1)).toEqual({ text: raw.toString().slice(0, -1), isCut: true });
    const stranger = graphClient(gateway, (await gateway.mailbox()).apiKey);
    expect(await stranger.ask(SOURCE, { id: emailId })).toEqual({ email: null });
  });

  test('returns text for any bytes', async () => {
    const { workspaceId } = box;
    const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0x41, 0x00, 0xff, 0xe2, 0x82]);
    const [strange = '', bare = ''] = await insertMail(gateway.actor, [{ workspaceId, raw: bytes }, { workspaceId }]);
    const source = async (id: string) => (await graph.ask(SOURCE, { id })).email.rawSource;
    expect(await source(strange)).toEqual({ text: '\ufeffA\0\ufffd\ufffd', isCut: false });
    expect(await source(bare)).toBeNull();
  });

  test.each([0, 1_000_001])('refuses maxBytes %i', async (most) => {
    const [id] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId, raw: Buffer.from('x') }]);
    const { errors } = (await gateway.graphql(box.apiKey, SOURCE, { id, most })).json();
    expect(errors[0].message).toContain('maxBytes must be 1 to 1000000');
  });

  test('is downloaded by a browser that is signed in', async () => {
    const browser = openBrowser(gateway.app);
    const email = `${randomUUID()}@people.test`;
    const signedUp = await browser.auth('POST', '/sign-up/email', { name: 'Ann', email, password: 'correct horse' });
    expect(signedUp.statusCode).toBe(200);
    const [id] = await insertMail(gateway.actor, [
      { workspaceId: signedUp.json().user.id, raw: Buffer.from('Subject: mine\r\n\r\nHello') },
    ]);
    const response = (await browser.graphql(`{ email(id: "${id}") { rawUrl rawSource { text } } }`)).json();
    expect(response.data.email.rawSource.text).toBe('Subject: mine\r\n\r\nHello');
    const path = new URL(response.data.email.rawUrl).pathname.replace('/api/e2', '');
    const download = await browser.rest('GET', path);
    expect(download.statusCode).toBe(200);
    expect(download.body).toBe('Subject: mine\r\n\r\nHello');
    const other = openBrowser(gateway.app);
    await other.auth('POST', '/sign-up/email', {
      name: 'Bob',
      email: `${randomUUID()}@people.test`,
      password: 'correct horse',
    });
    expect((await other.rest('GET', path)).statusCode).toBe(404);
  });
});
