import { expect, test } from 'vitest';
import { deriveDownloadLinkKey } from '../../../core/endpoints/download-link.ts';
import { cutToJsonBytes, jsonBytes, type PayloadSizes, planPayload } from '../../../core/endpoints/payload-budget.ts';
import { linkTo, type PayloadFacts } from '../../../core/endpoints/payload-facts.ts';
import { buildWebhookPayload, needsRaw, type PayloadOptions } from '../../../core/endpoints/webhook-payload.ts';
import type { Attachment } from '../../../core/mime/attachment.ts';
import { type CalendarEvent, findEvent } from '../../../core/mime/calendar-event.ts';
import { parseMessage } from '../../../core/mime/parse-message.ts';
import { readRemovedTexts } from '../../../core/mime/reply-text.ts';
import { NOT_CHECKED } from '../../../core/screening/spam-check.ts';
import { finishSteps } from '../../../core/shared/steps.ts';
import { hasCorpora, readEmlMessages } from '../../support/mail/corpora.ts';

/** The payload as text. */
function payloadText(options: PayloadOptions, facts: PayloadFacts): string {
  return finishSteps(buildWebhookPayload(options, facts)).toString('utf8');
}

const attachment: Attachment = {
  index: 0,
  filename: 'a b.pdf',
  contentType: 'application/pdf',
  size: 3,
  contentId: null,
  contentDisposition: 'attachment',
  start: 15,
  length: 4,
  transferEncoding: 'base64',
};
const NESTED: PayloadOptions = { payload: 'nested', maxPayloadOctets: 4_000_000, attachments: 'content' };
const FLAT: PayloadOptions = { ...NESTED, payload: 'flat' };
const from = { text: 'Ann <ann@a.test>', addresses: [{ name: 'Ann', address: 'ann@a.test' }] };
const to = { text: 'b@b.test', addresses: [{ name: null, address: 'b@b.test' }] };
const sender: PayloadFacts['sender'] = {
  authentication: {
    spf: { result: 'pass', domain: 'a.test' },
    dkim: [{ result: 'pass', domain: 'a.test', selector: 's1' }],
    dmarc: { result: 'pass', domain: 'a.test', policy: 'reject' },
    arc: { result: 'none', domain: null },
    hasSeveralFromFields: false,
  },
  verdict: { verdict: 'verified', domain: 'a.test', text: 'a.test signed this message (DKIM).' },
};
const facts: PayloadFacts = {
  sender,
  timestamp: new Date('2026-11-20T12:00:01Z'),
  workspaceId: 'usr_1',
  linkKey: deriveDownloadLinkKey(Buffer.alloc(32, 1)),
  linkHolder: 'ep_1',
  email: {
    id: 'em_1',
    messageId: '<1@a.test>',
    subject: 'Hi',
    recipient: 'b+tag@b.test',
    receivedAt: new Date('2026-11-20T12:00:00Z'),
    date: new Date('2026-11-20T11:59:00Z'),
    threadId: 'th_1',
    threadPosition: 2,
    metadata: { order: 4711 },
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
    quotedText: '> quoted',
    signature: null,
    removedParts: [],
    attachments: [attachment],
    priority: null,
    injection: null,
    screening: null,
    isTruncated: false,
  },
  raw: Buffer.from('Subject: Hi\r\n\r\nAAAA'),
  endpoint: { id: 'ep_1', name: 'Mine', type: 'webhook' },
  publicUrl: 'https://mail.example.test',
};

/** Signed, until a week after the delivery was made. */
const linkMatching = (path: string): unknown =>
  expect.stringMatching(
    new RegExp(`^https://mail\\.example\\.test${path}\\?user=usr_1&for=ep_1&expires=1795780801&signature=[\\w-]{43}$`),
  );

test('the nested payload has every field of the interface', () => {
  const file = {
    filename: 'a b.pdf',
    contentType: 'application/pdf',
    size: 3,
    contentId: null,
    contentDisposition: 'attachment',
    content: 'AAAA',
    downloadUrl: linkMatching('/api/e2/attachments/em_1/parts/0'),
  };
  const headers = JSON.parse('{"received":"one\\ntwo","__proto__":"x"}');
  expect(JSON.parse(payloadText(NESTED, facts))).toStrictEqual({
    event: 'email.received',
    id: 'evt_1',
    type: 'email.received',
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
      metadata: { order: 4711 },
      senderVerdict: sender.verdict,
      authentication: sender.authentication,
      security: { injection: null, spam: NOT_CHECKED },
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
        rawUrl: linkMatching('/api/e2/emails/em_1/raw'),
        attachments: [file],
        event: null,
        headers,
      },
      cleanedContent: {
        html: null,
        text: 'text',
        hasHtml: false,
        hasText: true,
        attachments: [{ ...file, content: null }],
        headers,
        quotedText: '> quoted',
        signature: null,
        removedParts: [],
      },
      truncated: [],
    },
    endpoint: { id: 'ep_1', name: 'Mine', type: 'webhook' },
  });
});

