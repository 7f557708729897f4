import type { AddressFields, AddressList } from './address.ts';
import { type Attachment, decodeAttachment } from './attachment.ts';
import { DOWNLOAD_LINK_LIFE_MS, makeDownloadLink } from './download-link.ts';
import { cutToJsonOctets, type GivenWay, jsonOctets, type PayloadPlan, planPayload } from './payload-budget.ts';

/** A received mail as the payload needs it. */
export interface PayloadEmail {
  id: string;
  messageId: string;
  subject: string;
  /** envelope recipient as given */
  recipient: string;
  receivedAt: Date;
  /** the Date field; null when absent or invalid */
  date: Date | null;
  threadId: string | null;
  threadPosition: number | null;
}

/** What the parser made of the mail (table email_content). */
export interface PayloadContent {
  /** [lower-case name, decoded value] in the order of the message */
  headers: readonly (readonly [string, string])[];
  addresses: AddressFields;
  inReplyTo: readonly string[];
  references: readonly string[];
  textBody: string | null;
  htmlBody: string | null;
  cleanedText: string | null;
  cleanedHtml: string | null;
  attachments: readonly Attachment[];
  priority: string | null;
  isTruncated: boolean;
}

export interface PayloadFacts {
  /** when the delivery was made, not the attempt: so every attempt sends the same octets, and links end at one time */
  timestamp: Date;
  userId: string;
  email: PayloadEmail;
  content: PayloadContent;
  /** the octets of the message; null when they are gone, or not needed (needsRaw) */
  raw: Buffer | null;
  endpoint: { id: string; name: string; type: string };
  /** without a slash at its end */
  publicUrl: string;
  /** see deriveDownloadLinkKey */
  linkKey: Uint8Array;
}

/** What of its configuration decides what an endpoint is sent. */
export interface PayloadOptions {
  payload: 'nested' | 'flat';
  /** octets of the whole body */
  maxPayloadOctets: number;
  attachments: 'content' | 'link';
}

/**
 * The body of a webhook request as JSON text: `nested` is interface.md "Webhook payload" with the extras of the reference service,
 * `flat` the full email object. Within `maxPayloadOctets` it is whole; above it parts give way in the order of planPayload, and
 * `truncated` names them. Equal facts give equal octets, and all payloads of a form have the same keys.
 */
export function buildWebhookPayload(options: PayloadOptions, facts: PayloadFacts): string {
  const { payload: form, maxPayloadOctets: budget } = options;
  const contents = contentOctets(options, facts);
  const build = form === 'nested' ? nested : flat;
  if (leastOctets(form, facts, contents) <= budget) {
    const whole = JSON.stringify(build(facts, chooseParts(options, facts, EVERYTHING)));
    if (Buffer.byteLength(whole) <= budget) return whole;
  }
  const { htmlBody, cleanedHtml, textBody, cleanedText, headers } = facts.content;
  const isNested = form === 'nested';
  const plan = planPayload(budget, {
    fixed: Buffer.byteLength(JSON.stringify(build(facts, NOTHING))),
    contents,
    raw: isNested ? rawOctets(facts.raw, budget) : 0,
    html: octetsOf(htmlBody) + (isNested ? octetsOf(cleanedHtml) : 0),
    text: octetsOf(textBody) + (isNested ? octetsOf(cleanedText) : 0),
    headers: Buffer.byteLength(JSON.stringify(headersObject(headers))) * (isNested ? 2 : 1),
  });
  return JSON.stringify(build(facts, chooseParts(options, facts, plan)));
}

/** Whether the payload carries something that is read from the octets of the message. */
export function needsRaw(options: PayloadOptions, attachments: readonly Attachment[]): boolean {
  return options.payload === 'nested' || (options.attachments === 'content' && attachments.length > 0);
}

/** What of a mail a payload carries. */
interface Parts {
  /** by the places of the attachments: base64, or null */
  contents: readonly (string | null)[];
  raw: string;
  htmlBody: string | null;
  textBody: string | null;
  cleanedHtml: string | null;
  cleanedText: string | null;
  headers: Record<string, string>;
  truncated: readonly string[];
}

