import { describe, expect, test } from 'vitest';
import { readMailReport } from '../../../core/mime/parse-bounce.ts';
import { parseMessage } from '../../../core/mime/parse-message.ts';
import { type BounceDraft, composeBounce } from '../../../core/smtp/compose-bounce.ts';

const draft: BounceDraft = {
  messageId: '<rcp_1.failed@mx.test>',
  date: new Date('2026-11-26T10:00:00Z'),
  mailHostname: 'mx.test',
  to: 'ann@own.test',
  original: {
    messageId: '<em_1@own.test>',
    inReplyTo: ['<zero@elsewhere.test>'],
    references: ['<root@elsewhere.test>', '<zero@elsewhere.test>'],
    subject: 'Grüße',
    queuedAt: new Date('2026-11-21T10:00:00Z'),
    bytes: Buffer.from(
      'From: Ann <ann@own.test>\r\nSubject: Hello\r\nMessage-ID: <em_1@own.test>\r\n\r\nSecret body\r\n',
    ),
  },
  recipients: [
    {
      address: 'joe@elsewhere.test',
      attempts: 37,
      status: '4.2.2',
      code: 452,
      text: 'Mailbox full',
      host: 'mx.elsewhere.test',
    },
    { address: 'eve@nowhere.test', attempts: 1, status: null, code: null, text: 'Connection refused', host: null },
  ],
};

test('is a message that replies to the original and that machines do not reply to', async () => {
  const message = await parseMessage(await composeBounce(draft));
  expect(message).toMatchObject({
    messageId: '<rcp_1.failed@mx.test>',
    inReplyTo: ['<em_1@own.test>'],
    references: ['<root@elsewhere.test>', '<zero@elsewhere.test>', '<em_1@own.test>'],
    subject: 'Undelivered mail: Grüße',
    date: draft.date,
    addresses: {
      from: { addresses: [{ name: 'Mail Delivery System', address: 'MAILER-DAEMON@mx.test' }] },
      to: { addresses: [{ name: null, address: 'ann@own.test' }] },
    },
    holdsReport: true,
  });
  expect(message.headers).toContainEqual(['auto-submitted', 'auto-replied']);
  expect(message.headers).toContainEqual([
    'content-type',
    expect.stringMatching(/^multipart\/report; report-type=delivery-status;/),
  ]);
});

test('explains what happened', async () => {
  const { textBody } = await parseMessage(await composeBounce(draft));
  expect(textBody).toContain(
    [
      '  joe@elsewhere.test',
      '    Delivery was attempted 37 times. The last reply was: 452 4.2.2 Mailbox full',
      '',
      '  eve@nowhere.test',
      '    Delivery was attempted once. The last reply was: Connection refused',
    ].join('\n'),
  );
  expect(textBody).toContain('Subject: Grüße\nSent: Sat, 21 Nov 2026 10:00:00 +0000\n');
});

test('is machine-readable, and contains nothing of the body', async () => {
  const bytes = await composeBounce(draft);
  const plain = {
    action: 'failed',
    bounce: 'soft',
    originalRecipient: null,
    command: null,
  };
  expect(await readMailReport(bytes)).toEqual({
    kind: 'delivery-status',
    isStructured: true,
    reportingMta: 'mx.test',
    originalMessageId: '<em_1@own.test>',
    recipients: [
      {
        ...plain,
        finalRecipient: 'joe@elsewhere.test',
        status: '4.2.2',
        diagnosticCode: '452 Mailbox full',
        reason: 'mailbox_full',
        replyCode: 452,
        remoteMta: 'mx.elsewhere.test',
      },
      {
        ...plain,
        finalRecipient: 'eve@nowhere.test',
        status: '4.4.7',
        diagnosticCode: 'Connection refused',
        reason: 'network_error',
        replyCode: null,
        remoteMta: null,
      },
    ],
  });
  expect(bytes.includes('Secret body')).toBe(false);
});

test('the same draft gives the same bytes', async () => {
  expect(await composeBounce(draft)).toEqual(await composeBounce({ ...draft }));
});

describe('has ASCII lines of at most 998 bytes that end in CRLF, whatever the server replied', () => {
  const recipient = { address: 'joe@elsewhere.test', attempts: 2, status: null, code: 450, text: null, host: null };
  test.each<[string, Partial<BounceDraft>]>([
    ['a text without end', { recipients: [{ ...recipient, text: 'x'.repeat(5_000) }] }],
    [
      'a text of many lines and characters',
      { recipients: [{ ...recipient, text: 'a\r\n.\r\nAction: delivered\0é\u2028\ud800' }] },
    ],
    ['a subject without end', { original: { ...draft.original, subject: 'x'.repeat(5_000) } }],
    ['a subject of other characters', { original: { ...draft.original, subject: '\u{1f600}'.repeat(500) } }],
    ['a subject of several lines', { original: { ...draft.original, subject: 'a\r\nBcc: b@c.test' } }],
    ['no subject', { original: { ...draft.original, subject: '' } }],
    ['an original that is gone', { original: { ...draft.original, bytes: null } }],
    ['an original that is all header', { original: { ...draft.original, bytes: Buffer.alloc(100_000, 'a') } }],
    ['an original that is not ASCII', { original: { ...draft.original, bytes: Buffer.from('Subject: é\r\n\r\n') } }],
    [
      'a chain without end',
      { original: { ...draft.original, references: Array.from({ length: 2_000 }, (_, n) => `<${n}@a.test>`) } },
    ],
  ])('%s', async (_, over) => {
    const bytes = await composeBounce({ ...draft, ...over });
    expect(bytes.toString('latin1')).not.toMatch(/[^\x09\x0d\x20-\x7e\n]|\r(?!\n)|(?<!\r)\n|[^\r\n]{999}/);
    const message = await parseMessage(bytes);
    expect(message.headers.map(([name]) => name)).not.toContain('bcc');
    expect(await readMailReport(bytes)).toMatchObject({ kind: 'delivery-status' });
    const { recipients } = (await readMailReport(bytes)) as { recipients: { action: string }[] };
    expect(recipients.every(({ action }) => action === 'failed')).toBe(true);
  });
});