test('the flat payload is only the email', () => {
  expect(JSON.parse(payloadText(FLAT, facts))).toMatchObject({
    id: 'em_1',
    type: 'received',
    eventId: 'evt_1',
    eventType: 'email.received',
    messageId: '<1@a.test>',
    threadId: 'th_1',
    threadPosition: 2,
    recipient: 'b+tag@b.test',
    from: 'Ann <ann@a.test>',
    to: ['b@b.test'],
    cc: [],
    senderVerdict: sender.verdict,
    authentication: sender.authentication,
    security: { injection: null, spam: NOT_CHECKED },
    subject: 'Hi',
    html: null,
    text: 'text > quoted',
    receivedAt: '2026-11-20T12:00:00.000Z',
    attachments: [{ filename: 'a b.pdf', content: 'AAAA' }],
    truncated: [],
  });
});

test('equal facts give equal bytes', () => {
  expect(payloadText(NESTED, structuredClone({ ...facts, raw: null }))).toBe(
    payloadText(NESTED, { ...facts, raw: null }),
  );
});

test('bytes that are not UTF-8, and NUL, still give valid JSON', () => {
  const raw = Buffer.from([0xff, 0x00, 0x41, 0xc3]);
  expect(JSON.parse(payloadText(NESTED, { ...facts, raw })).email.parsedData.raw).toBe('\uFFFD\0A\uFFFD');
});

/** All keys of a JSON value, in their order, lists by their first element. */
function readKeys(value: unknown): unknown {
  if (Array.isArray(value)) return [readKeys(value[0])];
  if (typeof value !== 'object' || value === null) return null;
  return Object.entries(value).map(([key, inner]) => [key, key === 'headers' ? null : readKeys(inner)]);
}

const html = (bytes: number) => `<p>${'h'.repeat(bytes - 7)}</p>`;
const head = Buffer.from('Subject: Hi\r\n\r\n');
/** 30,000 bytes of attachments, 600 of them small, within a raw message of 45,000; HTML of 10,000, text of 8,000. */
const large: PayloadFacts = {
  ...facts,
  content: {
    ...facts.content,
    headers: [['subject', 'Hi']],
    htmlBody: html(10_000),
    cleanedHtml: html(9_000),
    textBody: 't'.repeat(8_000),
    cleanedText: 'c'.repeat(1_000),
    quotedText: 't'.repeat(900),
    signature: 't'.repeat(100),
    attachments: [
      { ...attachment, index: 0, filename: 'film.mp4', size: 29_400, start: head.length, length: 39_200 },
      { ...attachment, index: 1, filename: 'bill.xml', size: 600, start: head.length + 39_200, length: 800 },
    ],
  },
  raw: Buffer.concat([head, Buffer.alloc(45_000 - head.length, 'A')]),
};

