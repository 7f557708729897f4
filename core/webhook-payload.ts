import type { AddressFields, AddressList } from './address.ts';
import type { Attachment } from './attachment.ts';

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
  /** when the delivery was made, not the attempt: so every attempt sends the same octets */
  timestamp: Date;
  email: PayloadEmail;
  content: PayloadContent;
  /** the octets of the message; null when they are gone */
  raw: Buffer | null;
  endpoint: { id: string; name: string; type: string };
  /** without a slash at its end */
  publicUrl: string;
}

/** Above this, encoded attachments are cut out of `raw`; octets (wire facts of the reference service). */
export const MAX_RAW_OCTETS = 1_000_000;

/**
 * The body of a webhook request as JSON text: `nested` is interface.md "Webhook payload" with the extras of the reference service,
 * `flat` the full email object. Equal facts give equal octets.
 */
export function buildWebhookPayload(form: 'nested' | 'flat', facts: PayloadFacts): string {
  return JSON.stringify(form === 'nested' ? nested(facts) : flat(facts));
}

/** Whether that form carries the octets of the message. */
export function isRawInPayload(form: 'nested' | 'flat'): boolean {
  return form === 'nested';
}

function nested(facts: PayloadFacts) {
  const { email, content, endpoint } = facts;
  const headers = headersObject(content.headers);
  const attachments = wireAttachments(facts);
  const { raw, isCut } = rawText(facts.raw, content.attachments);
  const truncated = [...(isCut ? ['raw'] : []), ...(content.isTruncated ? ['content'] : [])];
  const { addresses } = content;
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
        textBody: content.textBody,
        htmlBody: content.htmlBody,
        raw,
        attachments,
        headers,
        priority: content.priority,
      },
      cleanedContent: {
        html: content.cleanedHtml,
        text: content.cleanedText,
        hasHtml: isFilled(content.cleanedHtml),
        hasText: isFilled(content.cleanedText),
        attachments,
        headers,
      },
      // What this payload leaves out; absent when it is whole.
      ...(truncated.length === 0 ? {} : { truncated }),
    },
    endpoint: { id: endpoint.id, name: endpoint.name, type: endpoint.type },
  };
}

function flat(facts: PayloadFacts) {
  const { email, content } = facts;
  return {
    id: email.id,
    type: 'received',
    from: content.addresses.from?.text ?? '',
    to: content.addresses.to?.addresses.map((mailbox) => mailbox.address) ?? [],
    subject: email.subject,
    html: content.htmlBody,
    text: content.textBody,
    attachments: wireAttachments(facts),
    headers: headersObject(content.headers),
    receivedAt: email.receivedAt.toISOString(),
    ...(content.isTruncated ? { truncated: ['content'] } : {}),
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

function wireAttachments({ content, email, publicUrl }: PayloadFacts) {
  return content.attachments.map((attachment) => ({
    filename: attachment.filename,
    contentType: attachment.contentType,
    size: attachment.size,
    contentId: attachment.contentId,
    contentDisposition: attachment.contentDisposition,
    downloadUrl: `${publicUrl}/api/e2/attachments/${email.id}/parts/${attachment.index}`,
  }));
}

/** The message as text: whole up to the limit; above it without the bodies of base64 parts, and if need be without its end. */
function rawText(raw: Buffer | null, attachments: readonly Attachment[]): { raw: string; isCut: boolean } {
  if (raw === null) return { raw: '', isCut: true };
  if (raw.length <= MAX_RAW_OCTETS) return { raw: raw.toString('utf8'), isCut: false };
  const kept: Buffer[] = [];
  let at = 0;
  const encoded = attachments.filter((attachment) => attachment.transferEncoding === 'base64');
  for (const { start, length } of encoded.toSorted((a, b) => a.start - b.start)) {
    // Parts of an attached message lie within the part that holds them.
    if (start < at) continue;
    kept.push(raw.subarray(at, start));
    at = start + length;
  }
  kept.push(raw.subarray(at));
  const rest = Buffer.concat(kept);
  return { raw: rest.subarray(0, wholeCharacters(rest, MAX_RAW_OCTETS)).toString('utf8'), isCut: true };
}

/** The largest length up to the limit that does not cut a UTF-8 sequence (RFC 3629 §3: at most 3 octets follow the first). */
function wholeCharacters(octets: Buffer, limit: number): number {
  if (octets.length <= limit) return octets.length;
  let end = limit;
  while (end > limit - 3 && ((octets[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}

function isFilled(text: string | null): boolean {
  return text !== null && text !== '';
}
