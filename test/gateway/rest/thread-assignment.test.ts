import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertThread } from '../../support/rows/mail-rows.ts';
import { storeRankedMail } from '../../support/rows/ranked-mail.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import type { BrowserSession } from '../../support/stages/browser-session.ts';
import { buildAllWords } from '../../support/stages/build-all-words.ts';
import { openTeam, type TeamPerson, type TeamStage } from '../../support/stages/team-stage.ts';

let gateway: TestGateway;
let team: TeamStage;
let agent: TeamPerson;
/** an agent who sees one address */
let limited: TeamPerson;
let viewer: TeamPerson;
let subject = 0;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 } });
  team = await openTeam(gateway, 'desk');
  await gateway.mailbox({ workspaceId: team.box.workspaceId, domain: 'desk.test', address: 'sales@desk.test' });
  agent = await team.makeMember('agent');
  limited = await team.makeMember('agent', { addresses: ['sales@desk.test'] });
  viewer = await team.makeMember('viewer');
});
afterAll(() => gateway.close());

async function makeThread(ownAddress = team.box.address): Promise<string> {
  const at = new Date(Date.now() - 3_600_000 + subject * 1_000);
  const thread = {
    workspaceId: team.box.workspaceId,
    count: 1,
    lastMessageAt: at,
    ownAddress,
    subject: `Case ${subject++}`,
  };
  return (await insertThread(gateway.owner, thread)).threadId;
}
const assign = (browser: BrowserSession, threadId: string, assignee: string | null) =>
  browser.rest('POST', `/mail/threads/${threadId}/assign`, {}, { assignee });
const readAssignee = async (threadId: string): Promise<string | null> =>
  (await team.owner.browser.rest('GET', `/mail/threads/${threadId}`)).json().thread.assignee_id;
const list = async (browser: BrowserSession, assigned: string): Promise<string[]> =>
  (await browser.rest('GET', `/mail/threads?assigned=${encodeURIComponent(assigned)}&limit=100`))
    .json()
    .threads.map(({ id }: { id: string }) => id);
const inbox = async (browser: BrowserSession, args: string): Promise<string[]> =>
  (await browser.graphql(`{ inbox(first: 50, ${args}) { edges { node { id } } } }`))
    .json()
    .data.inbox.edges.map(({ node }: { node: { id: string } }) => node.id);
const readEvents = async (threadId: string) =>
  (
    await gateway.owner.pool.query<{ data: { assignee: { id: string } | null; by: string | null } }>(
      `select data from event where workspace_id = $1 and thread_id = $2 and kind = 'thread.assigned' order by seq`,
      [team.box.workspaceId, threadId],
    )
  ).rows.map(({ data }) => data);

/** createAccount makes the name from the address. */
const readName = ({ email }: TeamPerson) => email.split('@')[0];