test.each<[form: 'nested' | 'flat', budget: number, truncated: string[], contents: (number | null)[]]>([
  ['nested', 200_000, [], [39_200, 800]],
  ['nested', 80_000, ['attachments'], [null, 800]],
  ['nested', 60_000, ['attachments', 'raw'], [null, null]],
  ['nested', 30_000, ['attachments', 'raw', 'html'], [null, null]],
  ['nested', 10_000, ['attachments', 'raw', 'html', 'text'], [null, null]],
  ['flat', 200_000, [], [39_200, 800]],
  ['flat', 25_000, ['attachments'], [null, 800]],
  ['flat', 15_000, ['attachments', 'html'], [null, null]],
  ['flat', 5_000, ['attachments', 'html', 'text'], [null, null]],
])('%s within %i bytes leaves out %j', (payload, maxPayloadOctets, truncated, contents) => {
  const text = payloadText({ payload, maxPayloadOctets, attachments: 'content' }, large);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxPayloadOctets);
  const body = JSON.parse(text);
  const mail = payload === 'nested' ? body.email.parsedData : body;
  expect((payload === 'nested' ? body.email : body).truncated).toEqual(truncated);
  expect(mail.attachments.map((each: { content: string | null }) => each.content?.length ?? null)).toEqual(contents);
  for (const each of mail.attachments) expect(each.downloadUrl).toMatch(/signature=/);
  const [htmlBody, textBody] = payload === 'nested' ? [mail.htmlBody, mail.textBody] : [mail.html, mail.text];
  expect(htmlBody).toBe(truncated.includes('html') ? null : html(10_000));
  expect(textBody.length === 8_000).toBe(!truncated.includes('text'));
  if (truncated.includes('text')) expect(textBody.length).toBeGreaterThan(500);
  if (payload === 'nested')
    expect(body.email.cleanedContent.quotedText?.length).toBe(truncated.includes('text') ? undefined : 900);
  if (payload === 'nested') expect(mail.raw.length).toBe(truncated.includes('raw') ? 0 : 45_000);
  // The same keys, whatever is left out.
  const whole = JSON.parse(payloadText({ payload, maxPayloadOctets: 10_000_000, attachments: 'content' }, large));
  expect(readKeys(body)).toStrictEqual(readKeys(whole));
  expect(readKeys(JSON.parse(payloadText({ ...NESTED, payload }, facts)))).toStrictEqual(readKeys(whole));
});

test('an endpoint configured for links gets links, and nothing counts as truncated', () => {
  const { email } = JSON.parse(payloadText({ ...NESTED, attachments: 'link' }, facts));
  expect(email.parsedData.attachments).toMatchObject([
    { content: null, downloadUrl: expect.stringMatching(/signature=/) },
  ]);
  expect(email.truncated).toEqual([]);
});

test('parts that were lost with the bytes of the message are named', () => {
  const gone = { ...facts, raw: null };
  expect(JSON.parse(payloadText(NESTED, gone)).email).toMatchObject({
    parsedData: { raw: '', attachments: [{ content: null }] },
    truncated: ['attachments', 'raw'],
  });
  expect(JSON.parse(payloadText(FLAT, gone)).truncated).toEqual(['attachments']);
  expect(JSON.parse(payloadText({ ...FLAT, attachments: 'link' }, gone)).truncated).toEqual([]);
});

test('offsets in a text that was cut are left out', () => {
  const removedParts = [{ kind: 'quote' as const, start: 0, end: 900 }];
  const partsWithin = (maxPayloadOctets: number) =>
    JSON.parse(payloadText({ ...NESTED, maxPayloadOctets }, { ...large, content: { ...large.content, removedParts } }))
      .email.cleanedContent.removedParts;
  expect(partsWithin(200_000)).toEqual(removedParts);
  expect(partsWithin(10_000)).toEqual([]);
});

test('the bytes of the message are needed only for contents', () => {
  expect(needsRaw(NESTED, [])).toBe(true);
  expect(needsRaw(FLAT, [])).toBe(false);
  expect(needsRaw(FLAT, [attachment])).toBe(true);
  expect(needsRaw({ ...FLAT, attachments: 'link' }, [attachment])).toBe(false);
});

test('parts that the parser dropped are named beside those left out', () => {
  const content = { ...large.content, isTruncated: true };
  const { email } = JSON.parse(payloadText({ ...NESTED, maxPayloadOctets: 80_000 }, { ...large, content }));
  expect(email.truncated).toEqual(['attachments', 'content']);
});

test.each([
  ['quotes', '"'.repeat(20_000)],
  ['control characters', '\u0001'.repeat(20_000)],
  ['emoji', '👩‍💻'.repeat(5_000)],
  ['lone surrogates', '\ud83d'.repeat(20_000)],
])('%s in every text do not exceed the budget', (_, text) => {
  const content = { ...large.content, textBody: text, cleanedText: text, htmlBody: text, cleanedHtml: text };
  for (const maxPayloadOctets of [10_000, 40_000, 100_000, 200_000])
    for (const payload of ['nested', 'flat'] as const) {
      const raw = Buffer.from(text);
      const built = payloadText({ payload, maxPayloadOctets, attachments: 'content' }, { ...large, content, raw });
      expect(Buffer.byteLength(built)).toBeLessThanOrEqual(maxPayloadOctets);
      expect(JSON.parse(built)).toBeTruthy();
    }
});

