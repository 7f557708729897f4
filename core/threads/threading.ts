import { createHash } from 'node:crypto';
import { isForwardSubject, isReplySubject } from '../mime/subject.ts';
import { DAY_MS } from '../shared/durations.ts';
import { ThreadSets, type ThreadsApart } from './threads-apart.ts';

/**
 * Which messages form one thread (docs/decisions/0010). Two kinds of edges join messages, and a thread is a connected component, so the
 * order of arrival does not matter:
 *
 * - *links*: a message is joined to its own valid msg-id and those it refers to (RFC 5322 §3.6.4; see findLinks; ids that were written
 *   without brackets count only if they are known by then). An id joins messages even
 *   if no stored message has it: two replies to a parent that never arrived are one thread. The thread that a reply
 *   address names (core/smtp/reply-address.ts) replaces the ids that its mail refers to.
 * - *subject edges*: between two messages that refer to no valid msg-id, have the same base subject (RFC 5256 §2.1), are dated at most 30
 *   days apart, and share a participant other than the addresses that received them. At least one must be marked as a reply.
 */

/** The fields of a message that threading uses. */
export interface ThreadableMessage {
  emailId: string;
  /** the Message-ID field, in angle brackets */
  messageId: string;
  inReplyTo: readonly string[];
  references: readonly string[];
  /** the key of the thread that the reply address names which received it; null or omitted: there is none */
  threadKey?: string | null;
  subject: string;
  /** of the subject (RFC 5256 §2.1), case preserved */
  baseSubject: string;
  /** received: the address that received it; sent: the From address; lower case */
  ownAddress: string;
  /** From, To and Cc, as written */
  addresses: readonly string[];
  /** time of receipt or sending; with emailId it orders the messages of a thread */
  createdAt: Date;
  /** the Date field, else createdAt */
  date: Date;
}

/** The valid msg-ids of a message, as keys: the id itself, or the digest of a very long one. */
export interface Links {
  /** null when the message has no valid msg-id */
  own: string | null;
  /** threadKey of the message */
  named: string | null;
  inReplyTo: string[];
  references: string[];
  /** ids that were written without brackets, in brackets; they link only if some message has or refers to them */
  bare: string[];
}

/** The fields that subject edges compare. */
export interface SubjectAnchor {
  /** base subject in lower case, not empty */
  subject: string;
  /** lower case, distinct, without ownAddress; at least one */
  participants: string[];
  isReply: boolean;
  date: Date;
}

/** RFC 5256 sets no limit; thirty days keep "Re: invoice" of this month from that of last year. */
const SUBJECT_WINDOW_MS = 30 * DAY_MS;
/** Maximum participants of a message that subject edges compare. */
const MAX_ANCHOR_PARTICIPANTS = 50;
/** Characters; an index row of PostgreSQL holds 2,704 bytes, and a msg-id has no limit. */
const MAX_KEY_LENGTH = 256;
const MAX_ADDRESS_LENGTH = 320;

/**
 * Returns the msg-ids that link this message. An id without `@` never links: `In-Reply-To: <yes>` occurs in real mail, typed by people
 * whom a mail program asked for an id. Of several ids in In-Reply-To only the first counts, as in RFC 5256 §3 (THREAD=REFERENCES): the
 * others are mostly text that a mail program quoted around it. A thread that is named replaces both fields, so that it is never merged
 * with another one that the sender refers to.
 */
export function findLinks(
  message: Pick<ThreadableMessage, 'messageId' | 'inReplyTo' | 'references' | 'threadKey'>,
): Links {
  const own = validKeys([message.messageId])[0] ?? null;
  const named = message.threadKey ?? null;
  if (named !== null) return { own, named, inReplyTo: [], references: [], bare: [] };
  const bare = [...message.inReplyTo, ...message.references].filter((id) => !id.startsWith('<'));
  return {
    own,
    named,
    inReplyTo: validKeys(message.inReplyTo).slice(0, 1),
    references: validKeys(message.references),
    bare: validKeys(bare.map((id) => `<${id}>`)),
  };
}

/** Returns every id of the links once, with ids that link only if they are known. */
export function linkKeys(links: Links): string[] {
  const { own, named, inReplyTo, references, bare } = links;
  return [...new Set([own, named, ...inReplyTo, ...references, ...bare])].filter((key) => key !== null);
}

/**
 * Returns what subject edges compare; null when the message can have none: it refers to a msg-id or names a thread, is a forward, or has no base subject.
 */