type Choice = Omit<PayloadPlan, 'contents'> & { contents: ReadonlySet<number> | null };

/** `contents` null: all of them. */
const EVERYTHING: Choice = {
  contents: null,
  hasRaw: true,
  hasHtml: true,
  textOctets: null,
  hasHeaders: true,
  givenWay: [],
};
const GIVING_WAY: readonly GivenWay[] = ['attachments', 'raw', 'html', 'text', 'headers'];
/** What every payload takes at least: with the longest list of what gave way. */
const NOTHING: Parts = {
  contents: [],
  raw: '',
  htmlBody: null,
  textBody: null,
  cleanedHtml: null,
  cleanedText: null,
  headers: {},
  truncated: [...GIVING_WAY, 'content'],
};

function chooseParts(options: PayloadOptions, { content, raw }: PayloadFacts, choice: Choice): Parts {
  const wantsContents = options.attachments === 'content' && content.attachments.length > 0;
  const isRawGone = raw === null && needsRaw(options, content.attachments);
  const isCut = (part: GivenWay) =>
    choice.givenWay.includes(part) ||
    (isRawGone && ((part === 'raw' && options.payload === 'nested') || (part === 'attachments' && wantsContents)));
  const cleanedText = cutText(content.cleanedText, choice.textOctets === null ? null : choice.textOctets / 2);
  const textOctets = choice.textOctets === null ? null : choice.textOctets - octetsOf(cleanedText);
  return {
    contents: content.attachments.map((attachment, place) =>
      wantsContents && raw !== null && choice.contents?.has(place) !== false ? readContent(raw, attachment) : null,
    ),
    raw: raw !== null && choice.hasRaw && options.payload === 'nested' ? raw.toString('utf8') : '',
    htmlBody: choice.hasHtml ? content.htmlBody : null,
    textBody: cutText(content.textBody, textOctets),
    cleanedHtml: choice.hasHtml ? content.cleanedHtml : null,
    cleanedText,
    headers: choice.hasHeaders ? headersObject(content.headers) : {},
    truncated: [...GIVING_WAY.filter(isCut), ...(content.isTruncated ? ['content'] : [])],
  };
}

function nested(facts: PayloadFacts, parts: Parts) {
  const { email, content, endpoint } = facts;
  const { addresses } = content;
  const { headers } = parts;
  return {
    event: 'email.received',
    timestamp: facts.timestamp.toISOString(),
    email: {
      id: email.id,
      messageId: email.messageId,
      from: addresses.from ?? NOBODY,
      to: addresses.to ?? NOBODY,
      recipient: email.recipient,
      subject: email.subject,
      receivedAt: email.receivedAt.toISOString(),
      threadId: email.threadId,
      threadPosition: email.threadPosition,
      parsedData: {
        messageId: email.messageId,
        date: email.date?.toISOString() ?? null,
        subject: email.subject,
        from: addresses.from,
        to: addresses.to,
        cc: addresses.cc,
        bcc: addresses.bcc,
        replyTo: addresses.replyTo,
        inReplyTo: content.inReplyTo[0] ?? null,
        references: content.references,
        textBody: parts.textBody,
        htmlBody: parts.htmlBody,
        raw: parts.raw,
        rawUrl: linkTo(facts, 'raw'),
        attachments: wireAttachments(facts, parts.contents),
        headers,
        priority: content.priority,
      },
      cleanedContent: {
        html: parts.cleanedHtml,
        text: parts.cleanedText,
        hasHtml: isFilled(content.cleanedHtml),
        hasText: isFilled(content.cleanedText),
        // The same files once more; their contents stand above.
        attachments: wireAttachments(facts, []),
        headers,
      },
      truncated: parts.truncated,
    },
    endpoint: { id: endpoint.id, name: endpoint.name, type: endpoint.type },
  };
}

