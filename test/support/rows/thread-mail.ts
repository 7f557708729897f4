import { DAY_MS } from '../../../core/shared/durations.ts';
import type { ThreadableMessage } from '../../../core/threads/threading.ts';

/** A generator of pseudo-random numbers in [0, 1), the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/** The items cut into batches of 1 to `largest`. */
export function batches<T>(items: readonly T[], largest: number, random: () => number): T[][] {
  const cut: T[][] = [];
  for (let at = 0; at < items.length; ) {
    const size = 1 + Math.floor(random() * largest);
    cut.push(items.slice(at, at + size));
    at += size;
  }
  return cut;
}

export interface RandomMailOptions {
  count: number;
  /** share of messages that refer to others; default 0.4 */
  referringShare?: number;
  /** dates lie in so many days; default 150 */
  days?: number;
}

const SUBJECTS = [
  '',
  'Re:',
  'rent',
  'Rent',
  'Re: rent',
  '[list] RE: rent',
  'Fwd: rent',
  'rent (fwd)',
  'keys',
  'Re: keys',
];
const BASE_SUBJECTS = ['', '', 'rent', 'Rent', 'rent', 'rent', 'rent', 'rent', 'keys', 'keys'];
const OWN = ['me@home.test', 'us@home.test'];
const OTHERS = ['ann@a.test', 'bob@b.test', 'Cy@c.test', 'dee@d.test', ...OWN];
const START = Date.UTC(2026, 0, 1);

/**
 * Messages that have everything to do with each other: few subjects and people, dates around the 30 days, msg-ids that name messages
 * before and after, themselves, absent ones and none.
 */
export function randomMail(random: () => number, options: RandomMailOptions): ThreadableMessage[] {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const makeId = (index: number) => `<${index}@mail.test>`;
  const someIds = () =>
    Array.from({ length: 1 + Math.floor(random() * 2) }, () =>
      // A third more than there are messages: ids that never come.
      random() < 0.1 ? '<yes>' : makeId(Math.floor(random() * options.count * 1.3)),
    );
  return Array.from({ length: options.count }, (_, index) => {
    const subject = Math.floor(random() * SUBJECTS.length);
    const doesRefer = random() < (options.referringShare ?? 0.4);
    const isTwin = random() < 0.05;
    return {
      emailId: `em_${index.toString().padStart(4, '0')}`,
      messageId: makeId(isTwin ? Math.floor(random() * options.count) : index),
      inReplyTo: doesRefer && random() < 0.7 ? someIds() : [],
      references: doesRefer && random() < 0.7 ? someIds() : [],
      subject: SUBJECTS[subject] ?? '',
      baseSubject: BASE_SUBJECTS[subject] ?? '',
      ownAddress: pick(OWN),
      addresses: [pick(OTHERS), ...Array.from({ length: Math.floor(random() * 3) }, () => pick(OTHERS))],
      createdAt: new Date(START + Math.floor(random() * 1000) * 60_000),
      // Whole days and halves: many are exactly 30 days apart.
      date: new Date(START + Math.floor(random() * (options.days ?? 150) * 2) * (DAY_MS / 2)),
    };
  });
}

/**
 * The partition by its definition and nothing else: every pair of messages is looked at. Answers, for each email id in order, the
 * least email id of its thread.
 */
export function partitionByDefinition(messages: readonly ThreadableMessage[]): Map<string, string> {
  const refersTo = (m: ThreadableMessage) => {
    const [parent] = m.inReplyTo.filter((id) => id.includes('@'));
    return [...(parent === undefined ? [] : [parent]), ...m.references.filter((id) => id.includes('@'))];
  };
  const nodes = (m: ThreadableMessage) => [m.messageId, ...refersTo(m)];
  const people = (m: ThreadableMessage) => m.addresses.map((a) => a.toLowerCase()).filter((a) => a !== m.ownAddress);
  const isReply = (m: ThreadableMessage) => /^(\[list\] )?re:/i.test(m.subject);
  const isForward = (m: ThreadableMessage) => /fwd/i.test(m.subject);

  const label = new Map(messages.map((m) => [m.emailId, m.emailId]));
  const areJoined = (a: ThreadableMessage, b: ThreadableMessage) =>
    nodes(a).some((id) => nodes(b).includes(id)) ||
    (refersTo(a).length === 0 &&
      refersTo(b).length === 0 &&
      a.baseSubject !== '' &&
      a.baseSubject.toLowerCase() === b.baseSubject.toLowerCase() &&
      !isForward(a) &&
      !isForward(b) &&
      (isReply(a) || isReply(b)) &&
      Math.abs(a.date.getTime() - b.date.getTime()) <= 30 * DAY_MS &&
      people(a).some((person) => people(b).includes(person)));
  const edges = messages.flatMap((a, index) =>
    messages.slice(0, index).flatMap((b) => (areJoined(a, b) ? [{ a, b }] : [])),
  );
  // Labels sink to the least of each component.
  for (let isDone = false; !isDone; ) {
    isDone = true;
    for (const { a, b } of edges) {
      const [one, other] = [label.get(a.emailId) ?? '', label.get(b.emailId) ?? ''];
      if (one === other) continue;
      isDone = false;
      label.set(a.emailId, one < other ? one : other);
      label.set(b.emailId, one < other ? one : other);
    }
  }
  return sortedByKey(label);
}

/** The same shape from any naming of threads. */
export function canonicalPartition(threadById: ReadonlyMap<string, string>): Map<string, string> {
  const least = new Map<string, string>();
  const ordered = sortedByKey(threadById);
  for (const [emailId, thread] of ordered) if (!least.has(thread)) least.set(thread, emailId);
  return new Map([...ordered].map(([emailId, thread]) => [emailId, least.get(thread) ?? '']));
}

function sortedByKey(map: ReadonlyMap<string, string>): Map<string, string> {
  return new Map([...map].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