describe('a thread', () => {
  test('is assigned to a member by ID, by address and by `me`, and to none', async () => {
    const id = await makeThread();
    const byId = await assign(team.owner.browser, id, agent.personId);
    expect([byId.statusCode, byId.json()]).toEqual([
      200,
      { thread_id: id, assignee: expect.objectContaining({ id: agent.personId, email: agent.email }) },
    ]);
    expect(await readAssignee(id)).toBe(agent.personId);
    await assign(team.owner.browser, id, viewer.email.toUpperCase());
    expect(await readAssignee(id)).toBe(viewer.personId);
    await assign(agent.browser, id, 'me');
    expect(await readAssignee(id)).toBe(agent.personId);
    const none = await assign(agent.browser, id, null);
    expect(none.json()).toEqual({ thread_id: id, assignee: null });
    expect(await readAssignee(id)).toBeNull();
  });

  test('is assigned over GraphQL and shows the member', async () => {
    const id = await makeThread();
    const assigned = await agent.browser.graphql(
      `mutation { assignThread(input: { threadId: "${id}", assignee: "me" }) { ... on AssignThreadPayload { thread { id assignee { id email } } } } }`,
    );
    expect(assigned.json().data.assignThread.thread).toEqual({
      id,
      assignee: { id: agent.personId, email: agent.email },
    });
  });

  test('has one event per change, with who assigned it', async () => {
    const id = await makeThread();
    await assign(team.owner.browser, id, agent.personId);
    await assign(team.owner.browser, id, agent.personId);
    await assign(agent.browser, id, null);
    expect(await readEvents(id)).toEqual([
      { assignee: { id: agent.personId, name: expect.any(String), email: agent.email }, by: readName(team.owner) },
      { assignee: null, by: readName(agent) },
    ]);
  });

  test('has one assignee after 50 assignments at once, that of the last event', async () => {
    const id = await makeThread();
    const given = Array.from({ length: 50 }, (_, at) => [agent.personId, viewer.personId, null][at % 3] ?? null);
    const codes = await Promise.all(
      given.map(async (assignee) => (await assign(team.owner.browser, id, assignee)).statusCode),
    );
    expect(codes.filter((code) => code !== 200 && code !== 409)).toEqual([]);
    const events = (await readEvents(id)).map(({ assignee }) => assignee?.id ?? null);
    expect(events.at(-1) ?? null).toBe(await readAssignee(id));
    expect(events.filter((assignee, at) => assignee === (events[at - 1] ?? null))).toEqual([]);
  });

  test('is found by its assignee in lists of REST, in the inbox and by a search', async () => {
    const [mine, free] = [await makeThread(), await makeThread()];
    await assign(agent.browser, mine, 'me');
    for (const found of [
      await list(agent.browser, 'me'),
      await list(viewer.browser, agent.email),
      await inbox(agent.browser, 'filter: { assigned: "me" }'),
      await inbox(viewer.browser, `search: "assigned:${agent.email}"`),
    ]) {
      expect(found).toContain(mine);
      expect(found).not.toContain(free);
    }
    for (const found of [
      await list(agent.browser, 'none'),
      await inbox(agent.browser, 'filter: { assigned: "none" }'),
      await inbox(agent.browser, 'search: "assigned:none"'),
      await inbox(agent.browser, 'search: "-assigned:me"'),
    ]) {
      expect(found).toContain(free);
      expect(found).not.toContain(mine);
    }
    const emails = await agent.browser.graphql(
      '{ emails(search: "assigned:me") { edges { node { thread { id } } } } }',
    );
    const threads = emails
      .json()
      .data.emails.edges.map(({ node }: { node: { thread: { id: string } } }) => node.thread.id);
    expect(threads).toContain(mine);
    expect(threads).not.toContain(free);
  });
});

test.each(['unindexed words', 'indexed words'])('a search for %s and an assignee meets both', async (state) => {
  if (state === 'unindexed words') await storeRankedMail(gateway.actor, team.box.workspaceId);
  else await buildAllWords(gateway.actor);
  const found = await inbox(agent.browser, 'search: "numbat"');
  expect(found).toHaveLength(3);
  const [mine = '', ...others] = found;
  await assign(agent.browser, mine, 'me');
  expect(await inbox(agent.browser, 'search: "numbat assigned:me"')).toEqual([mine]);
  expect(await inbox(agent.browser, 'search: "numbat assigned:me", orderBy: RELEVANCE')).toEqual([mine]);
  expect(await inbox(agent.browser, 'search: "numbat -assigned:me"')).toEqual(others);
  expect(await inbox(agent.browser, 'search: "numbat", filter: { assigned: "none" }')).toEqual(others);
  const listed = await agent.browser.rest('GET', '/mail/threads?search=numbat&assigned=me');
  expect(listed.json().threads).toMatchObject([{ id: mine, assignee_id: agent.personId }]);
});

