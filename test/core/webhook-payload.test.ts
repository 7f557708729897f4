import { expect, test } from 'vitest';
import type { Attachment } from '../../core/attachment.ts';
import { buildWebhookPayload, MAX_RAW_OCTETS, type PayloadFacts } from '../../core/webhook-payload.ts';

const attachment: Attachment = {
  index: 0,
  filename: 'a b.pdf',
  contentType: 'application/pdf',
  size: 3,
  contentId: null,
  contentDisposition: 'attachment',
  start: 10,
  length: 4,
  transferEncoding: 'base64',
};
const from = { text: 'Ann <ann@a.test>', addresses: [{ name: 'Ann', address: 'ann@a.test' }] };
const to = { text: 'b@b.test', addresses: [{ name: null, address: 'b@b.test' }] };
const facts: PayloadFacts = {
  timestamp: new Date('2026-11-20T12:00:01Z'),
  email: {
    id: 'em_1',
    messageId: '<1@a.test>',
    subject: 'Hi',
    recipient: 'b+tag@b.test',
    receivedAt: new Date('2026-11-20T12:00:00Z'),
    date: new Date('2026-11-20T11:59:00Z'),
    threadId: 'th_1',
    threadPosition: 2,
  },
  content: {
    headers: [
      ['received', 'one'],
      ['received', 'two'],
      ['__proto__', 'x'],
    ],
    addresses: { from, to, cc: null, bcc: null, replyTo: null },
    inReplyTo: ['<0@a.test>'],
    references: ['<00@a.test>', '<0@a.test>'],
    textBody: 'text > quoted',
    htmlBody: null,
    cleanedText: 'text',
    cleanedHtml: null,
    attachments: [attachment],
    priority: null,
    isTruncated: false,
  },
  raw: Buffer.from('Subject: Hi\r\n\r\nAAAA'),
  endpoint: { id: 'ep_1', name: 'Mine', type: 'webhook' },
  publicUrl: 'https://mail.example.test',
};

test('the nested payload has every field of the interface', () => {
  const attachments = [
    {
      filename: 'a b.pdf',
      contentType: 'application/pdf',
      size: 3,
      contentId: null,
      contentDisposition: 'attachment',
      downloadUrl: 'https://mail.example.test/api/e2/attachments/em_1/parts/0',
    },
  ];
  const headers = JSON.parse('{"received":"one\\ntwo","__proto__":"x"}');
  expect(JSON.parse(buildWebhookPayload('nested', facts))).toStrictEqual({
    event: 'email.received',
    timestamp: '2026-11-20T12:00:01.000Z',
    email: {
      id: 'em_1',
      messageId: '<1@a.test>',
      from,
      to,
      recipient: 'b+tag@b.test',
      subject: 'Hi',
      receivedAt: '2026-11-20T12:00:00.000Z',
      threadId: 'th_1',
      threadPosition: 2,
      parsedData: {
        messageId: '<1@a.test>',
        date: '2026-11-20T11:59:00.000Z',
        subject: 'Hi',
        from,
        to,
        cc: null,
        bcc: null,
        replyTo: null,
        inReplyTo: '<0@a.test>',
        references: ['<00@a.test>', '<0@a.test>'],
        textBody: 'text > quoted',
        htmlBody: null,
        raw: 'Subject: Hi\r\n\r\nAAAA',
        attachments,
        headers,
        priority: null,
      },
      cleanedContent: { html: null, text: 'text', hasHtml: false, hasText: true, attachments, headers },
    },
    endpoint: { id: 'ep_1', name: 'Mine', type: 'webhook' },
  });
});

test('the flat payload is the email alone', () => {
  expect(JSON.parse(buildWebhookPayload('flat', facts))).toMatchObject({
    id: 'em_1',
    type: 'received',
    from: 'Ann <ann@a.test>',
    to: ['b@b.test'],
    subject: 'Hi',
    html: null,
    text: 'text > quoted',
    receivedAt: '2026-11-20T12:00:00.000Z',
  });
});

test('equal facts give equal octets', () => {
  expect(buildWebhookPayload('nested', structuredClone({ ...facts, raw: null }))).toBe(
    buildWebhookPayload('nested', { ...facts, raw: null }),
  );
});

test('octets that are no UTF-8, and NUL, still make valid JSON', () => {
  const raw = Buffer.from([0xff, 0x00, 0x41, 0xc3]);
  expect(JSON.parse(buildWebhookPayload('nested', { ...facts, raw })).email.parsedData.raw).toBe('\uFFFD\0A\uFFFD');
});

test('above a million octets the encoded attachments are cut out of raw, and that is said', () => {
  const body = Buffer.alloc(MAX_RAW_OCTETS, 'A');
  const head = Buffer.from('Subject: Hi\r\n\r\n');
  const content = { ...facts.content, attachments: [{ ...attachment, start: head.length, length: body.length }] };
  const raw = Buffer.concat([head, body, Buffer.from('\r\n--end--')]);
  const { email } = JSON.parse(buildWebhookPayload('nested', { ...facts, content, raw }));
  expect(email.parsedData.raw).toBe('Subject: Hi\r\n\r\n\r\n--end--');
  expect(email.truncated).toEqual(['raw']);
});

test('an attachment within an attached message is cut out with it, once', () => {
  const head = Buffer.from('Subject: Hi\r\n\r\n');
  const outer = { ...attachment, start: head.length, length: MAX_RAW_OCTETS };
  const inner = { ...attachment, index: 1, start: head.length + 100, length: 50 };
  const content = { ...facts.content, attachments: [inner, outer] };
  const raw = Buffer.concat([head, Buffer.alloc(MAX_RAW_OCTETS, 'A'), Buffer.from('--end--')]);
  const { email } = JSON.parse(buildWebhookPayload('nested', { ...facts, content, raw }));
  expect(email.parsedData.raw).toBe('Subject: Hi\r\n\r\n--end--');
});

test('a text above a million octets is cut between characters', () => {
  const raw = Buffer.concat([Buffer.from('x'), Buffer.from('ä'.repeat(MAX_RAW_OCTETS))]);
  const { email } = JSON.parse(buildWebhookPayload('nested', { ...facts, raw }));
  expect(Buffer.byteLength(email.parsedData.raw)).toBe(MAX_RAW_OCTETS - 1);
  expect(email.parsedData.raw).not.toContain('\uFFFD');
  expect(email.truncated).toEqual(['raw']);
});

test('a million octets exactly are whole, and octets that are gone are said to be', () => {
  const whole = JSON.parse(buildWebhookPayload('nested', { ...facts, raw: Buffer.alloc(MAX_RAW_OCTETS, 'a') }));
  expect(whole.email.parsedData.raw).toHaveLength(MAX_RAW_OCTETS);
  expect(whole.email.truncated).toBeUndefined();
  expect(JSON.parse(buildWebhookPayload('nested', { ...facts, raw: null })).email.truncated).toEqual(['raw']);
});