test('header fields are left out last', () => {
  const headers: [string, string][] = [['x-long', 'x'.repeat(20_000)]];
  const facts10 = { ...large, content: { ...large.content, headers } };
  const text = payloadText({ ...NESTED, maxPayloadOctets: 10_000 }, facts10);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(10_000);
  const { email } = JSON.parse(text);
  expect(email.truncated).toEqual(['attachments', 'raw', 'html', 'text', 'headers']);
  expect(email.parsedData.headers).toEqual({});
});

/** Payloads are joined of texts; here they are objects, and their bytes have to be equal. */
const OPTIONS = { maxPayloadOctets: 1e9, attachments: 'link' } as const;
const EMAIL = {
  id: 'em_1',
  recipient: 'b+tag@b.test',
  receivedAt: new Date('2026-11-20T12:00:00Z'),
  threadId: null,
  threadPosition: null,
  metadata: null,
};

async function readFacts(raw: Buffer): Promise<PayloadFacts> {
  const { messageId, subject, date, addresses, inReplyTo, references, ...rest } = await parseMessage(raw);
  const { textBody, removedParts } = rest;
  const bodies = { text: textBody, html: rest.htmlBody };
  const { quotedText, signature } = await readRemovedTexts(bodies, removedParts, async (step) => step());
  return {
    timestamp: new Date('2026-11-20T12:00:01Z'),
    workspaceId: 'usr 1',
    sender: { authentication: null, verdict: null },
    linkKey: deriveDownloadLinkKey(Buffer.alloc(32, 1)),
    linkHolder: 'ep_1',
    email: { ...EMAIL, messageId: messageId ?? '', subject, date },
    content: {
      ...rest,
      screening: null,
      addresses,
      inReplyTo,
      references,
      quotedText: quotedText ?? null,
      signature: signature ?? null,
    },
    raw,
    endpoint: { id: 'ep_1', name: 'Mine "\u2028"', type: 'webhook' },
    publicUrl: 'https://mail.example.test',
  };
}

function makeHeaders(headers: PayloadFacts['content']['headers']): Record<string, string> {
  const names = new Set(headers.map(([name]) => name));
  const values = (name: string) => headers.filter(([other]) => other === name).map(([, value]) => value);
  return Object.assign(
    Object.create(null),
    Object.fromEntries([...names].map((name) => [name, values(name).join('\n')])),
  );
}

function listFiles(facts: PayloadFacts) {
  return facts.content.attachments.map((file) => ({
    filename: file.filename,
    contentType: file.contentType,
    size: file.size,
    contentId: file.contentId,
    contentDisposition: file.contentDisposition ?? 'attachment',
    content: null,
    downloadUrl: linkTo(facts, file.index),
  }));
}

function makeNested(facts: PayloadFacts) {
  const { email, content } = facts;
  const { from, to, cc, bcc, replyTo } = content.addresses;
  const { id, messageId, subject, recipient, receivedAt, threadId, threadPosition, metadata, date } = email;
  const noAddresses = { text: '', addresses: [] };
  const headers = makeHeaders(content.headers);
  return {
    event: 'email.received',
    id: 'evt_1',
    type: 'email.received',
    timestamp: facts.timestamp,
    email: {
      id,
      messageId,
      from: from ?? noAddresses,
      to: to ?? noAddresses,
      recipient,
      subject,
      receivedAt,
      threadId,
      threadPosition,
      metadata,
      senderVerdict: facts.sender.verdict,
      authentication: facts.sender.authentication,
      security: { injection: content.injection, spam: NOT_CHECKED },
      parsedData: {
        messageId,
        date: date ?? receivedAt,
        subject,
        from: from ?? noAddresses,
        to: to ?? noAddresses,
        cc,
        bcc,
        replyTo,
        // Left out where there is none, as priority is.
        ...(content.inReplyTo[0] === undefined ? {} : { inReplyTo: content.inReplyTo[0] }),
        references: content.references,
        textBody: content.textBody,
        htmlBody: content.htmlBody,
        raw: facts.raw?.toString('utf8'),
        rawUrl: linkTo(facts, 'raw'),
        attachments: listFiles(facts),
        ...(content.priority === null ? {} : { priority: content.priority }),
        event: findEvent(content.attachments),
        headers,
      },
      cleanedContent: {
        html: content.cleanedHtml,
        text: content.cleanedText,
        hasHtml: Boolean(content.cleanedHtml),
        hasText: Boolean(content.cleanedText),
        attachments: listFiles(facts),
        headers,
        quotedText: content.quotedText,
        signature: content.signature,
        removedParts: content.removedParts,
      },
      truncated: content.isTruncated ? ['content'] : [],
    },
    endpoint: facts.endpoint,
  };
}