export function findSubjectAnchor(message: ThreadableMessage, links: Links): SubjectAnchor | null {
  if (links.named !== null || links.inReplyTo.length > 0 || links.references.length > 0) return null;
  const subject = message.baseSubject.trim().toLowerCase();
  if (subject === '' || isForwardSubject(message.subject)) return null;
  const own = message.ownAddress.toLowerCase();
  const others = message.addresses.map((address) => address.toLowerCase());
  const participants = [...new Set(others)].filter(
    (address) => address !== own && address !== '' && address.length <= MAX_ADDRESS_LENGTH,
  );
  if (participants.length === 0) return null;
  return {
    subject,
    participants: participants.slice(0, MAX_ANCHOR_PARTICIPANTS),
    isReply: isReplySubject(message.subject),
    date: message.date,
  };
}

/** Returns whether a subject edge joins the two. */
export function areSubjectNeighbours(one: SubjectAnchor, other: SubjectAnchor): boolean {
  return (
    one.subject === other.subject &&
    (one.isReply || other.isReply) &&
    Math.abs(one.date.getTime() - other.date.getTime()) <= SUBJECT_WINDOW_MS &&
    one.participants.some((participant) => other.participants.includes(participant))
  );
}

/** A time span, both ends included. */
export interface Span {
  from: Date;
  to: Date;
}

/** Returns the span in which mail with the anchor's subject and participant can be its neighbour. */
export function neighbourSpan(date: Date): Span {
  return { from: new Date(date.getTime() - SUBJECT_WINDOW_MS), to: new Date(date.getTime() + SUBJECT_WINDOW_MS) };
}

/**
 * The nearest replies before and after a message represent almost all of its neighbors, so joining costs the same however many messages
 * share the subject. All replies within the 30 days before it are neighbours of each other, so the nearest one is in the thread of all of
 * them; the same holds after it. That covers every neighbour of a message that is not a reply. A reply also has plain messages as
 * neighbours: those within 30 days of one of the two nearest replies are already in its thread. The rest, which no reply has joined yet,
 * lie in the span returned here; null when there is none. test/core/threads/threading.test.ts checks this against the definition.
 */
export function unjoinedSpan(date: Date, replyBefore: Date | null, replyAfter: Date | null): Span | null {
  const whole = neighbourSpan(date);
  const from = replyBefore === null ? whole.from : new Date(replyBefore.getTime() + SUBJECT_WINDOW_MS);
  const to = replyAfter === null ? whole.to : new Date(replyAfter.getTime() - SUBJECT_WINDOW_MS);
  return from <= to ? { from, to } : null;
}

/**
 * Why a message is in its thread: an In-Reply-To or References id (or its own) was known, by a subject edge, because its reply address
 * names the thread, or because nothing joined it.
 */
export const THREAD_REASONS = ['header', 'references', 'subject', 'reply-address', 'new'] as const;
export type ThreadReason = (typeof THREAD_REASONS)[number];

/** Says in a sentence why a message is in its thread, for histories of an email. */
export function describeThreadReason(reason: ThreadReason): string {
  switch (reason) {
    case 'header':
      return 'It joined its thread by In-Reply-To.';
    case 'references':
      return 'It joined its thread by References.';
    case 'subject':
      return 'It joined its thread by subject and participants.';
    case 'reply-address':
      return 'It joined the thread that its reply address names.';
    case 'new':
      return 'It started a thread.';
  }
}

/** What is already stored about the messages of a batch. */
export interface StoredNeighbours {
  /** msg-id key → thread that knows it */
  threadOfKey: ReadonlyMap<string, string>;
  /** email id → threads of its subject neighbours */
  threadsBySubject: ReadonlyMap<string, readonly string[]>;
  /** which of the threads above must not be joined; omitted: none */
  apart?: ThreadsApart;
}

/** Messages of a batch that form one thread, with the stored threads that they merge. */
export interface Joined<T extends ThreadableMessage> {
  messages: { message: T; reason: ThreadReason }[];
  threadIds: string[];
  /** msg-ids of the batch that lead to this thread from now on */
  keys: string[];
  /** msg-ids of messages here whose replies are in a thread that stays apart; with the Message-ID field as written */
  borneKeys: { key: string; messageId: string }[];
}

/** A message with its links and subject anchor. */
export interface Joinable<T extends ThreadableMessage> {
  message: T;
  links: Links;
  anchor: SubjectAnchor | null;
}

/**
 * Groups a batch into threads, messages in chronological order. Where threads must stay apart, the nearest link decides which one a
 * message joins: its parent, then its other ancestors from last to first, then messages that refer to it, then subject edges.
 */
