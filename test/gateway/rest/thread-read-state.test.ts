import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertMail, insertThread } from '../../support/rows/mail-rows.ts';
import { storeRankedMail } from '../../support/rows/ranked-mail.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import type { BrowserSession } from '../../support/stages/browser-session.ts';
import { buildAllWords } from '../../support/stages/build-all-words.ts';
import { openTeam, type TeamPerson, type TeamStage } from '../../support/stages/team-stage.ts';

let gateway: TestGateway;
let team: TeamStage;
let ann: TeamPerson;
let viewer: TeamPerson;
/** an agent who sees one address */
let limited: TeamPerson;
let count = 0;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 } });
  team = await openTeam(gateway, 'reads');
  await gateway.mailbox({ workspaceId: team.box.workspaceId, domain: 'reads.test', address: 'sales@reads.test' });
  ann = await team.makeMember('agent');
  viewer = await team.makeMember('viewer');
  limited = await team.makeMember('agent', { addresses: ['sales@reads.test'] });
});
afterAll(() => gateway.close());

/** A thread that came after everyone joined, so that no one has read it. */
function makeThread(messages = 1, ownAddress = team.box.address) {
  const lastMessageAt = new Date(Date.now() + 3_600_000 + count++ * 600_000);
  const { workspaceId } = team.box;
  return insertThread(gateway.owner, {
    workspaceId,
    count: messages,
    lastMessageAt,
    ownAddress,
    subject: `Case ${count}`,
  });
}
const mark = (browser: BrowserSession, body: Record<string, unknown>) =>
  browser.rest('POST', '/mail/threads/read-by-me', {}, body);
const read = (browser: BrowserSession, ids: readonly string[] | null, more: Record<string, unknown> = {}) =>
  mark(browser, { ...(ids === null ? {} : { thread_ids: ids }), is_read: true, ...more });
async function readState(browser: BrowserSession, threadId: string): Promise<boolean | null> {
  const { data } = (await browser.graphql(`{ thread(id: "${threadId}") { isReadByMe } }`)).json();
  return data.thread.isReadByMe;
}
const unreadList = async (browser: BrowserSession, query = ''): Promise<string[]> =>
  (await browser.rest('GET', `/mail/threads?unread_by_me=true&limit=100${query}`))
    .json()
    .threads.map(({ id }: { id: string }) => id);
const inbox = async (browser: BrowserSession, args: string) => {
  const { data, errors } = (
    await browser.graphql(`{ inbox(first: 50, ${args}) { totalCount edges { node { id } } } }`)
  ).json();
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return {
    total: data.inbox.totalCount as number,
    ids: data.inbox.edges.map(({ node }: { node: { id: string } }) => node.id) as string[],
  };
};
const rowCount = async (personId: string): Promise<number> =>
  (await gateway.owner.pool.query('select from thread_read where person_id = $1', [personId])).rowCount ?? 0;

