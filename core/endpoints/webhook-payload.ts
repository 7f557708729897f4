import { receivedEventId } from '../events/received-event.ts';
import type { AddressFields } from '../mime/address.ts';
import { type Attachment, decodeAttachment } from '../mime/attachment.ts';
import { findEvent } from '../mime/calendar-event.ts';
import { orderedInjection } from '../screening/screened-mail.ts';
import { orderedSpamCheck } from '../screening/spam-check.ts';
import { type JsonRange, type JsonWriter, writeJson } from '../shared/json-writer.ts';
import type { Steps } from '../shared/steps.ts';
import { buildChatPayload } from './chat-payload.ts';
import type { WebhookConfig } from './endpoint-config.ts';
import {
  countJsonBytes,
  cutToJsonBytes,
  type DroppedPart,
  jsonBytes,
  type PayloadPlan,
  planPayload,
} from './payload-budget.ts';
import {
  linkTo,
  type MailPayloadParts,
  type PayloadContent,
  type PayloadFacts,
  type StoredMail,
  toPayloadFacts,
} from './payload-facts.ts';
import { buildResendMail } from './resend-payload.ts';

/** Builds the body of a webhook request for an email, in the endpoint's format. Equal parts give equal bytes. */
export function* buildMailPayload(parts: MailPayloadParts): Steps<Buffer> {
  const { webhookFormat } = parts.endpoint;
  const facts = toPayloadFacts(parts);
  switch (webhookFormat) {
    case 'native': {
      const { payload, maxPayloadOctets } = parts.config;
      if (payload === 'resend') return buildResendMail(facts, maxPayloadOctets);
      return yield* buildWebhookPayload({ ...parts.config, payload }, facts);
    }
    case 'chat_a':
    case 'chat_b':
      return Buffer.from(buildChatPayload(webhookFormat, facts));
  }
}

/** Returns whether this payload needs the bytes of the message. */
export function isRawNeeded({
  endpoint,
  config,
  mail,
}: Pick<MailPayloadParts, 'endpoint' | 'config'> & { mail: Pick<StoredMail, 'attachments'> }): boolean {
  return endpoint.webhookFormat === 'native' && needsRaw(config, mail.attachments);
}

/** The settings of an endpoint that affect the payload. */
export interface PayloadOptions {
  payload: 'nested' | 'flat';
  /** maximum bytes of the body */
  maxPayloadOctets: number;
  attachments: 'content' | 'link';
}

/**
 * Builds the body of a webhook request, JSON in UTF-8: `nested` is the payload of the published clients with their additional fields,
 * `flat` the full email object. If it exceeds `maxPayloadOctets`, parts are left out in the order of planPayload, and `truncated` names
 * them. Equal facts give equal bytes, and all payloads of a form have the same keys.
 */
export function* buildWebhookPayload(options: PayloadOptions, facts: PayloadFacts): Steps<Buffer> {
  const { payload: form, maxPayloadOctets: budget } = options;
  const contents = contentBytes(options, facts);
  const write = form === 'nested' ? writeNested : writeFlat;
  const event = eventText(facts.content.attachments, budget);
  const build = (parts: Parts) => writeJson((out) => write(out, facts, parts, event));
  if (leastBytes(form, facts, contents) <= budget) {
    const whole = yield* build(yield* chooseParts(options, facts, EVERYTHING));
    if (whole.length <= budget) return whole;
  }
  const { htmlBody, cleanedHtml, textBody, cleanedText, quotedText, signature, removedParts, headers } = facts.content;
  const isNested = form === 'nested';
  const fixed = (yield* build(NOTHING)).length;
  const raw = isNested ? yield* countRawBytes(facts.raw, budget) : 0;
  const html = yield* countJsonBytes(isNested ? [htmlBody, cleanedHtml] : [htmlBody]);
  const texts = yield* countJsonBytes(isNested ? [textBody, cleanedText, quotedText, signature] : [textBody]);
  const plan = planPayload(budget, {
    fixed,
    contents,
    raw,
    html,
    text: texts + (isNested ? JSON.stringify(removedParts).length : 0),
    headers: Buffer.byteLength(JSON.stringify(headersObject(headers))) * (isNested ? 2 : 1),
  });
  return yield* build(yield* chooseParts(options, facts, plan));
}

