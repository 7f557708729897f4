import type { AddressFields, AddressList, Mailbox } from '../mime/address.ts';
import { splitReplyMarkers } from '../mime/subject.ts';
import { outgoingMailbox } from './outgoing-addresses.ts';
import { isWritableId, MAX_SUBJECT_LENGTH } from './outgoing-headers.ts';

/** The message that is replied to. */
export interface Original {
  /** whether the user sent it */
  isOwn: boolean;
  /** `<local@domain>`; null when it has none */
  messageId: string | null;
  inReplyTo: readonly string[];
  references: readonly string[];
  /** decoded */
  subject: string;
  addresses: AddressFields;
}

/** The user's input for a reply; null uses the original's value. */
export interface ReplyInput {
  to: readonly Mailbox[] | null;
  subject: string | null;
  audience: 'sender' | 'all';
}

/** Header fields of a reply. `to` is empty when all recipients are the user's own addresses. */
export interface Reply {
  to: Mailbox[];
  cc: Mailbox[];
  subject: string;
  inReplyTo: string | null;
  references: string[];
}

/** Maximum ids in a References field: the first (the root) and the last (the nearest) are kept. */
const MAX_REFERENCES = 100;
/** Maximum bytes of the field; mail servers cut much longer ones. */
const MAX_REFERENCES_BYTES = 8_000;

/**
 * Builds the header fields of a reply (RFC 5322 §3.6.3). It goes to Reply-To, else From; if the user sent the original, to its To again.
 * `all` adds the other recipients as Cc. `isOneself` recognizes the user's own addresses, which get no reply. Addresses that mail cannot
 * be sent to are left out. The subject gets one `Re:`.
 */
export function makeReply(original: Original, input: ReplyInput, isOneself: (address: string) => boolean): Reply {
  const taken = new Set<string>();
  const to = input.to === null ? take(addressees(original, isOneself), taken, isOneself) : [...input.to];
  for (const { address } of to) taken.add(address.toLowerCase());
  const { addresses } = original;
  const others = input.audience === 'all' ? [...listed(addresses.to), ...listed(addresses.cc)] : [];
  return {
    to,
    cc: take(others, taken, isOneself),
    subject: input.subject ?? replySubject(original.subject),
    ...replyLinks(original),
  };
}

/** Returns the first address that a reply would go to, but that mail cannot be sent to; null when there is none. */
export function unsendableAddressee(original: Original, isOneself: (address: string) => boolean): string | null {
  const found = addressees(original, isOneself).find((mailbox) => outgoingMailbox(mailbox) === null);
  return found?.address ?? null;
}

/**
 * Returns the subject of a reply: one `Re: ` in front, which replaces reply markers of other languages (`AW:`, `SV:`, `Antw:`). A subject
 * that starts with `Re:` stays. One line, cut to the maximum length.
 */
export function replySubject(subject: string): string {
  const line = subject.replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  const { rest, hasMarker, isPlain } = splitReplyMarkers(line);
  const reply = hasMarker && isPlain ? line : `Re: ${rest}`.trim();
  return reply.length <= MAX_SUBJECT_LENGTH ? reply : reply.slice(0, MAX_SUBJECT_LENGTH).toWellFormed().trim();
}

/**
 * Returns In-Reply-To and References of a reply (RFC 5322 §3.6.4): the original's References, or its In-Reply-To if that has one message,
 * followed by the original's own id.
 */
export function replyLinks(
  original: Pick<Original, 'messageId' | 'inReplyTo' | 'references'>,
): Pick<Reply, 'inReplyTo' | 'references'> {
  const { messageId, inReplyTo, references } = original;
  const ancestors = references.length > 0 ? references : inReplyTo.length === 1 ? inReplyTo : [];
  const own = messageId !== null && isWritableId(messageId) ? [messageId] : [];
  // The nearest is last, even if the original lists itself among its ancestors.
  const chain = [...ancestors.filter((id) => id !== messageId && isWritableId(id)), ...own];
  return { inReplyTo: own[0] ?? null, references: trimReferences([...new Set(chain)]) };
}

/** Returns the ids of a chain that are written: the first, and as many of the last as fit. */
export function trimReferences(chain: readonly string[]): string[] {
  const [root, ...later] = chain;
  if (root === undefined) return [];
  const kept: string[] = [];
  let bytes = root.length;
  for (const id of later.toReversed()) {
    bytes += 1 + id.length;
    if (kept.length > 0 && (bytes > MAX_REFERENCES_BYTES || kept.length === MAX_REFERENCES - 1)) break;
    kept.push(id);
  }
  return [root, ...kept.reverse()];
}

function addressees(original: Original, isOneself: (address: string) => boolean): readonly Mailbox[] {
  const { from, to, replyTo } = original.addresses;
  if (original.isOwn) return listed(to);
  const senders = listed(replyTo).length > 0 ? listed(replyTo) : listed(from);
  // A message from one of the user's addresses to others is replied to as if the user had sent it from here.
  return senders.every((sender) => isOneself(sender.address)) ? listed(to) : senders;
}

/** Returns the mailboxes that mail can be sent to, without the user's own and those already taken. */
function take(mailboxes: readonly Mailbox[], taken: Set<string>, isOneself: (address: string) => boolean): Mailbox[] {
  const kept: Mailbox[] = [];
  for (const given of mailboxes) {
    const mailbox = outgoingMailbox(given);
    if (mailbox === null || isOneself(mailbox.address)) continue;
    const key = mailbox.address.toLowerCase();
    if (taken.has(key)) continue;
    taken.add(key);
    kept.push(mailbox);
  }
  return kept;
}

function listed(list: AddressList | null): readonly Mailbox[] {
  return list?.addresses ?? [];
}
