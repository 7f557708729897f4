import type { AddressFields } from '../mime/address.ts';
import { type Attachment, decodeAttachment } from '../mime/attachment.ts';
import { DOWNLOAD_LINK_LIFE_MS, makeDownloadLink } from './download-link.ts';

/** A received mail as the payload needs it. */
interface PayloadEmail {
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
interface PayloadContent {
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
  /** when the delivery was made, not the attempt: so every attempt sends the same bytes, and links end at one time */
  timestamp: Date;
  userId: string;
  email: PayloadEmail;
  content: PayloadContent;
  /** the bytes of the message; null when they are gone, or not needed (needsRaw) */
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
  /** bytes of the whole body */
  maxPayloadOctets: number;
  attachments: 'content' | 'link';
}

/**
 * The body of a webhook request as JSON text: `nested` is the payload of the published clients with their extra fields,
 * `flat` the full email object. Within `maxPayloadOctets` it is whole; above it parts give way in the order of planPayload, and
 * `truncated` names them. Equal facts give equal bytes, and all payloads of a form have the same keys.
 */
export function buildWebhookPayload(options: PayloadOptions, facts: PayloadFacts): string {
  const { payload: form, maxPayloadOctets: budget } = options;
  const contents = contentBytes(options, facts);
  const build = form === 'nested' ? nested : flat;
  if (leastBytes(form, facts, contents) <= budget) {
    const whole = build(facts, chooseParts(options, facts, EVERYTHING));
    // A UTF-16 unit takes three bytes of UTF-8 at most.
    if (whole.length * 3 <= budget || Buffer.byteLength(whole) <= budget) return whole;
  }
  const { htmlBody, cleanedHtml, textBody, cleanedText, headers } = facts.content;
  const isNested = form === 'nested';
  const plan = planPayload(budget, {
    fixed: Buffer.byteLength(build(facts, NOTHING)),
    contents,
    raw: isNested ? rawBytes(facts.raw, budget) : 0,
    html: jsonBytesOf(htmlBody) + (isNested ? jsonBytesOf(cleanedHtml) : 0),
    text: jsonBytesOf(textBody) + (isNested ? jsonBytesOf(cleanedText) : 0),
    headers: Buffer.byteLength(JSON.stringify(headersObject(headers))) * (isNested ? 2 : 1),
  });
  return build(facts, chooseParts(options, facts, plan));
}

/** Whether the payload carries something that is read from the bytes of the message. */
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
  textBytes: null,
  hasHeaders: true,
  dropped: [],
};
const DROP_ORDER: readonly DroppedPart[] = ['attachments', 'raw', 'html', 'text', 'headers'];
/** What every payload takes at least: with the longest list of what gave way. */
const NOTHING: Parts = {
  contents: [],
  raw: '',
  htmlBody: null,
  textBody: null,
  cleanedHtml: null,
  cleanedText: null,
  headers: {},
  truncated: [...DROP_ORDER, 'content'],
};

function chooseParts(options: PayloadOptions, { content, raw }: PayloadFacts, choice: Choice): Parts {
  const wantsContents = options.attachments === 'content' && content.attachments.length > 0;
  const isRawGone = raw === null && needsRaw(options, content.attachments);
  const isCut = (part: DroppedPart) =>
    choice.dropped.includes(part) ||
    (isRawGone && ((part === 'raw' && options.payload === 'nested') || (part === 'attachments' && wantsContents)));
  const cleanedText = cutText(content.cleanedText, choice.textBytes === null ? null : choice.textBytes / 2);
  const textBytes = choice.textBytes === null ? null : choice.textBytes - jsonBytesOf(cleanedText);
  return {
    contents: content.attachments.map((attachment, place) =>
      wantsContents && raw !== null && choice.contents?.has(place) !== false ? readContent(raw, attachment) : null,
    ),
    raw: raw !== null && choice.hasRaw && options.payload === 'nested' ? raw.toString('utf8') : '',
    htmlBody: choice.hasHtml ? content.htmlBody : null,
    textBody: cutText(content.textBody, textBytes),
    cleanedHtml: choice.hasHtml ? content.cleanedHtml : null,
    cleanedText,
    headers: choice.hasHeaders ? headersObject(content.headers) : {},
    truncated: [...DROP_ORDER.filter(isCut), ...(content.isTruncated ? ['content'] : [])],
  };
}

