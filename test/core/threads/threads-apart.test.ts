import { expect, test } from 'vitest';
import {
  findLinks,
  type Joined,
  joinBatch,
  type StoredNeighbours,
  type ThreadableMessage,
} from '../../../core/threads/threading.ts';
import { threadsApart } from '../../../core/threads/threads-apart.ts';

/** Threads A and B are apart, C is apart from none; each knows ids of its letter. */
const stored: StoredNeighbours = {
  threadOfKey: new Map(['a1', 'a2', 'b1', 'b2', 'c1'].map((id) => [`<${id}@x>`, `th_${id.charAt(0)}`])),
  threadsBySubject: new Map(),
  apart: threadsApart([['th_a', 'th_b']]),
};

function mail(
  emailId: string,
  fields: Partial<Record<'parent' | 'own', string>> & { references?: string[] },
): ThreadableMessage {
  const at = new Date(Date.UTC(2026, 0, 1) + Number(emailId.slice(1)));
  return {
    emailId,
    messageId: `<${fields.own ?? emailId}@x>`,
    inReplyTo: fields.parent === undefined ? [] : [`<${fields.parent}@x>`],
    references: (fields.references ?? []).map((id) => `<${id}@x>`),
    subject: '',
    baseSubject: '',
    ownAddress: 'me@home.test',
    addresses: [],
    createdAt: at,
    date: at,
  };
}

function join(mails: ThreadableMessage[], neighbours: StoredNeighbours = stored): Joined<ThreadableMessage>[] {
  const batch = mails.map((message) => ({ message, links: findLinks(message), anchor: null }));
  return joinBatch(batch, neighbours);
}

const listThreads = (groups: Joined<ThreadableMessage>[]) => groups.map((group) => group.threadIds.toSorted());

test.each<[string, Parameters<typeof mail>[1], string[]]>([
  ['its parent goes before its references', { parent: 'a1', references: ['b1', 'b2'] }, ['th_a']],
  ['the last reference goes before the others', { references: ['a1', 'a2', 'b1'] }, ['th_b']],
  ['references go before those who refer to it', { own: 'a1', references: ['b1'] }, ['th_b']],
  ['a thread that is apart from none is joined beside', { parent: 'a1', references: ['b1', 'c1'] }, ['th_a', 'th_c']],
  ['of two that are apart the second is left', { references: ['a1', 'b1', 'c1'] }, ['th_b', 'th_c']],
])('threads kept apart decide: %s', (_name, fields, threadIds) => {
  expect(listThreads(join([mail('m1', fields)]))).toEqual([threadIds]);
});

test('no chain of messages in one batch joins threads kept apart', () => {
  const groups = join([
    mail('m1', { parent: 'a1', references: ['new'] }),
    mail('m2', { references: ['new'] }),
    mail('m3', { parent: 'b1', references: ['m2', 'new'] }),
    mail('m4', { own: 'new' }),
  ]);
  expect(listThreads(groups)).toEqual([['th_a'], ['th_b']]);
  expect(groups.map((group) => group.messages.map(({ message }) => message.emailId))).toEqual([
    ['m1', 'm2', 'm4'],
    ['m3'],
  ]);
});

test('a merged thread stays apart from the threads of both', () => {
  const apart = threadsApart([['th_c', 'th_b']]);
  const groups = join([mail('m1', { references: ['c1', 'a1'] }), mail('m2', { references: ['b1', 'm1'] })], {
    ...stored,
    apart,
  });
  // m1 has joined A and C, so m2, which answers it, does not bring B to them.
  expect(listThreads(groups)).toEqual([['th_a', 'th_c']]);
});

test('a message whose own id another thread knows takes it over, and knows the rest of its ids', () => {
  const [group] = join([mail('m1', { own: 'a1', parent: 'b1', references: ['fresh'] })]);
  expect(group?.borneKeys).toEqual([{ key: '<a1@x>', messageId: '<a1@x>' }]);
  expect(group?.keys.toSorted()).toEqual(['<b1@x>', '<b2@x>', '<fresh@x>']);
});

test('without threads kept apart nothing is taken over and everything is joined', () => {
  const { apart: _, ...neighbours } = stored;
  const groups = join([mail('m1', { own: 'a1', parent: 'b1', references: ['c1'] })], neighbours);
  expect(listThreads(groups)).toEqual([['th_a', 'th_b', 'th_c']]);
  expect(groups[0]?.borneKeys).toEqual([]);
});
