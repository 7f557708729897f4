import { describe, expect, test } from 'vitest';
import {
  composeForward,
  type ForwardConfig,
  forwardSender,
  readForwardConfig,
  type SenderFacts,
} from '../../../core/endpoints/forward.ts';
import { parseMessage } from '../../../core/mime/parse-message.ts';
import { isTransferable } from '../../../core/mime/transfer-form.ts';
import { listFields, readField } from '../../support/stages/sending-stage.ts';

const CONFIG = readForwardConfig({ forwardTo: 'joe@x.test' });

function compose(lines: readonly string[], over: Partial<ForwardConfig> = {}, isGroup = false): Promise<Buffer> {
  return composeForward(
    {
      bytes: Buffer.from(lines.join('\r\n'), 'utf8'),
      traceFields: 'Received: from peer\r\n\tby us; now\r\n',
      ownAddress: 'hello@box.test',
      receivedAt: new Date('2026-11-20T20:05:06Z'),
    },
    { ...CONFIG, ...over },
    { messageId: '<dlv_1@box.test>', from: 'hello@box.test', isGroup, verified: null },
  );
}

describe('a stored forward config', () => {
  test('has defaults, and valid addresses without duplicates', () => {
    expect(readForwardConfig({ emails: ['A@X.test', 'A@x.TEST', 'b@ü.test', 'no address'], extra: 1 })).toEqual({
      addresses: ['A@x.test', 'b@xn--tda.test'],
      unusable: ['no address'],
      preserveHeaders: false,
      includeAttachments: true,
      subjectPrefix: '',
      fromAddress: null,
      senderName: null,
    });
  });

  test.each([{}, null, { emails: 'a@x.test' }, { forwardTo: 5 }])('%j is no valid config', (stored) => {
    expect(() => readForwardConfig(stored)).toThrow();
  });
});

test.each<[fromAddress: string | null, facts: Partial<SenderFacts>, expected: string]>([
  [null, {}, 'hello@box.test'],
  ['desk@other.test', { isFromVerified: true }, 'desk@other.test'],
  ['desk@stranger.test', {}, 'hello@box.test'],
  [null, { ownAddress: 'grüße@box.test' }, 'postroom@box.test'],
  ['desk@stranger.test', { ownAddress: null }, 'postroom@box.test'],
  [null, { ownAddress: null, verifiedDomain: null }, 'postroom@mx.test'],
  ['desk@other.test', { isFromVerified: true, ownAddress: null, verifiedDomain: null }, 'desk@other.test'],
])('a copy with fromAddress %s and %j is sent by %s', (fromAddress, facts, expected) => {
  const all = { isFromVerified: false, ownAddress: 'hello@box.test', verifiedDomain: 'box.test', ...facts };
  const sender = forwardSender({ fromAddress }, { ...all, systemAddress: 'postroom@mx.test' });
  expect(sender).toEqual({ address: expected, isSystem: expected === 'postroom@mx.test' });
});