/**
 * The nested form. It is joined of the JSON texts of its values, as JSON.stringify would write the whole: what is long, or stands in it
 * twice, is made into JSON once.
 */
function nested(facts: PayloadFacts, parts: Parts): string {
  const { email, content, endpoint } = facts;
  const { addresses } = content;
  const messageId = JSON.stringify(email.messageId);
  const subject = JSON.stringify(email.subject);
  const from = addresses.from === null ? NOBODY : JSON.stringify(addresses.from);
  const to = addresses.to === null ? NOBODY : JSON.stringify(addresses.to);
  const headers = JSON.stringify(parts.headers);
  const text = JSON.stringify(parts.textBody);
  const parsedData =
    `{"messageId":${messageId},"date":${isoText(email.date ?? email.receivedAt)},"subject":${subject},"from":${from},"to":${to},` +
    `"cc":${JSON.stringify(addresses.cc)},"bcc":${JSON.stringify(addresses.bcc)},"replyTo":${JSON.stringify(addresses.replyTo)},` +
    `${member('inReplyTo', content.inReplyTo[0])}"references":${JSON.stringify(content.references)},` +
    `"textBody":${text},"htmlBody":${JSON.stringify(parts.htmlBody)},"raw":${JSON.stringify(parts.raw)},` +
    `"rawUrl":${JSON.stringify(linkTo(facts, 'raw'))},"attachments":${wireAttachments(facts, parts.contents)},` +
    `${member('priority', content.priority)}"headers":${headers}}`;
  // The same files once more; their contents stand above.
  const cleanedContent =
    `{"html":${JSON.stringify(parts.cleanedHtml)},"text":${trimmedJson(parts.cleanedText, parts.textBody, text)},` +
    `"hasHtml":${isFilled(content.cleanedHtml)},"hasText":${isFilled(content.cleanedText)},` +
    `"attachments":${wireAttachments(facts, [])},"headers":${headers}}`;
  return (
    `{"event":"email.received","timestamp":${isoText(facts.timestamp)},"email":{"id":${JSON.stringify(email.id)},` +
    `"messageId":${messageId},"from":${from},"to":${to},` +
    `"recipient":${JSON.stringify(email.recipient)},"subject":${subject},"receivedAt":${isoText(email.receivedAt)},` +
    `"threadId":${JSON.stringify(email.threadId)},"threadPosition":${JSON.stringify(email.threadPosition)},` +
    `"parsedData":${parsedData},"cleanedContent":${cleanedContent},"truncated":${JSON.stringify(parts.truncated)}},` +
    `"endpoint":{"id":${JSON.stringify(endpoint.id)},"name":${JSON.stringify(endpoint.name)},"type":${JSON.stringify(endpoint.type)}}}`
  );
}

/** The flat form, joined in the same way. */
function flat(facts: PayloadFacts, parts: Parts): string {
  const { email, content } = facts;
  const to = content.addresses.to?.addresses.map((mailbox) => mailbox.address) ?? [];
  return (
    `{"id":${JSON.stringify(email.id)},"type":"received","from":${JSON.stringify(content.addresses.from?.text ?? '')},` +
    `"to":${JSON.stringify(to)},"subject":${JSON.stringify(email.subject)},"html":${JSON.stringify(parts.htmlBody)},` +
    `"text":${JSON.stringify(parts.textBody)},"attachments":${wireAttachments(facts, parts.contents)},` +
    `"headers":${JSON.stringify(parts.headers)},"receivedAt":${isoText(email.receivedAt)},` +
    `"rawUrl":${JSON.stringify(linkTo(facts, 'raw'))},"truncated":${JSON.stringify(parts.truncated)}}`
  );
}