describe('what a member has read', () => {
  test('is the own state alone, and the mark of the workspace stays', async () => {
    const { threadId, emailIds } = await makeThread();
    expect(await readState(ann.browser, threadId)).toBe(false);
    expect((await read(ann.browser, [threadId])).json()).toEqual({ thread_ids: [threadId], is_read: true });
    expect(await readState(ann.browser, threadId)).toBe(true);
    expect(await readState(team.owner.browser, threadId)).toBe(false);
    const email = (await ann.browser.rest('GET', `/emails/${emailIds[0]}`)).json();
    expect(email.is_read).toBe(false);
    const changed = await team.owner.browser.rest('PATCH', `/mail/threads/${threadId}`, {}, { is_read: true });
    expect(changed.statusCode).toBe(200);
    expect(await readState(viewer.browser, threadId)).toBe(false);
  });

  test('is kept by a viewer, who may mark nothing for the workspace', async () => {
    const { threadId } = await makeThread();
    expect((await read(viewer.browser, [threadId])).statusCode).toBe(200);
    expect(await readState(viewer.browser, threadId)).toBe(true);
    expect((await viewer.browser.rest('PATCH', `/mail/threads/${threadId}`, {}, { is_read: true })).statusCode).toBe(
      403,
    );
  });

  test('filters lists, counts, the inbox and searches', async () => {
    const [first, second] = [await makeThread(), await makeThread()];
    const ids = [first.threadId, second.threadId];
    expect(await unreadList(ann.browser)).toEqual(expect.arrayContaining(ids));
    await read(ann.browser, [first.threadId]);
    const left = await unreadList(ann.browser);
    expect(left).toContain(second.threadId);
    expect(left).not.toContain(first.threadId);
    expect(await unreadList(ann.browser, `&search=${encodeURIComponent('is:unread')}`)).toEqual(left);
    expect(await unreadList(ann.browser, '&domain=elsewhere.test')).toEqual(left);
    const [filtered, sought] = [
      await inbox(ann.browser, 'filter: { isUnreadByMe: true }'),
      await inbox(ann.browser, 'search: "unread:me"'),
    ];
    expect(filtered).toEqual({ total: left.length, ids: left });
    expect(sought).toEqual(filtered);
    const others = await inbox(ann.browser, 'search: "-unread:me"');
    expect(others.ids).toContain(first.threadId);
    expect(others.ids).not.toContain(second.threadId);
    const listed = (await ann.browser.rest('GET', '/mail/threads?limit=100')).json().threads;
    const shown = new Map(listed.map(({ id, is_read_by_me: isRead }: Record<string, unknown>) => [id, isRead]));
    expect(ids.map((id) => shown.get(id))).toEqual([true, false]);
  });

  test.each(['unindexed words', 'segments'])('filters a search for words in %s', async (state) => {
    const { browser } = viewer;
    if (state === 'unindexed words') await storeRankedMail(gateway.actor, team.box.workspaceId);
    else await buildAllWords(gateway.actor);
    const found = async (search: string, more = '') => (await inbox(browser, `search: "${search}"${more}`)).ids;
    const all = await found('numbat');
    expect(all).toHaveLength(3);
    const [mine = '', ...others] = all;
    await mark(browser, { thread_ids: all, is_read: true });
    await mark(browser, { thread_ids: [mine], is_read: false });
    expect(await found('numbat unread:me')).toEqual([mine]);
    expect(await found('numbat unread:me', ', orderBy: RELEVANCE')).toEqual([mine]);
    expect(await found('numbat', ', filter: { isUnreadByMe: true }')).toEqual([mine]);
    expect(await found('numbat -unread:me')).toEqual(others);
  });

  test('ends where the member says: a later message stays unread, and a message can be the first unread one', async () => {
    const { threadId, emailIds } = await makeThread(3);
    const [, second = '', third = ''] = emailIds;
    await read(ann.browser, [threadId], { email_id: second });
    expect(await readState(ann.browser, threadId)).toBe(false);
    await read(ann.browser, [threadId], { email_id: third });
    expect(await readState(ann.browser, threadId)).toBe(true);
    await mark(ann.browser, { thread_ids: [threadId], is_read: false, email_id: third });
    expect(await readState(ann.browser, threadId)).toBe(false);
    await read(ann.browser, [threadId], { email_id: second });
    expect(await readState(ann.browser, threadId)).toBe(false);
  });

  test('is unread again when a message comes, and not when one leaves', async () => {
    const { threadId } = await makeThread();
    const { workspaceId, address } = team.box;
    await read(ann.browser, [threadId]);
    const later = new Date(Date.now() + 90_000_000);
    const add = (type: 'received' | 'sent', createdAt: Date) =>
      insertMail(gateway.owner, [{ workspaceId, ownAddress: address, threadId, type, createdAt }]);
    const touch = (at: Date) =>
      gateway.owner.pool.query('update thread set last_message_at = $3 where workspace_id = $1 and id = $2', [
        workspaceId,
        threadId,
        at,
      ]);
    await add('sent', later);
    await touch(later);
    expect(await readState(ann.browser, threadId)).toBe(true);
    await add('received', new Date(later.getTime() + 1_000));
    await touch(new Date(later.getTime() + 1_000));
    expect(await readState(ann.browser, threadId)).toBe(false);
  });

  test('begins with what comes after joining', async () => {
    const old = await insertThread(gateway.owner, {
      workspaceId: team.box.workspaceId,
      count: 1,
      lastMessageAt: new Date(Date.now() - 86_400_000),
      ownAddress: team.box.address,
    });
    expect(await readState(ann.browser, old.threadId)).toBe(true);
  });
});

