import { type Attachment, decodeAttachment } from '../mime/attachment.ts';
import { DOWNLOAD_LINK_LIFE_MS, makeDownloadLink } from './download-link.ts';
import { cutToJsonOctets, type GivenWay, jsonOctets, type PayloadPlan, planPayload } from './payload-budget.ts';
import { contentOctets, leastOctets } from './payload-bytes.ts';
import type { PayloadContent, PayloadEmail, PayloadFacts, PayloadOptions } from './payload-facts.ts';

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
    const whole = build(facts, chooseParts(options, facts, EVERYTHING));
    // A UTF-16 unit takes three octets of UTF-8 at most.
    if (whole.length * 3 <= budget || Buffer.byteLength(whole) <= budget) return whole;
  }
  const { htmlBody, cleanedHtml, textBody, cleanedText, headers } = facts.content;
  const isNested = form === 'nested';
  const plan = planPayload(budget, {
    fixed: Buffer.byteLength(build(facts, NOTHING)),
    contents,
    raw: isNested ? rawOctets(facts.raw, budget) : 0,
    html: octetsOf(htmlBody) + (isNested ? octetsOf(cleanedHtml) : 0),
    text: octetsOf(textBody) + (isNested ? octetsOf(cleanedText) : 0),
    headers: Buffer.byteLength(JSON.stringify(headersObject(headers))) * (isNested ? 2 : 1),
  });
  return build(facts, chooseParts(options, facts, plan));
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