/** A member of a JSON object with the comma behind it; nothing where there is no value, since the types of clients know no null here. */
function member(name: string, value: string | null | undefined): string {
  return value === null || value === undefined ? '' : `"${name}":${JSON.stringify(value)},`;
}

/** The JSON text of an AddressList without anyone in it. */
const NOBODY = '{"text":"","addresses":[]}';

function isoText(date: Date | null): string {
  return date === null ? 'null' : `"${date.toISOString()}"`;
}

/** The JSON text of `part`, which mostly is `whole`, whose JSON text is given, without the white space at its ends. */
function trimmedJson(part: string | null, whole: string | null, wholeJson: string): string {
  if (part === null || whole === null) return JSON.stringify(part);
  if (part === whole) return wholeJson;
  if (part !== whole.trim() || part === '') return JSON.stringify(part);
  const before = jsonLength(whole.slice(0, whole.length - whole.trimStart().length));
  const behind = jsonLength(whole.slice(whole.trimEnd().length));
  return `"${wholeJson.slice(1 + before, wholeJson.length - 1 - behind)}"`;
}

/** Characters of the text as a JSON string, without its quotation marks. */
function jsonLength(text: string): number {
  return text === '' ? 0 : JSON.stringify(text).length - 2;
}

/** Header name to value, repeats joined by a line feed; without a prototype, as mail may name a field `__proto__`. */
function headersObject(headers: PayloadContent['headers']): Record<string, string> {
  const object: Record<string, string> = Object.create(null);
  for (const [name, value] of headers) {
    const former = object[name];
    object[name] = former === undefined ? value : `${former}\n${value}`;
  }
  return object;
}

