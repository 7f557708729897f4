import { expect, test } from 'vitest';
import { makeWebhookRequest, type WebhookRequestParts } from '../../../actors/delivery/post-webhook.ts';
import { readWebhookConfig } from '../../../core/endpoints/endpoint-config.ts';

const none = { text: '', addresses: [] };
const partsWith = (timeout: number): WebhookRequestParts => ({
  deliveryId: 'dlv_1',
  sentAt: new Date(1),
  selectedBody: null,
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
  expect(makeWebhookRequest(partsWith(timeout)).timeoutMs).toBe(waited);
});