/** Returns whether the payload contains something that is read from the bytes of the message. */
export function needsRaw(
  { payload, attachments: mode }: Pick<WebhookConfig, 'payload' | 'attachments'>,
  attachments: readonly Attachment[],
): boolean {
  return payload === 'nested' || (payload === 'flat' && mode === 'content' && attachments.length > 0);
}

/** The parts of a message that a payload contains. */
interface Parts {
  /** by attachment */
  contents: readonly (Uint8Array | null)[];
  raw: Buffer | null;
  htmlBody: string | null;
  textBody: string | null;
  cleanedHtml: string | null;
  cleanedText: string | null;
  /** all or nothing: offsets are of the whole text */
  removed: Pick<PayloadContent, 'quotedText' | 'signature' | 'removedParts'>;
  headers: Record<string, string>;
  truncated: readonly string[];
}

type Choice = Omit<PayloadPlan, 'contents'> & { contents: ReadonlySet<number> | null };

/** `contents` null: all. */
const EVERYTHING: Choice = {
  contents: null,
  hasRaw: true,
  hasHtml: true,
  textBytes: null,
  hasHeaders: true,
  dropped: [],
};
const DROP_ORDER: readonly DroppedPart[] = ['attachments', 'raw', 'html', 'text', 'headers'];
/** In this order, whether they were stored as JSON before, which orders keys by itself, or not. */
const REMOVED_PART_KEYS = ['kind', 'start', 'end'];

const NOTHING_REMOVED: Parts['removed'] = { quotedText: null, signature: null, removedParts: [] };
/** The smallest payload, with the longest list of omitted parts. */
const NOTHING: Parts = {
  contents: [],
  raw: null,
  htmlBody: null,
  textBody: null,
  cleanedHtml: null,
  cleanedText: null,
  removed: NOTHING_REMOVED,
  headers: {},
  truncated: [...DROP_ORDER, 'content'],
};

function* chooseParts(options: PayloadOptions, { content, raw }: PayloadFacts, choice: Choice): Steps<Parts> {
  const wantsContents = options.attachments === 'content' && content.attachments.length > 0;
  const isRawGone = raw === null && needsRaw(options, content.attachments);
  const isCut = (part: DroppedPart) =>
    choice.dropped.includes(part) ||
    (isRawGone && ((part === 'raw' && options.payload === 'nested') || (part === 'attachments' && wantsContents)));
  const cleanedText = yield* cutText(content.cleanedText, choice.textBytes === null ? null : choice.textBytes / 2);
  const textBytes = choice.textBytes === null ? null : choice.textBytes - (yield* countJsonBytes([cleanedText]));
  return {
    contents: content.attachments.map((attachment, place) =>
      wantsContents && raw !== null && choice.contents?.has(place) !== false ? readContent(raw, attachment) : null,
    ),
    raw: raw !== null && choice.hasRaw && options.payload === 'nested' ? raw : null,
    htmlBody: choice.hasHtml ? content.htmlBody : null,
    textBody: yield* cutText(content.textBody, textBytes),
    cleanedHtml: choice.hasHtml ? content.cleanedHtml : null,
    cleanedText,
    removed: choice.textBytes === null ? content : NOTHING_REMOVED,
    headers: choice.hasHeaders ? headersObject(content.headers) : {},
    truncated: [...DROP_ORDER.filter(isCut), ...(content.isTruncated ? ['content'] : [])],
  };
}

