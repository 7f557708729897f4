import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { buildPayload, makeWebhookRequest, type PayloadParts } from '../../../actors/delivery/post-webhook.ts';
import { readWebhookConfig } from '../../../core/endpoints/endpoint-config.ts';

const none = { text: '', addresses: [] };
const partsWith = (timeout: number): PayloadParts => ({
  removed: { quotedText: null, signature: null },
  job: { createdAt: new Date(0), threadId: null, threadPosition: null },
  endpoint: {
    id: 'ep_1',
    name: 'x',
    type: 'webhook',
    webhookFormat: 'native',
    isActive: true,
    events: ['email.received'],
    filter: null,
    payloadQuery: null,
    ordering: 'none' as const,
    allowsActions: false,
    setByKeyId: null,
    grantedScopes: null,
    webhook: null,
  },
  webhook: {
    config: readWebhookConfig({ url: 'https://a.test/in', timeout, verificationToken: 't' }),
    origin: 'https://a.test',
    path: '/in',
    secrets: [],
  },
  email: {
    workspace_id: 'usr_1',
    raw_id: null,
    id: 'em_1',
    message_id: '<1@x.test>',
    subject: 's',
    recipient: 'a@b.test',
    own_address: 'a@b.test',
    created_at: new Date(0),
    date: new Date(0),
    headers: [],
    addresses: { from: none, to: none, cc: null, bcc: null, replyTo: null },
    in_reply_to: [],
    reference_ids: [],
    text_body: '',
    html_body: null,
    cleaned_text: null,
    cleaned_html: null,
    removed_parts: [],
    attachments: [],
    authentication: null,
    priority: null,
    injection: null,
    screening: null,
    is_truncated: false,
    is_test: false,
  },
  raw: null,
  publicUrl: 'https://mail.example.test',
  linkKey: Buffer.alloc(32),
});

test.each([
  [1, 1_000],
  [30, 30_000],
  [120, 120_000],
  [121, 120_000],
  [300, 120_000],
])('a timeout of %d s becomes %d ms: two minutes at most', (timeout, waited) => {
  const { endpoint, webhook, email } = partsWith(timeout);
  const request = { endpoint, webhook, email, body: Buffer.from('{}'), deliveryId: 'dlv_1', sentAt: new Date(1) };
  expect(makeWebhookRequest(request).timeoutMs).toBe(waited);
});

test('other deliveries go on while a payload with megabytes of mail is built', async () => {
  const parts = partsWith(30);
  let rounds = 0;
  let isBuilt = false;
  const counting = (async () => {
    for (; !isBuilt; rounds++) await nextRound();
  })();
  const body = await buildPayload({
    ...parts,
    email: { ...parts.email, text_body: 'a "quoted" \u00e9\n'.repeat(500_000) },
  });
  isBuilt = true;
  await counting;
  expect(body.length).toBeGreaterThan(900_000);
  expect(rounds).toBeGreaterThan(3);
});
