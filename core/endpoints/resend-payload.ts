import type { EventKind, PostedKind } from '../events/event-kinds.ts';
import type { AddressFields } from '../mime/address.ts';
import type { PostedEvent } from './event-payload.ts';
import type { PayloadFacts } from './payload-facts.ts';

/** Webhooks in the form of the `resend` client, for programs that were written for it (docs/decisions/0228). */

/** What an endpoint subscribes to for each kind of event that the client knows and Postroom has. */
const PATTERNS = {
  'email.received': ['email.received:all'],
  'email.sent': ['email.sent'],
  'email.scheduled': ['email.scheduled'],
  'email.delivered': ['email.delivered'],
  'email.delivery_delayed': ['email.delayed'],
  'email.bounced': ['email.bounced'],
  'email.complained': ['email.complained'],
  'email.failed': ['email.failed'],
  'domain.updated': ['domain.verified', 'domain.failed', 'domain.records_lost'],
} as const satisfies Readonly<Record<string, readonly (EventKind | 'email.received:all')[]>>;

/** Kinds that the client knows and that never happen here. */
const ABSENT =
  /^(?:email\.(?:opened|clicked|suppressed)|domain\.(?:created|deleted)|(?:contact|suppression|topic|inbox)\.[a-z_.]+)$/;

/** Returns the patterns of an endpoint for kinds of the client, and the place of the first kind that the client does not know; null: none. */
export function readResendKinds(kinds: readonly string[]): { patterns: string[]; unknown: number | null } {
  const known = new Map<string, readonly string[]>(Object.entries(PATTERNS));
  const unknown = kinds.findIndex((kind) => !known.has(kind) && !ABSENT.test(kind));
  const patterns = kinds.flatMap((kind) => known.get(kind) ?? []);
  return { patterns: [...new Set(patterns)], unknown: unknown === -1 ? null : unknown };
}

/** Returns the kinds of the client that an endpoint with these patterns gets; null if it gets all. */
export function listResendKinds(patterns: readonly string[]): string[] | null {
  if (patterns.includes('*')) return null;
  return Object.entries(PATTERNS).flatMap(([kind, needed]: [string, readonly string[]]) =>
    needed.some((each) => patterns.some((pattern) => matchesPattern(pattern, each))) ? [kind] : [],
  );
}

/**
 * Returns the patterns of an endpoint for kinds of the client, after it had others: patterns stay if the client does not know them, or if all
 * that it knows of them stays, so that what it read and writes back changes nothing.
 */
export function changeResendPatterns(current: readonly string[], kinds: readonly string[]): string[] {
  const kept = current.filter((pattern) => listResendKinds([pattern])?.every((kind) => kinds.includes(kind)) === true);
  const has = new Set(listResendKinds(kept));
  const { patterns } = readResendKinds(kinds.filter((kind) => !has.has(kind)));
  return [...new Set([...kept, ...patterns])];
}

function matchesPattern(pattern: string, kind: string): boolean {
  return (
    pattern === kind ||
    pattern === `${kind.split('.')[0]}.*` ||
    (pattern === 'email.received' && kind === 'email.received:all')
  );
}

/** Returns the name that the client has for a kind, or its own if the client does not know it. */
export function nameResendKind(kind: PostedKind): string {
  const known = Object.entries(PATTERNS).find(([, kinds]: [string, readonly string[]]) => kinds.includes(kind));
  return known?.[0] ?? kind;
}

type Data = Record<string, unknown>;

/** Lists of a payload that are left empty if it is too large, in this order, and then its longest text. */
const CUT = ['attachments', 'received_for', 'bcc', 'cc', 'to', 'subject', 'from'];

/** Returns the body for a received email, JSON in UTF-8. */
export function buildResendMail({ email, content }: PayloadFacts, maxBytes: number): Buffer {
  const { from, to, cc, bcc } = content.addresses;
  return writeBody('email.received', email.receivedAt, maxBytes, {
    email_id: email.id,
    created_at: email.receivedAt.toISOString(),
    from: from?.text ?? '',
    to: listAddresses(to),
    cc: listAddresses(cc),
    bcc: listAddresses(bcc),
    received_for: [email.recipient],
    message_id: email.messageId,
    subject: email.subject,
    attachments: content.attachments.map(({ index, filename, contentType, contentDisposition, contentId }) => ({
      id: String(index),
      filename,
      content_type: contentType,
      content_disposition: contentDisposition ?? 'attachment',
      content_id: contentId,
    })),
  });
}

/** Returns the body for another event, JSON in UTF-8. A kind that the client does not know keeps its name and its data. */
export function buildResendEvent({ kind, at, data }: PostedEvent, maxBytes: number): Buffer {
  return writeBody(
    nameResendKind(kind),
    at,
    maxBytes,
    data !== null && kind.startsWith('email.') ? describeEmail(kind, data) : data,
  );
}

function describeEmail(kind: PostedKind, data: Data): Data {
  const { id, created_at, message_id, from, to, subject } = data;
  const recipient = (data['recipient'] ?? {}) as { last_response?: string | null; refusal?: Data | null };
  const { reason, type, title } = recipient.refusal ?? {};
  const words = recipient.last_response ?? '';
  const bounce = {
    message: words,
    type: type === 'soft' ? 'Transient' : 'Permanent',
    subType: reason === 'mailbox_full' ? 'MailboxFull' : 'General',
  };
  return {
    email_id: id,
    created_at,
    message_id,
    from,
    to,
    subject,
    ...(kind === 'email.bounced' ? { bounce } : {}),
    ...(kind === 'email.failed' ? { failed: { reason: typeof title === 'string' ? title : words } } : {}),
  };
}

/** A body has at most `maxBytes`, as far as emptying what is in CUT achieves it. */
function writeBody(type: string, at: Date, maxBytes: number, data: Data | null): Buffer {
  const write = (part: Data | null) => Buffer.from(JSON.stringify({ type, created_at: at.toISOString(), data: part }));
  let body = write(data);
  const rest = { ...data };
  for (const name of CUT) {
    if (body.length <= maxBytes) break;
    if (!(name in rest)) continue;
    rest[name] = Array.isArray(rest[name]) ? [] : '';
    body = write(rest);
  }
  return body;
}

function listAddresses(list: AddressFields['to']): string[] {
  return list?.addresses.map(({ address }) => address) ?? [];
}