/** Writes the nested form, with the bytes that JSON.stringify would give. Values that occur twice are serialized once. */
function* writeNested(out: JsonWriter, facts: PayloadFacts, parts: Parts, event: string): Steps<void> {
  const { email, content, endpoint } = facts;
  const { addresses } = content;
  const messageId = JSON.stringify(email.messageId);
  const subject = JSON.stringify(email.subject);
  const from = addresses.from === null ? NO_ADDRESSES : JSON.stringify(addresses.from);
  const to = addresses.to === null ? NO_ADDRESSES : JSON.stringify(addresses.to);
  const headers = JSON.stringify(parts.headers);
  out.json(
    `{"event":"email.received","id":${JSON.stringify(receivedEventId(email.id))},"type":"email.received","timestamp":${isoText(facts.timestamp)},"email":{"id":${JSON.stringify(email.id)},` +
      `"messageId":${messageId},"from":${from},"to":${to},` +
      `"recipient":${JSON.stringify(email.recipient)},"subject":${subject},"receivedAt":${isoText(email.receivedAt)},` +
      `"threadId":${JSON.stringify(email.threadId)},"threadPosition":${JSON.stringify(email.threadPosition)},` +
      `"metadata":${JSON.stringify(email.metadata)},${senderText(facts)},"parsedData":{"messageId":${messageId},"date":${isoText(email.date ?? email.receivedAt)},"subject":${subject},` +
      `"from":${from},"to":${to},"cc":${JSON.stringify(addresses.cc)},"bcc":${JSON.stringify(addresses.bcc)},` +
      `"replyTo":${JSON.stringify(addresses.replyTo)},${member('inReplyTo', content.inReplyTo[0])}` +
      `"references":${JSON.stringify(content.references)},"textBody":`,
  );
  const text = yield* out.string(parts.textBody);
  out.json(',"htmlBody":');
  yield* out.string(parts.htmlBody);
  out.json(',"raw":');
  yield* out.string(parts.raw?.toString('utf8') ?? '');
  out.json(`,"rawUrl":${JSON.stringify(linkTo(facts, 'raw'))},"attachments":`);
  yield* writeAttachments(out, facts, parts.contents);
  out.json(`,${member('priority', content.priority)}"event":${event},"headers":${headers}},"cleanedContent":{"html":`);
  yield* out.string(parts.cleanedHtml);
  out.json(',"text":');
  yield* writeTrimmed(out, parts.cleanedText, parts.textBody, text);
  out.json(`,"hasHtml":${isFilled(content.cleanedHtml)},"hasText":${isFilled(content.cleanedText)},"attachments":`);
  // The same files again; their contents are above.
  yield* writeAttachments(out, facts, []);
  out.json(`,"headers":${headers},"quotedText":`);
  yield* out.string(parts.removed.quotedText);
  out.json(',"signature":');
  yield* out.string(parts.removed.signature);
  out.json(
    `,"removedParts":${JSON.stringify(parts.removed.removedParts, REMOVED_PART_KEYS)}},"truncated":${JSON.stringify(parts.truncated)}},"endpoint":{"id":${JSON.stringify(endpoint.id)},` +
      `"name":${JSON.stringify(endpoint.name)},"type":${JSON.stringify(endpoint.type)}}}`,
  );
}

/** Writes the flat form, in the same way. */
function* writeFlat(out: JsonWriter, facts: PayloadFacts, parts: Parts, event: string): Steps<void> {
  const { email, content } = facts;
  const { from, to, cc } = content.addresses;
  const bare = (list: AddressFields['to']) => JSON.stringify(list?.addresses.map((mailbox) => mailbox.address) ?? []);
  out.json(
    `{"id":${JSON.stringify(email.id)},"type":"received","eventId":${JSON.stringify(receivedEventId(email.id))},` +
      `"eventType":"email.received","messageId":${JSON.stringify(email.messageId)},"threadId":${JSON.stringify(email.threadId)},` +
      `"threadPosition":${JSON.stringify(email.threadPosition)},"recipient":${JSON.stringify(email.recipient)},` +
      `"from":${JSON.stringify(from?.text ?? '')},"to":${bare(to)},"cc":${bare(cc)},"subject":${JSON.stringify(email.subject)},` +
      `"metadata":${JSON.stringify(email.metadata)},${senderText(facts)},"html":`,
  );
  yield* out.string(parts.htmlBody);
  out.json(',"text":');
  yield* out.string(parts.textBody);
  out.json(',"attachments":');
  yield* writeAttachments(out, facts, parts.contents);
  out.json(
    `,"event":${event},"headers":${JSON.stringify(parts.headers)},"receivedAt":${isoText(email.receivedAt)},` +
      `"rawUrl":${JSON.stringify(linkTo(facts, 'raw'))},"truncated":${JSON.stringify(parts.truncated)}}`,
  );
}

/** Returns the members about the sender, about text that is aimed at agents, and about spam. */
function senderText({ sender: { verdict, authentication }, content: { injection, screening } }: PayloadFacts): string {
  const stored = injection === null ? null : orderedInjection(injection);
  return `"senderVerdict":${JSON.stringify(verdict)},"authentication":${JSON.stringify(authentication)},"security":${JSON.stringify({ injection: stored, spam: orderedSpamCheck(screening?.spam ?? null) })}`;
}

/** Part of the budget that an event may take; the attendees of a larger one are left out. */
const EVENT_SHARE = 4;