export function joinBatch<T extends ThreadableMessage>(
  batch: readonly Joinable<T>[],
  stored: StoredNeighbours,
): Joined<T>[] {
  const sets = new ThreadSets(stored.apart ?? new Map());
  const known = new Set(stored.threadOfKey.keys());
  for (const threadId of [...stored.threadOfKey.values(), ...[...stored.threadsBySubject.values()].flat()])
    sets.addThread(`thread ${threadId}`, threadId);
  for (const [key, threadId] of stored.threadOfKey) sets.join(`id ${key}`, `thread ${threadId}`);

  const chronological = batch.toSorted((a, b) => compareMessages(a.message, b.message));
  const reasons = chronological.map((joinable, index) => {
    const { message, links, anchor } = joinable;
    const node = `email ${message.emailId}`;
    const threads = stored.threadsBySubject.get(message.emailId) ?? [];
    const earlier = chronological.slice(0, index).filter((other) => isNeighbour(anchor, other.anchor));
    const reason = reasonFor(links, known, threads.length > 0 || earlier.length > 0);
    sets.add(node);
    for (const key of nearestFirst(links, known)) {
      known.add(key);
      sets.join(node, `id ${key}`);
    }
    for (const threadId of threads) sets.join(node, `thread ${threadId}`);
    for (const other of earlier) sets.join(node, `email ${other.message.emailId}`);
    return reason;
  });

  const groups = new Map<string, Joined<T>>();
  for (const [index, { message, links }] of chronological.entries()) {
    const root = sets.find(`email ${message.emailId}`);
    const group = groups.get(root) ?? { messages: [], threadIds: [], keys: [], borneKeys: [] };
    group.messages.push({ message, reason: reasons[index] ?? 'new' });
    if (links.own !== null && sets.find(`id ${links.own}`) !== root)
      group.borneKeys.push({ key: links.own, messageId: message.messageId });
    groups.set(root, group);
  }
  for (const node of sets.nodes()) {
    const group = groups.get(sets.find(node));
    if (node.startsWith('thread ')) group?.threadIds.push(node.slice('thread '.length));
    if (node.startsWith('id ')) group?.keys.push(node.slice('id '.length));
  }
  return [...groups.values()];
}

/** Compares messages in the chronological order of a thread: by receipt or sending, then by id. */
export function compareMessages(
  a: Pick<ThreadableMessage, 'createdAt' | 'emailId'>,
  b: Pick<ThreadableMessage, 'createdAt' | 'emailId'>,
): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || (a.emailId < b.emailId ? -1 : a.emailId > b.emailId ? 1 : 0);
}

/** Returns the thread that stays in a merge: the one with the oldest first message, then the smallest id. Throws for an empty list. */
export function chooseSurvivor<T extends { id: string; createdAt: Date }>(threads: readonly T[]): T {
  return threads.reduce((a, b) => {
    const difference = a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
    return difference <= 0 ? a : b;
  });
}

/** Returns every id of the links once, the parent's first and the message's own last; bare ones only if they are known. */
function nearestFirst({ own, named, inReplyTo, references, bare }: Links, known: ReadonlySet<string>): string[] {
  const ancestors = [...inReplyTo, ...references.toReversed(), ...bare.toReversed().filter((key) => known.has(key))];
  return [...new Set([named, ...ancestors, own])].filter((key) => key !== null);
}

function reasonFor(links: Links, known: ReadonlySet<string>, hasSubjectNeighbour: boolean): ThreadReason {
  if (links.named !== null && known.has(links.named)) return 'reply-address';
  if (links.inReplyTo.some((key) => known.has(key))) return 'header';
  if ([...links.references, ...links.bare].some((key) => known.has(key))) return 'references';
  // A parent that arrives after its replies, whose fields name it.
  if (links.own !== null && known.has(links.own)) return 'references';
  return hasSubjectNeighbour ? 'subject' : 'new';
}

function isNeighbour(one: SubjectAnchor | null, other: SubjectAnchor | null): boolean {
  return one !== null && other !== null && areSubjectNeighbours(one, other);
}

function validKeys(ids: readonly string[]): string[] {
  return [...new Set(ids.filter((id) => id.startsWith('<') && id.includes('@')).map(linkKey))];
}

/** Returns the key of a valid msg-id. */
export function linkKey(id: string): string {
  return id.length <= MAX_KEY_LENGTH ? id : `sha256:${createHash('sha256').update(id).digest('hex')}`;
}