/** As JSON text. */
function wireAttachments(facts: PayloadFacts, contents: Parts['contents']): string {
  if (facts.content.attachments.length === 0) return '[]';
  return JSON.stringify(
    facts.content.attachments.map((attachment, place) => ({
      filename: attachment.filename,
      contentType: attachment.contentType,
      size: attachment.size,
      contentId: attachment.contentId,
      contentDisposition: attachment.contentDisposition ?? 'attachment',
      content: contents[place] ?? null,
      downloadUrl: linkTo(facts, attachment.index),
    })),
  );
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

/** No escape and no replacement makes bytes fewer: what exceeds the budget as it is need not be turned into text. */
function rawBytes(raw: Buffer | null, budget: number): number {
  if (raw === null) return 0;
  return raw.length > budget ? raw.length : jsonBytes(raw.toString('utf8'));
}

function jsonBytesOf(text: string | null): number {
  return text === null ? 0 : jsonBytes(text);
}

function cutText(text: string | null, bytes: number | null): string | null {
  return text === null || bytes === null ? text : cutToJsonBytes(text, bytes);
}

function isFilled(text: string | null): boolean {
  return text !== null && text !== '';
}

/** Of each attachment its content's bytes in base64 (RFC 4648 §4); none when contents are not sent. */
function contentBytes(options: PayloadOptions, { content, raw }: PayloadFacts): number[] {
  const isSent = options.attachments === 'content' && raw !== null;
  return content.attachments.map(({ size }) => (isSent ? Math.ceil(size / 3) * 4 : 0));
}

/** What a whole payload takes if nothing in it needs an escape: above the budget it need not be tried. */
function leastBytes(
  form: PayloadOptions['payload'],
  { content, raw }: PayloadFacts,
  contents: readonly number[],
): number {
  const texts = [
    content.htmlBody,
    content.textBody,
    ...(form === 'nested' ? [content.cleanedHtml, content.cleanedText] : []),
  ];
  let bytes = form === 'nested' ? (raw?.length ?? 0) : 0;
  for (const text of texts) bytes += text?.length ?? 0;
  for (const size of contents) bytes += size;
  return bytes;
}

/** Bytes that the parts of a payload take in its JSON text, each as often as it stands there. */
export interface PayloadSizes {
  /** what is always sent: every key, and all values but those below */
  fixed: number;
  /** contents of attachments in base64, in the order of the message */
  contents: readonly number[];
  raw: number;
  html: number;
  text: number;
  headers: number;
}

/** What a payload leaves out to stay within its budget, in the order in which parts give way. */
type DroppedPart = 'attachments' | 'raw' | 'html' | 'text' | 'headers';

interface PayloadPlan {
  /** places in `contents` of those that are sent */
  contents: ReadonlySet<number>;
  hasRaw: boolean;
  hasHtml: boolean;
  /** bytes that the texts may take; null: they are whole */
  textBytes: number | null;
  hasHeaders: boolean;
  dropped: DroppedPart[];
}

/**
 * Decides what of a payload is sent within so many bytes. Contents of attachments give way first, the largest first and only as many
 * as must, so that an invoice of some kilobytes still comes along beside a film; then the raw message, the HTML, the text, which is
 * cut rather than dropped, and at last the header fields. What is `fixed` always goes: a budget below it is exceeded.
 */
export function planPayload(budget: number, sizes: PayloadSizes): PayloadPlan {
  const contents = new Set(sizes.contents.keys());
  const plan = { hasRaw: true, hasHtml: true, textBytes: null as number | null, hasHeaders: true };
  const dropped: DroppedPart[] = [];
  let total = sizes.fixed + sizes.raw + sizes.html + sizes.text + sizes.headers;
  for (const size of sizes.contents) total += size;

  for (const [place, size] of [...sizes.contents.entries()].toSorted(largestFirst)) {
    if (total <= budget) break;
    contents.delete(place);
    total -= size;
    if (dropped.length === 0) dropped.push('attachments');
  }
  if (total > budget && sizes.raw > 0) {
    plan.hasRaw = false;
    total -= sizes.raw;
    dropped.push('raw');
  }
  if (total > budget && sizes.html > 0) {
    plan.hasHtml = false;
    total -= sizes.html;
    dropped.push('html');
  }
  if (total > budget && sizes.text > 0) {
    plan.textBytes = Math.max(0, budget - (total - sizes.text));
    total -= sizes.text - plan.textBytes;
    dropped.push('text');
  }
  if (total > budget && sizes.headers > 0) {
    plan.hasHeaders = false;
    dropped.push('headers');
  }
  return { contents, ...plan, dropped };
}

/** Of equals the later one first. */
function largestFirst([placeA, a]: [number, number], [placeB, b]: [number, number]): number {
  return b - a || placeB - placeA;
}

/** Bytes of the text as a JSON string in UTF-8, without its quotation marks. */
export function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}

/** The longest beginning of a text that takes at most so many bytes in JSON; a surrogate pair is never cut in two. */
export function cutToJsonBytes(text: string, limit: number): string {
  let bytes = 0;
  for (let at = 0; at < text.length; ) {
    const point = text.codePointAt(at) ?? 0;
    bytes += escapedBytes(point);
    if (bytes > limit) return text.slice(0, at);
    at += point > 0xffff ? 2 : 1;
  }
  return text;
}

/** ECMA-404 §9 as JSON.stringify writes it: lone surrogates are escaped. */
function escapedBytes(point: number): number {
  if (point < 0x20) return SHORT_ESCAPES.has(point) ? 2 : 6;
  if (point === 0x22 || point === 0x5c) return 2;
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  if (point >= 0xd800 && point <= 0xdfff) return 6;
  return point > 0xffff ? 4 : 3;
}

/** \b \t \n \f \r */
const SHORT_ESCAPES = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d]);