describe('the state of the first member', () => {
  test('is that of the workspace when a second member joins, and is in a team from then on', async () => {
    const alone = await openTeam(gateway, 'first');
    const { browser } = alone.owner;
    const isInTeam = async () => {
      const { data } = (await browser.graphql('{ viewer { person { isInTeam } } }')).json();
      return data.viewer.person.isInTeam;
    };
    const make = () =>
      insertThread(gateway.owner, {
        workspaceId: alone.box.workspaceId,
        count: 2,
        lastMessageAt: new Date(),
        ownAddress: alone.box.address,
      });
    const [unread, seen, marked] = [await make(), await make(), await make()];
    for (const { threadId } of [seen, marked])
      await browser.rest('PATCH', `/mail/threads/${threadId}`, {}, { is_read: true });
    await mark(browser, { thread_ids: [marked.threadId], is_read: false });
    expect(await isInTeam()).toBe(false);
    const second = await alone.makeMember('agent');
    expect(await isInTeam()).toBe(true);
    const states = async () => Promise.all([unread, seen, marked].map(({ threadId }) => readState(browser, threadId)));
    expect(await states()).toEqual([false, true, true]);
    expect(await Promise.all([unread, seen].map(({ threadId }) => readState(second.browser, threadId)))).toEqual([
      true,
      true,
    ]);
    await mark(browser, { thread_ids: [seen.threadId], is_read: false });
    // A third member changes nothing for the others.
    await alone.makeMember('viewer');
    expect(await states()).toEqual([false, false, true]);
    await read(browser, null);
    expect(await states()).toEqual([true, true, true]);
  });
});

describe('a mark of everything', () => {
  test('reads what has come until now in one row, and later marks of single threads count from then on', async () => {
    const person = await team.makeMember('agent');
    const threads = await Promise.all(
      Array.from({ length: 3 }, () =>
        insertThread(gateway.owner, {
          workspaceId: team.box.workspaceId,
          count: 1,
          lastMessageAt: new Date(),
          ownAddress: team.box.address,
        }),
      ),
    );
    const ids = threads.map(({ threadId }) => threadId);
    await mark(person.browser, { thread_ids: ids, is_read: false });
    expect(await rowCount(person.personId)).toBe(3);
    expect((await read(person.browser, null)).json()).toEqual({ thread_ids: null, is_read: true });
    expect(await rowCount(person.personId)).toBe(1);
    expect(await Promise.all(ids.map((id) => readState(person.browser, id)))).toEqual([true, true, true]);
    await mark(person.browser, { thread_ids: ids.slice(0, 1), is_read: false });
    expect(await Promise.all(ids.map((id) => readState(person.browser, id)))).toEqual([false, true, true]);
  });

  test('costs no row for mail that no one opens, and none for a thread that is read already', async () => {
    const person = await team.makeMember('viewer');
    const { threadId } = await makeThread();
    expect(await rowCount(person.personId)).toBe(0);
    await read(person.browser, [threadId]);
    await read(person.browser, [threadId]);
    expect(await rowCount(person.personId)).toBe(1);
  });
});