describe('an assignment', () => {
  test('is refused to viewers, and to threads of other workspaces', async () => {
    const id = await makeThread();
    const refused = await assign(viewer.browser, id, 'me');
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'insufficient_role']);
    const stranger = await team.makePerson();
    expect((await assign(stranger.browser, id, 'me')).statusCode).toBe(404);
    expect(await readAssignee(id)).toBeNull();
  });

  test('needs an assignee who is a member', async () => {
    const id = await makeThread();
    const stranger = await team.makePerson();
    for (const assignee of [stranger.email, stranger.personId, 'Ann', ''])
      expect((await assign(agent.browser, id, assignee)).statusCode).toBe(400);
    expect(
      (await agent.browser.graphql(`{ inbox(search: "assigned:${stranger.email}") { totalCount } }`)).json().errors?.[0]
        ?.message,
    ).toContain('is not a member');
    expect(await readAssignee(id)).toBeNull();
  });

  test('is refused to a limited member who cannot read the thread', async () => {
    const [outside, inside] = [await makeThread(), await makeThread('sales@desk.test')];
    const refused = await assign(agent.browser, outside, limited.personId);
    expect([refused.statusCode, refused.json().error]).toEqual([
      400,
      expect.stringContaining('cannot read this thread'),
    ]);
    expect((await assign(agent.browser, inside, limited.personId)).statusCode).toBe(200);
  });

  test('by a limited agent reaches only what the agent sees', async () => {
    const [outside, inside] = [await makeThread(), await makeThread('sales@desk.test')];
    expect((await assign(limited.browser, outside, 'me')).statusCode).toBe(404);
    expect((await assign(limited.browser, inside, 'me')).statusCode).toBe(200);
    expect(await list(limited.browser, 'me')).toContain(inside);
    expect(await list(limited.browser, 'none')).not.toContain(outside);
  });

  test('needs the scope manage of an API key', async () => {
    const id = await makeThread();
    const { secret: key } = await insertKey(gateway.owner, team.box, { scopes: ['read', 'send'] });
    expect((await gateway.call(key, 'POST', `/mail/threads/${id}/assign`, { assignee: agent.email })).statusCode).toBe(
      403,
    );
    const own = await team.insertPersonKey(agent);
    const assigned = await gateway.call(own, 'POST', `/mail/threads/${id}/assign`, { assignee: 'me' });
    expect(assigned.json().assignee.id).toBe(agent.personId);
  });

  test('ends when the member is removed, leaves, or may not read the thread any more', async () => {
    const [removed, leaving, limiting] = [
      await team.makeMember('agent'),
      await team.makeMember('agent'),
      await team.makeMember('agent'),
    ];
    const ids = [await makeThread(), await makeThread(), await makeThread(), await makeThread('sales@desk.test')];
    const people = [removed, leaving, limiting, limiting];
    for (const [at, id] of ids.entries()) await assign(team.owner.browser, id, people[at]?.personId ?? null);
    await team.owner.browser.rest('DELETE', `/members/${removed.personId}`);
    await leaving.browser.rest('POST', '/members/leave', {}, { workspace_id: team.box.workspaceId });
    await team.owner.browser.rest(
      'PATCH',
      `/members/${limiting.personId}`,
      {},
      { role: 'agent', addresses: ['sales@desk.test'] },
    );
    expect(await Promise.all(ids.map(readAssignee))).toEqual([null, null, null, limiting.personId]);
    expect((await readEvents(ids[0] ?? '')).at(-1)).toEqual({ assignee: null, by: readName(team.owner) });
  });

  test('of one member who is removed at the same time leaves no thread with the member', async () => {
    const leaver = await team.makeMember('agent');
    const ids = await Promise.all(Array.from({ length: 8 }, () => makeThread()));
    await Promise.all([
      ...ids.map((id) => assign(team.owner.browser, id, leaver.personId)),
      team.owner.browser.rest('DELETE', `/members/${leaver.personId}`),
    ]);
    expect(await Promise.all(ids.map(readAssignee))).toEqual(ids.map(() => null));
  });

  test('stays with the thread that others are merged into, or comes from one of them', async () => {
    const [first, second] = [await makeThread(), await makeThread()];
    await assign(agent.browser, second, 'me');
    const merged = await agent.browser.rest('POST', '/mail/threads/merge', {}, { thread_ids: [first, second] });
    expect(merged.statusCode).toBe(200);
    expect(await readAssignee(first)).toBe(agent.personId);
  });
});