function makeFlat(facts: PayloadFacts) {
  const { email, content } = facts;
  return {
    id: email.id,
    type: 'received',
    eventId: 'evt_1',
    eventType: 'email.received',
    messageId: email.messageId,
    threadId: email.threadId,
    threadPosition: email.threadPosition,
    recipient: email.recipient,
    from: content.addresses.from?.text ?? '',
    to: content.addresses.to?.addresses.map(({ address }) => address) ?? [],
    cc: content.addresses.cc?.addresses.map(({ address }) => address) ?? [],
    subject: email.subject,
    metadata: email.metadata,
    senderVerdict: facts.sender.verdict,
    authentication: facts.sender.authentication,
    security: { injection: content.injection, spam: NOT_CHECKED },
    html: content.htmlBody,
    text: content.textBody,
    attachments: listFiles(facts),
    event: findEvent(content.attachments),
    headers: makeHeaders(content.headers),
    receivedAt: email.receivedAt,
    rawUrl: linkTo(facts, 'raw'),
    truncated: content.isTruncated ? ['content'] : [],
  };
}

function expectEqualBytes(facts: PayloadFacts): void {
  expect(payloadText({ ...OPTIONS, payload: 'nested' }, facts)).toBe(JSON.stringify(makeNested(facts)));
  expect(payloadText({ ...OPTIONS, payload: 'flat' }, facts)).toBe(JSON.stringify(makeFlat(facts)));
}

test.skipIf(!hasCorpora)('payloads of real mail have the bytes of JSON.stringify', async () => {
  const messages = await readEmlMessages();
  for (const { bytes } of messages.filter((_, n) => n % 4 === 0)) expectEqualBytes(await readFacts(bytes));
});

test('payloads have the bytes of JSON.stringify whatever the texts hold', async () => {
  const facts = await readFacts(
    Buffer.from('Subject: Hi "you"\r\n7: x\r\n__proto__: y\r\n\r\n\xfftext\\\x01\r\n', 'latin1'),
  );
  const ends = ['', ' ', '\r\n', '\\', '"', '\t\v\f\u00a0\u2028\ufeff', '\\n', '\ud800', '\x07', '\n\\r\n', '\u000b'];
  for (const first of ends)
    for (const last of ends)
      for (const middle of ['', 'ä \n 😀', '\udc00\ud800'])
        for (const cut of [(text: string) => text, (text: string) => text.trim(), () => null, () => 'other']) {
          const textBody = first + middle + last;
          expectEqualBytes({ ...facts, content: { ...facts.content, textBody, cleanedText: cut(textBody) } });
        }
});

/** 10,000 bytes in all. */
const SIZES: PayloadSizes = {
  fixed: 500,
  contents: [100, 3_000, 900],
  raw: 3_000,
  html: 1_500,
  text: 800,
  headers: 200,
};

test.each<[budget: number, contents: number[], dropped: string[], textBytes: number | null]>([
  [10_000, [0, 1, 2], [], null],
  [9_999, [0, 2], ['attachments'], null],
  [7_000, [0, 2], ['attachments'], null],
  [6_999, [0], ['attachments'], null],
  [6_099, [], ['attachments'], null],
  [6_000, [], ['attachments'], null],
  [5_999, [], ['attachments', 'raw'], null],
  [3_000, [], ['attachments', 'raw'], null],
  [2_999, [], ['attachments', 'raw', 'html'], null],
  [1_500, [], ['attachments', 'raw', 'html'], null],
  [1_499, [], ['attachments', 'raw', 'html', 'text'], 799],
  [700, [], ['attachments', 'raw', 'html', 'text'], 0],
  [699, [], ['attachments', 'raw', 'html', 'text', 'headers'], 0],
  [1, [], ['attachments', 'raw', 'html', 'text', 'headers'], 0],
])('within %i bytes contents %j are sent, and %j give way', (budget, contents, dropped, textBytes) => {
  const plan = planPayload(budget, SIZES);
  expect([...plan.contents]).toEqual(contents);
  expect(plan).toMatchObject({
    dropped,
    textBytes,
    hasRaw: !dropped.includes('raw'),
    hasHtml: !dropped.includes('html'),
    hasHeaders: !dropped.includes('headers'),
  });
});

