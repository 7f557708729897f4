import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../support/servers/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { ForwardingStage } from '../support/stages/forwarding-stage.ts';
import { readField, type SharedGround } from '../support/stages/sending-stage.ts';

const PEER = 'actions-peer.test';

let stage: ForwardingStage<SharedGround>;
let receiver: WebhookReceiver;
let address: string;
let endpointId: string;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  stage = await ForwardingStage.share('single', PEER);
  const { account } = stage.sending;
  const endpoint = await account.call('POST', '/endpoints', {
    name: 'agent',
    type: 'webhook',
    config: { url: receiver.url },
    allowActions: true,
  });
  expect(endpoint.status).toBe(201);
  endpointId = endpoint.body.id;
  address = `agent@${account.domain}`;
  const made = await account.call('POST', '/email-addresses', { address, domainId: account.domainId, endpointId });
  expect(made.status).toBe(201);
}, 300_000);
afterAll(async () => {
  await stage?.stop();
  await receiver?.stop();
});

function respondWith(actions: readonly object[]): void {
  receiver.respond([{ headers: { 'content-type': 'application/json' }, body: JSON.stringify({ actions }) }]);
}

function message(id: string, lines: readonly string[] = []): string {
  const head = [`From: Ann Peer <ann@${PEER}>`, `To: ${address}`, 'Subject: My order', `Message-ID: <${id}@${PEER}>`];
  return [...head, ...lines, '', 'Where is it?', ''].join('\r\n');
}

const DELIVERY = `query($id: ID!) {
  email(id: $id) {
    isArchived
    thread { labels messageCount }
    deliveries { edges { node { actions { place problem results { type status message email { id to { address } } } } } } }
    timeline { entries { kind title detail isFailure node { id } } }
  }
}`;

test('an endpoint replies to a mail by a reply, a label and archiving, and all of it is explained', async () => {
  const { account, sink } = stage.sending;
  respondWith([{ type: 'reply', text: 'It is on its way.' }, { type: 'label', name: 'orders' }, { type: 'archive' }]);
  const emailId = await stage.offer(address, message('first'), `ann@${PEER}`);
  const reply = await stage.copyTo(`ann@${PEER}`);
  expect(readField(reply.bytes, 'From')).toBe(address);
  expect(readField(reply.bytes, 'Subject')).toBe('Re: My order');
  expect(readField(reply.bytes, 'In-Reply-To')).toBe(`<first@${PEER}>`);
  expect(readField(reply.bytes, 'Auto-Submitted')).toBe('auto-replied');
  expect(reply.bytes.toString()).toContain('It is on its way.');
  expect(await stage.sending.verify(reply)).toMatchObject({ dkim: [{ result: 'pass' }], dmarc: 'pass' });

  const rest = await account.call('GET', `/emails/${emailId}/deliveries`);
  const [delivery] = rest.body.data;
  const replyId = delivery.actions.results[0].emailId;
  expect(delivery).toMatchObject({
    status: 'success',
    actions: {
      problem: null,
      results: [
        { type: 'reply', status: 'done', message: `Replied to ann@${PEER}.`, emailId: replyId, deliveryId: null },
        { type: 'label', status: 'done', message: 'Labeled “orders”.', emailId: null },
        { type: 'archive', status: 'done', message: 'Archived.', emailId: null },
      ],
    },
  });
  const { body } = await account.graphql(DELIVERY, { id: emailId });
  expect(body.data.email).toMatchObject({
    isArchived: true,
    thread: { labels: ['orders'], messageCount: 2 },
    deliveries: {
      edges: [
        {
          node: {
            actions: {
              place: null,
              problem: null,
              results: [
                { type: 'REPLY', status: 'DONE', email: { id: replyId, to: [{ address: `ann@${PEER}` }] } },
                { type: 'LABEL', status: 'DONE', email: null },
                { type: 'ARCHIVE', status: 'DONE', email: null },
              ],
            },
          },
        },
      ],
    },
  });
  const acted = body.data.email.timeline.entries.filter(({ kind }: { kind: string }) => /ACTION|ARCHIVED/.test(kind));
  expect(acted).toEqual([
    {
      kind: 'ACTION',
      title: 'Action “reply” of endpoint “agent”',
      detail: `Replied to ann@${PEER}.`,
      isFailure: false,
      node: { id: replyId },
    },
    expect.objectContaining({ title: 'Action “label” of endpoint “agent”', node: { id: delivery.id } }),
    expect.objectContaining({ title: 'Action “archive” of endpoint “agent”' }),
  ]);
  expect(sink.messages).toHaveLength(1);
});

test('an automatic reply of the other side gets no automatic reply', async () => {
  const { account, sink } = stage.sending;
  respondWith([{ type: 'reply', text: 'Thank you.' }, { type: 'read' }]);
  const fields = [`In-Reply-To: <first@${PEER}>`, 'Auto-Submitted: auto-replied'];
  const emailId = await stage.offer(address, message('vacation', fields), `ann@${PEER}`);
  let actions: unknown = null;
  await until(
    'the actions are refused',
    () => JSON.stringify(actions),
    async () => {
      actions = (await account.call('GET', `/emails/${emailId}/deliveries`)).body.data[0]?.actions;
      return actions != null;
    },
  );
  const refusal =
    'The email is automatic or bulk mail (auto-submitted: auto-replied), so it gets no automatic reply (RFC 3834).';
  expect(actions).toEqual({
    problem: { place: 'actions[0]', message: refusal },
    results: [
      { type: 'reply', status: 'refused', message: refusal, emailId: null, deliveryId: null },
      expect.objectContaining({ type: 'read', status: 'skipped' }),
    ],
  });
  const timeline = await account.call('GET', `/emails/${emailId}/timeline`);
  expect(timeline.body.entries.filter(({ kind }: { kind: string }) => kind === 'action')).toEqual([
    expect.objectContaining({
      title: 'The actions of endpoint “agent” did not run',
      detail: `actions[0]: ${refusal}`,
      is_failure: true,
    }),
  ]);
  expect(sink.messages).toHaveLength(1);
});

test('a reply of a webhook has its own subject and Reply-To, and stays in its thread', async () => {
  const replyTo = [`desk@${PEER}`, `Orders <orders@${PEER}>`];
  respondWith([{ type: 'reply', text: 'We have it.', subject: 'Ticket 4711', reply_to: replyTo }]);
  const emailId = await stage.offer(address, message('ticket').replaceAll('ann@', 'tess@'), `tess@${PEER}`);
  const reply = await stage.copyTo(`tess@${PEER}`);
  expect(readField(reply.bytes, 'Subject')).toBe('Ticket 4711');
  expect(readField(reply.bytes, 'Reply-To')).toBe(`desk@${PEER}, Orders <orders@${PEER}>`);
  expect(readField(reply.bytes, 'In-Reply-To')).toBe(`<ticket@${PEER}>`);
  expect(readField(reply.bytes, 'From')).toBe(address);
  const { body } = await stage.sending.account.graphql(DELIVERY, { id: emailId });
  expect(body.data.email.thread.messageCount).toBe(2);
});