describe('a copy', () => {
  const original = [
    'From: Ann <ann@peer.test>',
    'Subject: Hello',
    'Message-ID: <1@peer.test>',
    'Date: Fri, 20 Nov 2026 10:00:00 +0100',
    '',
    'Hi',
    '',
  ];

  test.each([{}, { preserveHeaders: true }])('with %j has the text that is directly below the fields', async (over) => {
    const bare = [...original.slice(0, 4), 'The empty line above this text is missing.', '', 'Hi', ''];
    const { textBody } = await parseMessage(await compose(bare, over));
    expect(textBody).toBe('The empty line above this text is missing.\n\nHi\n');
  });

  test('has the trace fields on top, ours first, and keeps Delivered-To of every hop', async () => {
    const copy = await compose([
      'Received: from far',
      'Delivered-To: a@box.test',
      'Return-Path: <x@y>',
      'DKIM-Signature: v=1',
      'ARC-Seal: i=1',
      'Authentication-Results: us; dkim=pass',
      'Bcc: secret@x.test',
      ...original,
    ]);
    expect(listFields(copy).map(([name]) => name)).toEqual([
      'Delivered-To',
      'Received',
      'Received',
      'Delivered-To',
      'From',
      'Reply-To',
      'To',
      'Message-ID',
      'Date',
      'References',
      'X-Original-From',
      'X-Original-Message-ID',
      'Subject',
      'MIME-Version',
    ]);
    expect(
      listFields(copy)
        .filter(([name]) => name === 'Delivered-To')
        .map(([, value]) => value),
    ).toEqual(['hello@box.test', 'a@box.test']);
  });

  test('of the same message is the same', async () => {
    expect(await compose(original)).toEqual(await compose(original));
  });

  test.each<[what: string, lines: string[], over: Partial<ForwardConfig>, field: string, value: string | null]>([
    ['the sender by name', [], {}, 'From', '"Ann via hello@box.test" <hello@box.test>'],
    ['Reply-To: the original’s', ['Reply-To: desk@peer.test'], {}, 'Reply-To', 'desk@peer.test'],
    ['Reply-To: else its From', [], {}, 'Reply-To', 'Ann <ann@peer.test>'],
    ['the date of the original', [], {}, 'Date', 'Fri, 20 Nov 2026 09:00:00 +0000'],
    ['a prefix before the subject', [], { subjectPrefix: '[x] ' }, 'Subject', '[x] Hello'],
    ['a prefix beyond ASCII', [], { subjectPrefix: 'Ü ' }, 'Subject', '=?UTF-8?Q?=C3=9C?= Hello'],
    ['the name that was configured', [], { senderName: 'Desk' }, 'From', 'Desk <hello@box.test>'],
    ['Auto-Submitted', ['Auto-Submitted: auto-replied'], {}, 'Auto-Submitted', 'auto-replied'],
    ['Precedence', ['Precedence: bulk'], {}, 'Precedence', 'bulk'],
    ['List-Id', ['List-Id: <l.peer.test>'], {}, 'List-Id', '<l.peer.test>'],
    ['no other field', ['X-Mailer: a', 'Disposition-Notification-To: a@b'], {}, 'Disposition-Notification-To', null],
  ])('has %s', async (_, lines, over, field, value) => {
    expect(readField(await compose([...lines, ...original], over), field)).toBe(value);
  });

  test('for a group is addressed to the receiving address', async () => {
    expect(readField(await compose(original, {}, true), 'To')).toBe('hello@box.test');
    expect(readField(await compose(original), 'To')).toBe('joe@x.test');
  });

  test('of a message without MIME declares the encoding of its body', async () => {
    const copy = await compose(['From: ann@peer.test', '', 'Grüße', '']);
    expect([readField(copy, 'MIME-Version'), readField(copy, 'Content-Transfer-Encoding')]).toEqual(['1.0', 'base64']);
    expect(
      listFields(await compose(['MIME-Version: 1.0', ...original])).filter(([name]) => /^mime/i.test(name)),
    ).toHaveLength(1);
  });

  test('contains no address of a sender without a name', async () => {
    const copy = await compose(['From: ann@peer.test', '', 'Hi', '']);
    expect((await parseMessage(copy)).addresses.from?.addresses).toEqual([
      { name: 'ann at peer.test via hello@box.test', address: 'hello@box.test' },
    ]);
  });

  test.each<[what: string, lines: string[]]>([
    ['nothing at all', []],
    ['a header section alone', ['Subject: x', '']],
    ['no header section', ['', 'text', '']],
    ['lines that are no fields', ['From a mailbox', 'garbage', 'Subject: x', '', 'y', '']],
    ['fields that would split', ['From: "a\rBcc: x@y" <ann@peer.test>', 'Subject: a\rBcc: x@y', '', '']],
    [
      'a thousand References',
      [`References: ${Array.from({ length: 1_000 }, (_, n) => `<${n}@peer.test>`).join(' ')}`, '', ''],
    ],
    [
      'bytes beyond ASCII everywhere',
      [
        'From: Änn <ann@peer.test>',
        'Subject: Grüße',
        'List-Id: Ü <a.b>',
        'Content-Type: text/plain; charset=utf-8',
        '',
        'Ü',
        '',
      ],
    ],
  ])('of %s is accepted by every server', async (_, lines) => {
    for (const preserveHeaders of [false, true]) {
      const copy = await compose(lines, { preserveHeaders });
      expect(isTransferable(copy, preserveHeaders ? '8bit' : '7bit')).toBe(true);
      expect(listFields(copy).filter(([name]) => /^bcc$/i.test(name))).toEqual([]);
      if (!preserveHeaders) expect(readField(copy, 'Message-ID')).toBe('<dlv_1@box.test>');
    }
  });
});

test('a relayed original is unchanged below our trace fields', async () => {
  const lines = ['From: Ann <ann@peer.test>', 'DKIM-Signature: v=1', 'Subject: Grüße', '', 'Ü', ''];
  const copy = await compose(lines, { preserveHeaders: true, subjectPrefix: 'no', senderName: 'no' });
  expect(copy.toString()).toBe(
    `Delivered-To: hello@box.test\r\nReceived: from peer\r\n\tby us; now\r\n${lines.join('\r\n')}`,
  );
});

describe('forwarding without attachments removes them', () => {
  const part = (type: string, disposition: string, body: string) => [
    `--b`,
    `Content-Type: ${type}`,
    `Content-Disposition: ${disposition}`,
    '',
    body,
  ];
  const mixed = (...parts: string[][]) => [
    'Content-Type: multipart/mixed; boundary=b',
    '',
    ...parts.flat(),
    '--b--',
    '',
  ];
  const names = async (bytes: Buffer) => {
    const { textBody, attachments } = await parseMessage(bytes);
    return [textBody?.trim() ?? null, attachments.map(({ filename }) => filename)];
  };

  test.each<[what: string, lines: string[], expected: unknown]>([
    [
      'one of two parts',
      mixed(part('text/plain', 'inline', 'Hi'), part('application/pdf', 'attachment; filename=a.pdf', 'A')),
      ['Hi', []],
    ],
    [
      'the first part',
      mixed(part('application/pdf', 'attachment; filename=a.pdf', 'A'), part('text/plain', 'inline', 'Hi')),
      ['Hi', []],
    ],
    [
      'text files',
      mixed(part('text/plain', 'inline', 'Hi'), part('text/csv', 'attachment; filename=a.csv', 'A')),
      ['Hi', []],
    ],
    ['all there is', mixed(part('application/pdf', 'attachment; filename=a.pdf', 'A')), ['', []]],
    ['the message itself', ['Content-Type: application/pdf', 'Content-Disposition: attachment', '', 'A', ''], ['', []]],
    [
      'messages',
      mixed(part('text/plain', 'inline', 'Hi'), part('message/rfc822', 'attachment', 'Subject: x\r\n\r\ny')),
      ['Hi', []],
    ],
  ])('%s', async (_, lines, expected) => {
    expect(await names(await compose(lines, { includeAttachments: false }))).toEqual(expected);
    expect(await names(await compose(lines, { includeAttachments: false, preserveHeaders: true }))).toEqual(expected);
  });
});