function eventText(attachments: readonly Attachment[], budget: number): string {
  const event = findEvent(attachments);
  const text = JSON.stringify(event);
  const isLarge = event !== null && Buffer.byteLength(text) > budget / EVENT_SHARE;
  return isLarge ? JSON.stringify({ ...event, attendees: [] }) : text;
}

/** Returns a member of a JSON object followed by a comma; empty without a value, because the clients' types have no null here. */
function member(name: string, value: string | null | undefined): string {
  return value === null || value === undefined ? '' : `"${name}":${JSON.stringify(value)},`;
}

/** The JSON text of an AddressList without addresses. */
const NO_ADDRESSES = '{"text":"","addresses":[]}';

function isoText(date: Date | null): string {
  return date === null ? 'null' : `"${date.toISOString()}"`;
}

/** Writes `part`, which is usually `whole` without outer white space; `written` is where `whole` was written. */
function* writeTrimmed(out: JsonWriter, part: string | null, whole: string | null, written: JsonRange): Steps<void> {
  if (part === null || whole === null || part === '') yield* out.string(part);
  else if (part === whole) out.again(written);
  else if (part === whole.trim()) {
    const before = jsonBytes(whole.slice(0, whole.length - whole.trimStart().length));
    const behind = jsonBytes(whole.slice(whole.trimEnd().length));
    out.json('"');
    out.again({ start: written.start + 1 + before, end: written.end - 1 - behind });
    out.json('"');
  } else yield* out.string(part);
}

/** Maps header names to values, repeated fields joined by a line feed. Has no prototype, because a field can be named `__proto__`. */
function headersObject(headers: PayloadContent['headers']): Record<string, string> {
  const object = Object.create(null) as Record<string, string>;
  for (const [name, value] of headers) {
    const previous = object[name];
    object[name] = previous === undefined ? value : `${previous}\n${value}`;
  }
  return object;
}

function* writeAttachments(out: JsonWriter, facts: PayloadFacts, contents: Parts['contents']): Steps<void> {
  out.json('[');
  for (const [place, attachment] of facts.content.attachments.entries()) {
    const { filename, contentType, size, contentId, contentDisposition } = attachment;
    const fields = { filename, contentType, size, contentId, contentDisposition: contentDisposition ?? 'attachment' };
    out.json(`${place === 0 ? '' : ','}${JSON.stringify(fields).slice(0, -1)},"content":`);
    const content = contents[place] ?? null;
    if (content === null) out.json('null');
    else yield* out.base64(content);
    out.json(`,"downloadUrl":${JSON.stringify(linkTo(facts, attachment.index))}}`);
  }
  out.json(']');
}

function readContent(raw: Buffer, { start, length, transferEncoding }: Attachment): Uint8Array {
  return decodeAttachment(raw.subarray(start, start + length), transferEncoding);
}

/** Escaping and replacement never make text shorter, so bytes that exceed the budget need not be decoded. */
function* countRawBytes(raw: Buffer | null, budget: number): Steps<number> {
  if (raw === null) return 0;
  return raw.length > budget ? raw.length : yield* countJsonBytes([raw.toString('utf8')]);
}

function* cutText(text: string | null, bytes: number | null): Steps<string | null> {
  return text === null || bytes === null ? text : yield* cutToJsonBytes(text, bytes);
}

function isFilled(text: string | null): boolean {
  return text !== null && text !== '';
}

/** Returns the size of each attachment's content in base64 (RFC 4648 §4); zero when contents are not sent. */
function contentBytes(options: PayloadOptions, { content, raw }: PayloadFacts): number[] {
  const isSent = options.attachments === 'content' && raw !== null;
  return content.attachments.map(({ size }) => (isSent ? Math.ceil(size / 3) * 4 : 0));
}

/** Returns the size of the whole payload without any escapes: if it exceeds the budget, the whole payload need not be built. */
function leastBytes(
  form: PayloadOptions['payload'],
  { content, raw }: PayloadFacts,
  contents: readonly number[],
): number {
  const texts = [
    content.htmlBody,
    content.textBody,
    ...(form === 'nested' ? [content.cleanedHtml, content.cleanedText, content.quotedText] : []),
  ];
  let bytes = form === 'nested' ? (raw?.length ?? 0) : 0;
  for (const text of texts) bytes += text?.length ?? 0;
  for (const size of contents) bytes += size;
  return bytes;
}