function flat(facts: PayloadFacts, parts: Parts) {
  const { email, content } = facts;
  return {
    id: email.id,
    type: 'received',
    from: content.addresses.from?.text ?? '',
    to: content.addresses.to?.addresses.map((mailbox) => mailbox.address) ?? [],
    subject: email.subject,
    html: parts.htmlBody,
    text: parts.textBody,
    attachments: wireAttachments(facts, parts.contents),
    headers: parts.headers,
    receivedAt: email.receivedAt.toISOString(),
    rawUrl: linkTo(facts, 'raw'),
    truncated: parts.truncated,
  };
}

const NOBODY: AddressList = { text: '', addresses: [] };

/** Header name to value, repeats joined by a line feed; without a prototype, as mail may name a field `__proto__`. */
function headersObject(headers: PayloadContent['headers']): Record<string, string> {
  const object: Record<string, string> = Object.create(null);
  for (const [name, value] of headers) {
    const former = object[name];
    object[name] = former === undefined ? value : `${former}\n${value}`;
  }
  return object;
}

function wireAttachments(facts: PayloadFacts, contents: Parts['contents']) {
  return facts.content.attachments.map((attachment, place) => ({
    filename: attachment.filename,
    contentType: attachment.contentType,
    size: attachment.size,
    contentId: attachment.contentId,
    contentDisposition: attachment.contentDisposition,
    content: contents[place] ?? null,
    downloadUrl: linkTo(facts, attachment.index),
  }));
}

/** Signed, so that a receiver without an API key can follow it for a while; with one it serves for ever. */
export function linkTo(
  {
    publicUrl,
    linkKey,
    userId,
    email,
    timestamp,
  }: Pick<PayloadFacts, 'publicUrl' | 'linkKey' | 'userId' | 'timestamp'> & {
    email: Pick<PayloadEmail, 'id'>;
  },
  part: number | 'raw',
): string {
  const expiresAt = new Date(timestamp.getTime() + DOWNLOAD_LINK_LIFE_MS);
  return publicUrl + makeDownloadLink(linkKey, { userId, emailId: email.id, part }, expiresAt);
}

function readContent(raw: Buffer, { start, length, transferEncoding }: Attachment): string {
  const decoded = decodeAttachment(raw.subarray(start, start + length), transferEncoding);
  return Buffer.from(decoded.buffer, decoded.byteOffset, decoded.byteLength).toString('base64');
}

/** Of each attachment its content's octets in base64 (RFC 4648 §4); none when contents are not sent. */
function contentOctets(options: PayloadOptions, { content, raw }: PayloadFacts): number[] {
  const isSent = options.attachments === 'content' && raw !== null;
  return content.attachments.map(({ size }) => (isSent ? Math.ceil(size / 3) * 4 : 0));
}

/** What a whole payload takes if nothing in it needs an escape: above the budget it need not be tried. */
function leastOctets(form: PayloadOptions['payload'], { content, raw }: PayloadFacts, contents: readonly number[]) {
  const texts = [
    content.htmlBody,
    content.textBody,
    ...(form === 'nested' ? [content.cleanedHtml, content.cleanedText] : []),
  ];
  let octets = form === 'nested' ? (raw?.length ?? 0) : 0;
  for (const text of texts) octets += text?.length ?? 0;
  for (const size of contents) octets += size;
  return octets;
}

/** No escape and no replacement makes octets fewer: what exceeds the budget as it is need not be turned into text. */
function rawOctets(raw: Buffer | null, budget: number): number {
  if (raw === null) return 0;
  return raw.length > budget ? raw.length : jsonOctets(raw.toString('utf8'));
}

function octetsOf(text: string | null): number {
  return text === null ? 0 : jsonOctets(text);
}

function cutText(text: string | null, octets: number | null): string | null {
  return text === null || octets === null ? text : cutToJsonOctets(text, octets);
}

function isFilled(text: string | null): boolean {
  return text !== null && text !== '';
}