test('of contents of equal size the later is left out first', () => {
  expect([
    ...planPayload(700, { ...SIZES, contents: [100, 100, 100], raw: 0, html: 0, text: 0, headers: 0 }).contents,
  ]).toEqual([0, 1]);
});

test('missing parts are not listed as left out', () => {
  const { dropped } = planPayload(400, { fixed: 500, contents: [], raw: 0, html: 0, text: 10, headers: 0 });
  expect(dropped).toEqual(['text']);
});

const TEXTS = [
  '',
  'plain',
  '"\\"',
  '\0\x01\b\t\n\f\r\x1f\x7f',
  'äöü',
  '€\u2028',
  '😀',
  '\ud83d',
  'a\ude00b',
  '👩‍💻"\n',
];

test.each(TEXTS)('the bytes of %j in JSON are counted as they are written', (text) => {
  expect(jsonBytes(text)).toBe(Buffer.byteLength(JSON.stringify(text)) - 2);
});

test.each(TEXTS)('%j is cut to the longest beginning that fits, and never within a character', (text) => {
  const characters = Array.from(text);
  for (let limit = 0; limit <= jsonBytes(text) + 1; limit++) {
    const cut = finishSteps(cutToJsonBytes(text, limit));
    expect(jsonBytes(cut)).toBeLessThanOrEqual(limit);
    expect(text.startsWith(cut)).toBe(true);
    const kept = Array.from(cut);
    expect(kept).toEqual(characters.slice(0, kept.length));
    const longer = characters.slice(0, kept.length + 1).join('');
    if (longer !== cut) expect(jsonBytes(longer)).toBeGreaterThan(limit);
  }
});

test('no plan exceeds its budget unless the fixed part does', () => {
  let seed = 1;
  const random = (most: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % (most + 1);
  };
  for (let round = 0; round < 2_000; round++) {
    const sizes: PayloadSizes = {
      fixed: random(1_000),
      contents: Array.from({ length: random(6) }, () => random(5_000)),
      raw: random(20_000),
      html: random(5_000),
      text: random(5_000),
      headers: random(2_000),
    };
    const budget = sizes.fixed + random(30_000);
    const plan = planPayload(budget, sizes);
    const contents = [...plan.contents].reduce((sum, place) => sum + (sizes.contents[place] ?? 0), 0);
    const total =
      sizes.fixed +
      contents +
      (plan.hasRaw ? sizes.raw : 0) +
      (plan.hasHtml ? sizes.html : 0) +
      (plan.textBytes ?? sizes.text) +
      (plan.hasHeaders ? sizes.headers : 0);
    expect(total).toBeLessThanOrEqual(budget);
  }
});

test('the event of an invitation is in both payloads, without its attendees when they would take too much', async () => {
  const attendees = Array.from({ length: 90 }, (_, n) => `ATTENDEE:mailto:guest-${n}@b.test`);
  const calendar = ['BEGIN:VCALENDAR', 'BEGIN:VEVENT', 'SUMMARY:Kick-off', ...attendees, 'END:VEVENT', 'END:VCALENDAR'];
  const facts = await readFacts(Buffer.from(['Content-Type: text/calendar', '', ...calendar].join('\r\n')));
  expectEqualBytes(facts);
  const flat = (maxPayloadOctets: number) =>
    JSON.parse(payloadText({ ...OPTIONS, payload: 'flat', maxPayloadOctets }, facts)) as { event: CalendarEvent };
  expect(flat(4_000_000).event).toMatchObject({ summary: 'Kick-off', attendees: { length: 90 } });
  expect(flat(10_000).event).toMatchObject({ summary: 'Kick-off', attendees: [] });
});

test('a long text is cut in steps, to the same bytes', () => {
  const text = `${'x'.repeat(65_535)}👩${'ü"'.repeat(100_000)}`;
  for (const limit of [65_534, 65_535, 65_538, 65_539, 65_541, 300_001]) {
    const cut = finishSteps(cutToJsonBytes(text, limit));
    expect(text.startsWith(cut)).toBe(true);
    expect(cut.isWellFormed()).toBe(true);
    expect(jsonBytes(cut)).toBeLessThanOrEqual(limit);
    const next = String.fromCodePoint(text.codePointAt(cut.length) ?? 0);
    expect(jsonBytes(cut + next)).toBeGreaterThan(limit);
  }
});