describe('the state of members', () => {
  test('goes with the member, and with the thread', async () => {
    const person = await team.makeMember('agent');
    const [one, other] = [await makeThread(), await makeThread()];
    await read(person.browser, [one.threadId, other.threadId]);
    await read(ann.browser, [one.threadId]);
    const removed = await team.owner.browser.rest('DELETE', `/members/${person.personId}`);
    expect(removed.statusCode).toBe(200);
    expect(await rowCount(person.personId)).toBe(0);
    expect(await readState(ann.browser, one.threadId)).toBe(true);
  });

  test('follows merged and split threads', async () => {
    const [one, other] = [await makeThread(2), await makeThread()];
    await read(ann.browser, [one.threadId, other.threadId]);
    await read(viewer.browser, [one.threadId]);
    const ids = [one.threadId, other.threadId];
    const merged = await team.owner.browser.rest('POST', '/mail/threads/merge', {}, { thread_ids: ids });
    expect(merged.statusCode).toBe(200);
    const { id } = merged.json();
    expect([await readState(ann.browser, id), await readState(viewer.browser, id)]).toEqual([true, false]);
    const split = await team.owner.browser.rest('POST', `/mail/threads/${id}/split`, {}, { email_ids: other.emailIds });
    expect(await readState(ann.browser, split.json().new_thread_id)).toBe(true);
  });

  test('is read over a key of a member, and null for a key of the workspace', async () => {
    const { threadId } = await makeThread();
    const list = async (key: string) =>
      (await gateway.call(key, 'GET', '/mail/threads?limit=100'))
        .json()
        .threads.find(({ id }: { id: string }) => id === threadId).is_read_by_me;
    expect(await list(team.box.apiKey)).toBeNull();
    const refused = await gateway.call(team.box.apiKey, 'POST', '/mail/threads/read-by-me', {
      thread_ids: [threadId],
      is_read: true,
    });
    expect(refused.statusCode).toBe(403);
    const filtered = await gateway.call(team.box.apiKey, 'GET', '/mail/threads?unread_by_me=true');
    expect([filtered.statusCode, filtered.json().message]).toEqual([
      400,
      expect.stringContaining('`me` is the person'),
    ]);
    expect(await list(await team.insertPersonKey(team.owner))).toBe(false);
  });

  test('reaches no thread that a limited member does not see', async () => {
    const [seen, hidden] = [await makeThread(1, 'sales@reads.test'), await makeThread()];
    const { browser } = limited;
    expect(await unreadList(browser)).toContain(seen.threadId);
    expect(await unreadList(browser)).not.toContain(hidden.threadId);
    const { ids } = await inbox(browser, 'filter: { isUnreadByMe: true }');
    expect(ids).toContain(seen.threadId);
    expect(ids).not.toContain(hidden.threadId);
    expect((await read(browser, [seen.threadId, hidden.threadId])).statusCode).toBe(404);
    expect(await readState(browser, seen.threadId)).toBe(false);
    expect((await read(browser, [seen.threadId])).statusCode).toBe(200);
    expect(await readState(browser, seen.threadId)).toBe(true);
  });
});

test.each([
  [{ is_read: false }, 'Everything can be marked as read, but not as unread'],
  [{ thread_ids: [], is_read: true }, 'Between 1 and 100 threads'],
  [{ thread_ids: Array.from({ length: 101 }, () => 'th_x'), is_read: true }, 'Between 1 and 100 threads'],
  [{ thread_ids: ['a', 'b'], is_read: true, email_id: 'em_x' }, 'single thread'],
  [{ is_read: true, email_id: 'em_x' }, 'needs its thread'],
])('a change that is not allowed is refused with what is: %#', async (body, message) => {
  const refused = await mark(ann.browser, body);
  expect([refused.statusCode, refused.body]).toEqual([400, expect.stringContaining(message)]);
});

test('an email of another thread is refused', async () => {
  const [one, other] = [await makeThread(), await makeThread()];
  expect((await read(ann.browser, [one.threadId], { email_id: other.emailIds[0] })).statusCode).toBe(400);
});

test('50 marks of one thread at once end with one row', async () => {
  const person = await team.makeMember('agent');
  const { threadId } = await makeThread();
  const done = await Promise.all(
    Array.from({ length: 50 }, (_, at) => mark(person.browser, { thread_ids: [threadId], is_read: at % 2 === 0 })),
  );
  expect(done.map(({ statusCode }) => statusCode)).toEqual(done.map(() => 200));
  expect(await rowCount(person.personId)).toBe(1);
});
