import { expect, test } from 'vitest';
import {
  areSubjectNeighbours,
  chooseSurvivor,
  findLinks,
  findSubjectAnchor,
  joinBatch,
  type Links,
  linkKeys,
  neighbourSpan,
  type SubjectAnchor,
  type ThreadableMessage,
  unjoinedSpan,
} from '../../../core/threads/threading.ts';
import {
  batches,
  canonicalPartition,
  partitionByDefinition,
  randomMail,
  seededRandom,
  shuffled,
} from '../../support/rows/thread-mail.ts';

/** What the database holds of threads, in memory: look-ups as db/queries/threads/thread-lookup.ts makes them. */
class StoredThreads {
  readonly threadOf = new Map<string, string>();
  readonly #threadOfKey = new Map<string, string>();
  readonly #anchors: { emailId: string; anchor: SubjectAnchor }[] = [];
  /** plain messages passed by replies that found no reply near them */
  passed = 0;
  #made = 0;

  add(messages: readonly ThreadableMessage[]): void {
    const batch = messages.map((message) => {
      const links = findLinks(message);
      return { message, links, anchor: findSubjectAnchor(message, links) };
    });
    const groups = joinBatch(batch, {
      threadOfKey: this.#knownKeys(batch),
      threadsBySubject: new Map(
        batch.map(({ message, anchor }) => [message.emailId, anchor === null ? [] : this.#neighbours(anchor)]),
      ),
    });
    for (const group of groups) {
      const stays =
        group.threadIds.length === 0
          ? `thread ${++this.#made}`
          : chooseSurvivor(group.threadIds.map((id) => ({ id, createdAt: new Date(0) }))).id;
      for (const [map, ids] of [this.threadOf, this.#threadOfKey].map((map) => [map, group.threadIds] as const)) {
        for (const [key, thread] of map) if (ids.includes(thread)) map.set(key, stays);
      }
      for (const { message } of group.messages) this.threadOf.set(message.emailId, stays);
    }
    for (const { message, links, anchor } of batch) {
      for (const key of linkKeys(links)) this.#threadOfKey.set(key, this.threadOf.get(message.emailId) ?? '');
      if (anchor !== null) this.#anchors.push({ emailId: message.emailId, anchor });
    }
  }

  #knownKeys(batch: readonly { links: Links }[]): Map<string, string> {
    const keys = new Set(batch.flatMap(({ links }) => linkKeys(links)));
    return new Map([...this.#threadOfKey].filter(([key]) => keys.has(key)));
  }

  #neighbours(anchor: SubjectAnchor): string[] {
    const emailIds = anchor.participants.flatMap((participant) => {
      const rows = this.#anchors
        .filter((row) => row.anchor.subject === anchor.subject && row.anchor.participants.includes(participant))
        .toSorted((a, b) => a.anchor.date.getTime() - b.anchor.date.getTime());
      const { from, to } = neighbourSpan(anchor.date);
      const replies = rows.filter((row) => row.anchor.isReply);
      const before = replies.findLast((row) => row.anchor.date >= from && row.anchor.date <= anchor.date);
      const after = replies.find((row) => row.anchor.date >= anchor.date && row.anchor.date <= to);
      const span = anchor.isReply
        ? unjoinedSpan(anchor.date, before?.anchor.date ?? null, after?.anchor.date ?? null)
        : null;
      const unjoined = rows.filter(
        (row) => span !== null && !row.anchor.isReply && row.anchor.date >= span.from && row.anchor.date <= span.to,
      );
      this.passed += unjoined.length;
      return [before, after, ...unjoined].flatMap((row) => row?.emailId ?? []);
    });
    return emailIds.map((emailId) => this.threadOf.get(emailId) ?? '');
  }
}

function partition(messages: readonly ThreadableMessage[], random: () => number): Map<string, string> {
  const stored = new StoredThreads();
  for (const batch of batches(shuffled(messages, random), 8, random)) stored.add(batch);
  return canonicalPartition(stored.threadOf);
}

test('threads are the connected components of the definition, in any order of arrival', () => {
  for (let seed = 0; seed < 120; seed++) {
    const random = seededRandom(seed);
    const messages = randomMail(random, {
      count: 40,
      referringShare: [0, 0.2, 0.4, 0.8][seed % 4] ?? 0,
      days: 40 + (seed % 5) * 60,
    });
    const expected = partitionByDefinition(messages);
    for (let order = 0; order < 3; order++) {
      expect(partition(messages, random), `seed ${seed}, order ${order}`).toEqual(expected);
    }
  }
});

test('random mail makes threads of every size by links and by subjects', () => {
  const sizes = new Set<number>();
  for (let seed = 0; seed < 20; seed++) {
    const partitioned = partitionByDefinition(
      randomMail(seededRandom(seed), { count: 40, referringShare: 0.2, days: 300 }),
    );
    for (const members of Map.groupBy(partitioned.values(), (thread) => thread).values()) sizes.add(members.length);
  }
  expect(sizes.has(1) && sizes.has(2) && sizes.has(5)).toBe(true);
});

test('a plain message is checked at most twice per participant, however many replies arrive', () => {
  const random = seededRandom(7);
  const plain = Array.from({ length: 200 }, (_, index) =>
    mail({ emailId: `em_p${index}`, messageId: `<p${index}@x.test>`, date: day(random() * 400) }),
  );
  const replies = Array.from({ length: 200 }, (_, index) =>
    mail({ emailId: `em_r${index}`, messageId: `<r${index}@x.test>`, subject: 'Re: rent', date: day(random() * 400) }),
  );
  const stored = new StoredThreads();
  for (const message of [...plain, ...replies]) stored.add([message]);
  expect(stored.passed).toBeLessThanOrEqual(2 * plain.length);
});

const rent = { subject: 'rent', participants: ['ann@a.test'], isReply: false, date: day(0) };

test.each<[string, boolean, Partial<SubjectAnchor>, Partial<SubjectAnchor>]>([
  ['a reply and its parent are neighbours', true, {}, { isReply: true }],
  ['two plain messages with one subject are not', false, {}, {}],
  ['two replies are', true, { isReply: true }, { isReply: true }],
  ['30 days apart is near', true, {}, { isReply: true, date: day(30) }],
  ['a millisecond more is far', false, {}, { isReply: true, date: new Date(day(30).getTime() + 1) }],
  ['nobody in common', false, {}, { isReply: true, participants: ['bob@b.test'] }],
  ['another subject', false, {}, { isReply: true, subject: 'keys' }],
])('a subject edge joins messages or not: %s', (_name, areNeighbours, one, other) => {
  expect(areSubjectNeighbours({ ...rent, ...one }, { ...rent, ...other })).toBe(areNeighbours);
  expect(areSubjectNeighbours({ ...rent, ...other }, { ...rent, ...one })).toBe(areNeighbours);
});

test.each<[string, Partial<ThreadableMessage>]>([
  ['refers to a msg-id', { inReplyTo: ['<a@b>'] }],
  ['refers to one in References', { references: ['<a@b>'] }],
  ['is a forward', { subject: 'Fwd: rent' }],
  ['is a forward of a reply', { subject: 'Fwd: Re: rent' }],
  ['has no base subject', { subject: 'Re:', baseSubject: '' }],
  ['names nobody but the address that received it', { addresses: ['Me@Home.test'] }],
])('no subject edge joins a message that %s', (_name, fields) => {
  const message = mail(fields);
  expect(findSubjectAnchor(message, findLinks(message))).toBeNull();
});

test('an anchor has its subject and participants in lower case, each once, without the receiving address', () => {
  const message = mail({
    subject: 'Re: RENT',
    baseSubject: 'RENT',
    addresses: ['Ann@A.test', 'me@home.test', 'ann@a.test', 'b@b.test'],
  });
  expect(findSubjectAnchor(message, findLinks(message))).toEqual({
    subject: 'rent',
    participants: ['ann@a.test', 'b@b.test'],
    isReply: true,
    date: message.date,
  });
});

test('at most 50 participants of a message become anchors', () => {
  const message = mail({ addresses: Array.from({ length: 80 }, (_, index) => `a${index}@a.test`) });
  expect(findSubjectAnchor(message, findLinks(message))?.participants).toHaveLength(50);
});

test('an id without @ does not link and leaves the decision to the subject', () => {
  const message = mail({ messageId: '<yes>', inReplyTo: ['<yes>'], references: ['<y>'] });
  expect(findLinks(message)).toEqual({ own: null, named: null, inReplyTo: [], references: [], bare: [] });
  expect(findSubjectAnchor(message, findLinks(message))).not.toBeNull();
});

test('the first valid one of several ids in In-Reply-To is the link', () => {
  expect(findLinks(mail({ inReplyTo: ['<yes>', '<a@x.test>', '<b@x.test>'] })).inReplyTo).toEqual(['<a@x.test>']);
});

test('very long msg-ids have short, distinct keys', () => {
  const key = (end: string) => findLinks(mail({ messageId: `<${'a'.repeat(900)}${end}@x>` })).own ?? '';
  expect(key('1').length).toBeLessThan(100);
  expect(key('1')).not.toBe(key('2'));
});

test('the reason is In-Reply-To before References before the subject', () => {
  const parent = mail({ emailId: 'em_1', messageId: '<1@x.test>', createdAt: day(0) });
  const reply = mail({
    emailId: 'em_2',
    messageId: '<2@x.test>',
    inReplyTo: ['<1@x.test>'],
    references: ['<1@x.test>'],
    createdAt: day(1),
  });
  const nephew = mail({
    emailId: 'em_3',
    messageId: '<3@x.test>',
    references: ['<1@x.test>'],
    inReplyTo: ['<0@x.test>'],
    createdAt: day(2),
  });
  const bare = mail({ emailId: 'em_4', messageId: '<4@x.test>', subject: 'Re: rent', createdAt: day(3) });
  const other = mail({
    emailId: 'em_5',
    messageId: '<5@x.test>',
    subject: 'keys',
    baseSubject: 'keys',
    createdAt: day(4),
  });
  const late = mail({ emailId: 'em_6', messageId: '<0@x.test>', subject: 'x', baseSubject: 'x', createdAt: day(5) });
  const batch = [late, other, bare, nephew, reply, parent].map((message) => {
    const links = findLinks(message);
    return { message, links, anchor: findSubjectAnchor(message, links) };
  });
  const groups = joinBatch(batch, { threadOfKey: new Map(), threadsBySubject: new Map() });
  const reasons = groups.map((group) => group.messages.map(({ message, reason }) => [message.emailId, reason]));
  expect(reasons).toEqual([
    [
      ['em_1', 'new'],
      ['em_2', 'header'],
      ['em_3', 'references'],
      ['em_4', 'subject'],
      ['em_6', 'references'],
    ],
    [['em_5', 'new']],
  ]);
});

test('the older thread stays, of equally old ones the one with the smaller id', () => {
  const thread = (id: string, days: number) => ({ id, createdAt: day(days) });
  expect(chooseSurvivor([thread('th_c', 2), thread('th_b', 1), thread('th_a', 1), thread('th_d', 3)]).id).toBe('th_a');
});

function day(days: number): Date {
  return new Date(Date.UTC(2026, 5, 1) + days * 24 * 60 * 60 * 1000);
}

function mail(fields: Partial<ThreadableMessage>): ThreadableMessage {
  return {
    emailId: 'em_0',
    messageId: '<0@mail.test>',
    inReplyTo: [],
    references: [],
    subject: 'rent',
    baseSubject: 'rent',
    ownAddress: 'me@home.test',
    addresses: ['ann@a.test', 'me@home.test'],
    createdAt: day(0),
    date: day(0),
    ...fields,
  };
}

test('ids without brackets link only to messages that are known by then', () => {
  const parent = mail({ emailId: 'em_1', messageId: '<bare@a.test>' });
  const reply = mail({ emailId: 'em_2', messageId: '<b@a.test>', subject: 'Else', inReplyTo: ['bare@a.test'] });
  const stranger = mail({ emailId: 'em_3', messageId: '<c@a.test>', subject: 'More', references: ['other@a.test'] });
  const joinable = (message: ThreadableMessage) => {
    const links = findLinks(message);
    return { message, links, anchor: findSubjectAnchor(message, links) };
  };
  const groups = joinBatch([parent, reply, stranger].map(joinable), {
    threadOfKey: new Map(),
    threadsBySubject: new Map(),
  });
  expect(groups.map(({ messages }) => messages.map(({ message }) => message.emailId))).toEqual([
    ['em_1', 'em_2'],
    ['em_3'],
  ]);
  expect(groups.flatMap(({ keys }) => keys)).not.toContain('<other@a.test>');
});
