import type { AddressFields, AddressList, Mailbox } from '../mime/address.ts';
import { splitReplyMarkers } from '../mime/subject.ts';
import { outgoingMailbox } from './outgoing-addresses.ts';
import { isWritableId, MAX_SUBJECT_LENGTH } from './outgoing-headers.ts';

/** The message that is answered. */
export interface Original {
  /** whether the user sent it */
  isOwn: boolean;
  /** `<local@domain>`; null when it bears none */
  messageId: string | null;
  inReplyTo: readonly string[];
  references: readonly string[];
  /** decoded */
  subject: string;
  addresses: AddressFields;
}

/** What the user said of the answer; null means that the original decides. */
export interface ReplyInput {
  to: readonly Mailbox[] | null;
  subject: string | null;
  audience: 'sender' | 'all';
}

/** Header fields of an answer. `to` is empty when there is nobody to answer but oneself. */
export interface Reply {
  to: Mailbox[];
  cc: Mailbox[];
  subject: string;
  inReplyTo: string | null;
  references: string[];
}

/** Ids of a References field that are written: the first (the root) and the last (the nearest). */
const MAX_REFERENCES = 100;
/** Bytes of the field; agents on the way cut fields that are much longer. */
const MAX_REFERENCES_BYTES = 8_000;

/**
 * Addresses an answer (RFC 5322 §3.6.3): to Reply-To, else From; when the user sent the original, to its To again. `all` adds the
 * other addressees as Cc. `isOneself` tells the user's own addresses, which are never answered to. Addresses that no mail can be
 * sent to are left out. The subject gets one `Re:`.
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

/**
 * The subject of a reply: one `Re: ` in front, which takes the place of reply markers of other languages (`AW:`, `SV:`, `Antw:`). A
 * subject that begins with `Re:` stays as it is. One line, cut to what may be sent.
 */
export function replySubject(subject: string): string {
  const line = subject.replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  const { rest, hasMarker, isPlain } = splitReplyMarkers(line);
  const reply = hasMarker && isPlain ? line : `Re: ${rest}`.trim();
  return reply.length <= MAX_SUBJECT_LENGTH ? reply : reply.slice(0, MAX_SUBJECT_LENGTH).toWellFormed().trim();
}

/**
 * In-Reply-To and References of an answer (RFC 5322 §3.6.4): the original's References, or its In-Reply-To when that names one
 * message, and then its own id.
 */
export function replyLinks(
  original: Pick<Original, 'messageId' | 'inReplyTo' | 'references'>,
): Pick<Reply, 'inReplyTo' | 'references'> {
  const { messageId, inReplyTo, references } = original;
  const ancestors = references.length > 0 ? references : inReplyTo.length === 1 ? inReplyTo : [];
  const own = messageId !== null && isWritableId(messageId) ? [messageId] : [];
  // The nearest is last, also when the original names itself among its ancestors.
  const chain = [...ancestors.filter((id) => id !== messageId && isWritableId(id)), ...own];
  return { inReplyTo: own[0] ?? null, references: trimReferences([...new Set(chain)]) };
}

/** The ids that are written of a chain: its first and as many of its last as there is room for. */
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
  // Mail from one own address to others is answered as if it were sent from here.
  return senders.every((sender) => isOneself(sender.address)) ? listed(to) : senders;
}

/** Those that can be written to, are not oneself and were not taken before. */
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
