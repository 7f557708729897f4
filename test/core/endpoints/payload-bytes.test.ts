import { expect, test } from 'vitest';
import { deriveDownloadLinkKey } from '../../../core/endpoints/download-link.ts';
import type { PayloadFacts } from '../../../core/endpoints/payload-facts.ts';
import { buildWebhookPayload, linkTo } from '../../../core/endpoints/webhook-payload.ts';
import { parseMessage } from '../../../core/mime/parse-message.ts';
import { hasCorpora, readEmlMessages } from '../../support/mail/corpora.ts';

/** Payloads are joined of texts; here they are objects, and their octets have to be equal. */
const OPTIONS = { maxPayloadOctets: 1e9, attachments: 'link' } as const;
const EMAIL = {
  id: 'em_1',
  recipient: 'b+tag@b.test',
  receivedAt: new Date('2026-11-20T12:00:00Z'),
  threadId: null,
  threadPosition: null,
};

async function factsOf(raw: Buffer): Promise<PayloadFacts> {
  const { messageId, subject, date, addresses, inReplyTo, references, ...rest } = await parseMessage(raw);
  return {
    timestamp: new Date('2026-11-20T12:00:01Z'),
    userId: 'usr 1',
    linkKey: deriveDownloadLinkKey(Buffer.alloc(32, 1)),
    email: { ...EMAIL, messageId: messageId ?? '', subject, date },
    content: { ...rest, addresses, inReplyTo, references },
    raw,
    endpoint: { id: 'ep_1', name: 'Mine "\u2028"', type: 'webhook' },
    publicUrl: 'https://mail.example.test',
  };
}

function headersOf(headers: PayloadFacts['content']['headers']): Record<string, string> {
  const names = new Set(headers.map(([name]) => name));
  const values = (name: string) => headers.filter(([other]) => other === name).map(([, value]) => value);
  return Object.assign(
    Object.create(null),
    Object.fromEntries([...names].map((name) => [name, values(name).join('\n')])),
  );
}

function filesOf(facts: PayloadFacts) {
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

function nestedOf(facts: PayloadFacts) {
  const { email, content } = facts;
  const { from, to, cc, bcc, replyTo } = content.addresses;
  const { id, messageId, subject, recipient, receivedAt, threadId, threadPosition, date } = email;
  const nobody = { text: '', addresses: [] };
  const headers = headersOf(content.headers);
  return {
    event: 'email.received',
    timestamp: facts.timestamp,
    email: {
      id,
      messageId,
      from: from ?? nobody,
      to: to ?? nobody,
      recipient,
      subject,
      receivedAt,
      threadId,
      threadPosition,
      parsedData: {
        messageId,
        date: date ?? receivedAt,
        subject,
        from: from ?? nobody,
        to: to ?? nobody,
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
        attachments: filesOf(facts),
        ...(content.priority === null ? {} : { priority: content.priority }),
        headers,
      },
      cleanedContent: {
        html: content.cleanedHtml,
        text: content.cleanedText,
        hasHtml: Boolean(content.cleanedHtml),
        hasText: Boolean(content.cleanedText),
        attachments: filesOf(facts),
        headers,
      },
      truncated: content.isTruncated ? ['content'] : [],
    },
    endpoint: facts.endpoint,
  };
}

function flatOf(facts: PayloadFacts) {
  const { email, content } = facts;
  return {
    id: email.id,
    type: 'received',
    from: content.addresses.from?.text ?? '',
    to: content.addresses.to?.addresses.map(({ address }) => address) ?? [],
    subject: email.subject,
    html: content.htmlBody,
    text: content.textBody,
    attachments: filesOf(facts),
    headers: headersOf(content.headers),
    receivedAt: email.receivedAt,
    rawUrl: linkTo(facts, 'raw'),
    truncated: content.isTruncated ? ['content'] : [],
  };
}

function expectEqualOctets(facts: PayloadFacts): void {
  expect(buildWebhookPayload({ ...OPTIONS, payload: 'nested' }, facts)).toBe(JSON.stringify(nestedOf(facts)));
  expect(buildWebhookPayload({ ...OPTIONS, payload: 'flat' }, facts)).toBe(JSON.stringify(flatOf(facts)));
}

test.skipIf(!hasCorpora)('payloads of real mail have the octets of JSON.stringify', async () => {
  const messages = await readEmlMessages();
  for (const { octets } of messages.filter((_, n) => n % 4 === 0)) expectEqualOctets(await factsOf(octets));
});

test('payloads have the octets of JSON.stringify whatever the texts hold', async () => {
  const facts = await factsOf(
    Buffer.from('Subject: Hi "you"\r\n7: x\r\n__proto__: y\r\n\r\n\xfftext\\\x01\r\n', 'latin1'),
  );
  const ends = ['', ' ', '\r\n', '\\', '"', '\t\v\f\u00a0\u2028\ufeff', '\\n', '\ud800', '\x07', '\n\\r\n', '\u000b'];
  for (const first of ends)
    for (const last of ends)
      for (const middle of ['', 'ä \n 😀', '\udc00\ud800'])
        for (const cut of [(text: string) => text, (text: string) => text.trim(), () => null, () => 'other']) {
          const textBody = first + middle + last;
          expectEqualOctets({ ...facts, content: { ...facts.content, textBody, cleanedText: cut(textBody) } });
        }
});
