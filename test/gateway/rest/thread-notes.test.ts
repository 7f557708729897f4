import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eraseRows } from '../../../db/queries/accounts/erase-account.ts';
import { exportAccount } from '../../../operations/accounts/export-account.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertThread } from '../../support/rows/mail-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectInjected } from '../../support/servers/mcp-client.ts';
import type { BrowserSession } from '../../support/stages/browser-session.ts';
import { readServiceMail } from '../../support/stages/service-mail.ts';
import { openTeam, type TeamPerson, type TeamStage } from '../../support/stages/team-stage.ts';

let gateway: TestGateway;
let team: TeamStage;
let agent: TeamPerson;
/** an agent who sees one address */
let limited: TeamPerson;
let viewer: TeamPerson;
/** where the request ends as if its process were killed; null: nowhere */
let killedAt: string | null = null;

beforeAll(async () => {
  gateway = await openTestGateway({
    config: { rateLimitPerSecond: 0 },
    fault: (point: string) => {
      if (point === killedAt) throw new Error('the process ends here');
    },
  });
  team = await openTeam(gateway, 'notes');
  await gateway.mailbox({ workspaceId: team.box.workspaceId, domain: 'notes.test', address: 'sales@notes.test' });
  agent = await team.makeMember('agent');
  limited = await team.makeMember('agent', { addresses: ['sales@notes.test'] });
  viewer = await team.makeMember('viewer');
});
afterAll(() => gateway.close());
beforeEach(() => {
  killedAt = null;
});

const makeThread = async (ownAddress = team.box.address): Promise<string> =>
  (
    await insertThread(gateway.owner, {
      workspaceId: team.box.workspaceId,
      count: 1,
      lastMessageAt: new Date(),
      ownAddress,
    })
  ).threadId;
const add = (browser: BrowserSession, threadId: string, text: string) =>
  browser.rest('POST', `/mail/threads/${threadId}/notes`, {}, { text });
const list = async (browser: BrowserSession, threadId: string): Promise<string[]> =>
  (await browser.rest('GET', `/mail/threads/${threadId}/notes`)).json().data.map(({ text }: { text: string }) => text);
const notices = async (email: string) =>
  (await readServiceMail(gateway.owner, email)).filter((mail) => mail.includes('mentioned you in a note'));

/** Starts another gateway, which sends what this one left behind. */
async function startAnother(): Promise<void> {
  const { app } = await gateway.beside();
  await app.close();
}

describe('a note', () => {
  test('is written, changed and deleted by its author, and read by all members', async () => {
    const id = await makeThread();
    const written = (await add(agent.browser, id, ' First line\r\nsecond line ')).json();
    expect(written).toMatchObject({ object: 'note', thread_id: id, text: 'First line\nsecond line', is_yours: true });
    expect(written).toMatchObject({ author_id: agent.personId, edited_at: null, mentions: [], unreached: [] });
    expect(await list(viewer.browser, id)).toEqual(['First line\nsecond line']);
    const changed = await agent.browser.rest('PATCH', `/mail/notes/${written.id}`, {}, { text: 'Changed' });
    expect(changed.json()).toMatchObject({ id: written.id, text: 'Changed', edited_at: expect.any(String) });
    expect((await agent.browser.rest('DELETE', `/mail/notes/${written.id}`)).json()).toMatchObject({ success: true });
    expect(await list(viewer.browser, id)).toEqual([]);
  });

  test('is written and read over GraphQL and MCP', async () => {
    const id = await makeThread();
    const written = await agent.browser.graphql(
      `mutation { addThreadNote(input: { threadId: "${id}", text: "By GraphQL" }) { ... on AddThreadNotePayload { note { text authorName } } } }`,
    );
    expect(written.json().data.addThreadNote.note).toEqual({ text: 'By GraphQL', authorName: expect.any(String) });
    const client = await connectInjected(gateway, await team.insertPersonKey(agent));
    const added = await client.callTool({ name: 'add_thread_note', arguments: { thread_id: id, text: 'By MCP' } });
    expect(added.isError ?? false, JSON.stringify(added)).toBe(false);
    const listed = await client.callTool({ name: 'list_thread_notes', arguments: { thread_id: id } });
    expect(listed.structuredContent).toMatchObject({ notes: [{ text: 'By GraphQL' }, { text: 'By MCP' }] });
    const found = await viewer.browser.graphql(`{ threadNotes(threadId: "${id}") { text authorId isYours } }`);
    expect(found.json().data.threadNotes).toEqual([
      { text: 'By GraphQL', authorId: agent.personId, isYours: false },
      { text: 'By MCP', authorId: null, isYours: false },
    ]);
    await client.close();
  });

  test('has 1 to 5,000 characters, and a thread at most 500 notes', async () => {
    const id = await makeThread();
    for (const text of ['', ' \n ', 'x'.repeat(5_001), 'a\u0000b'])
      expect((await add(agent.browser, id, text)).statusCode).toBe(400);
    expect((await add(agent.browser, id, '😀'.repeat(5_000))).statusCode).toBe(200);
    await gateway.owner.pool.query(
      `insert into thread_note (workspace_id, id, thread_id, author_name, text, mentions, unreached, created_at)
       select $1, 'note_' || n, $2, 'x', 'x', '{}', '{}', now() from generate_series(1, 498) n`,
      [team.box.workspaceId, id],
    );
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => add(agent.browser, id, 'One more')));
    expect(outcomes.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array(9).fill(409),
    ]);
    expect(outcomes.find(({ statusCode }) => statusCode === 409)?.json().code).toBe('TOO_MANY_NOTES');
  });

  test('of another member is changed by no one, and deleted by an admin only', async () => {
    const id = await makeThread();
    const note = (await add(team.owner.browser, id, 'Of the owner')).json().id;
    const other = (await add(agent.browser, id, 'Of the agent')).json().id;
    expect((await agent.browser.rest('PATCH', `/mail/notes/${note}`, {}, { text: 'x' })).statusCode).toBe(403);
    expect((await agent.browser.rest('DELETE', `/mail/notes/${note}`)).statusCode).toBe(403);
    expect((await team.owner.browser.rest('PATCH', `/mail/notes/${other}`, {}, { text: 'x' })).statusCode).toBe(403);
    expect((await team.owner.browser.rest('DELETE', `/mail/notes/${other}`)).statusCode).toBe(200);
  });

  test('is written by no viewer, and exists for no other workspace and no limited member without its thread', async () => {
    const id = await makeThread();
    const note = (await add(agent.browser, id, 'Secret words')).json().id;
    expect((await add(viewer.browser, id, 'x')).json().code).toBe('insufficient_role');
    const stranger = await team.makePerson();
    for (const { browser } of [stranger, limited]) {
      expect((await browser.rest('GET', `/mail/threads/${id}/notes`)).statusCode).toBe(404);
      expect((await add(browser, id, 'x')).statusCode).toBe(404);
      expect((await browser.rest('PATCH', `/mail/notes/${note}`, {}, { text: 'x' })).statusCode).toBe(404);
      expect((await browser.rest('DELETE', `/mail/notes/${note}`)).statusCode).toBe(404);
    }
    const inside = await makeThread('sales@notes.test');
    expect((await add(limited.browser, inside, 'Of mine')).statusCode).toBe(200);
    expect(await list(limited.browser, inside)).toEqual(['Of mine']);
  });

  test('is not shown to API keys without the scope manage, which browser tokens never have', async () => {
    const id = await makeThread();
    await add(agent.browser, id, 'Secret words');
    const { secret } = await insertKey(gateway.owner, team.box, { scopes: ['read', 'send'] });
    const refused = await gateway.call(secret, 'GET', `/mail/threads/${id}/notes`);
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'insufficient_scope']);
    for (const path of [`/mail/threads/${id}`, '/mail/threads', '/emails', '/events'])
      expect((await gateway.call(secret, 'GET', path)).body).not.toContain('Secret words');
    const events = await gateway.owner.pool.query(
      `select data from event where thread_id = $1 and kind = 'thread.note_added'`,
      [id],
    );
    expect(events.rows).toEqual([{ data: { noteId: expect.any(String), by: expect.any(String), mentions: [] } }]);
  });

  test('is announced without its text when it is changed and when it is deleted', async () => {
    const id = await makeThread();
    const colleague = await team.makeMember('viewer');
    const { id: note } = (await add(agent.browser, id, 'First words')).json();
    await agent.browser.rest('PATCH', `/mail/notes/${note}`, {}, { text: `@${colleague.email} other words` });
    await agent.browser.rest('DELETE', `/mail/notes/${note}`);
    const { rows } = await gateway.owner.pool.query(
      `select kind, data from event where thread_id = $1 and kind like 'thread.note%' order by seq`,
      [id],
    );
    const by = agent.email.split('@')[0];
    expect(rows).toEqual([
      { kind: 'thread.note_added', data: { noteId: note, by, mentions: [] } },
      { kind: 'thread.note_edited', data: { noteId: note, by, mentions: [colleague.personId] } },
      { kind: 'thread.note_deleted', data: { noteId: note } },
    ]);
  });

  test('is in the export of the workspace with what members have read, and goes when it is erased', async () => {
    const other = await openTeam(gateway, 'leaving');
    const { workspaceId } = other.box;
    const { threadId } = await insertThread(gateway.owner, {
      workspaceId,
      count: 1,
      lastMessageAt: new Date(Date.now() + 3_600_000),
    });
    expect((await add(other.owner.browser, threadId, 'To be exported')).statusCode).toBe(200);
    await other.owner.browser.rest('POST', '/mail/threads/read-by-me', {}, { thread_ids: [threadId], is_read: true });
    const files = new Map<string, string>();
    await exportAccount(gateway.database, {
      workspaceId,
      secretKey: null,
      write: async ({ path, pieces }) => {
        const parts: Buffer[] = [];
        for await (const piece of pieces) parts.push(piece);
        files.set(path, Buffer.concat(parts).toString());
      },
    });
    expect(files.get('thread-notes.jsonl')).toContain('To be exported');
    expect(files.get('thread-reads.jsonl')).toContain(other.owner.personId);
    const count = async (table: string) =>
      (await gateway.owner.pool.query(`select from ${table} where workspace_id = $1`, [workspaceId])).rowCount;
    expect([await count('thread_note'), await count('thread_read')]).toEqual([1, 1]);
    await gateway.owner.pool.query('update workspace set erase_at = now() where id = $1', [workspaceId]);
    while ((await eraseRows(gateway.actor, workspaceId)) > 0);
    expect([await count('thread_note'), await count('thread_read')]).toEqual([0, 0]);
  });

  test('moves with its thread into another', async () => {
    const [first, second] = [await makeThread(), await makeThread()];
    await add(agent.browser, second, 'Moving');
    await agent.browser.rest('POST', '/mail/threads/merge', {}, { thread_ids: [first, second] });
    expect(await list(agent.browser, first)).toEqual(['Moving']);
    expect(await list(agent.browser, second)).toEqual(['Moving']);
  });
});

describe('a mention', () => {
  test('is written at most 60 times a minute by one workspace', async () => {
    const busy = await openTeam(gateway, 'mentions');
    const { threadId } = await insertThread(gateway.owner, {
      workspaceId: busy.box.workspaceId,
      count: 1,
      lastMessageAt: new Date(),
      ownAddress: busy.box.address,
    });
    const member = await busy.makeMember('viewer');
    const note = (await add(busy.owner.browser, threadId, 'none')).json().id;
    const edit = (text: string) => busy.owner.browser.rest('PATCH', `/mail/notes/${note}`, {}, { text });
    const statuses = [];
    for (let edits = 0; edits < 61; edits++) {
      await edit('none');
      statuses.push((await edit(`@${member.email} look`)).statusCode);
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses.at(-1)).toBe(429);
    expect((await edit('none again')).statusCode).toBe(200);
  });

  test('by address or by its first part sends one mail with a link, without the text of the note', async () => {
    const id = await makeThread();
    const [name = ''] = viewer.email.split('@');
    const written = await add(agent.browser, id, `@${viewer.email}, look; and @${name}! Secret words`);
    expect(written.json().mentions).toEqual([expect.objectContaining({ id: viewer.personId })]);
    const mails = await notices(viewer.email);
    expect(mails).toHaveLength(1);
    expect(mails[0]).toContain(`http://postroom.test/inbox/${id}`);
    expect(mails[0]).not.toContain('Secret words');
    await agent.browser.rest('PATCH', `/mail/notes/${written.json().id}`, {}, { text: `@${viewer.email} again` });
    expect(await notices(viewer.email)).toHaveLength(1);
  });

  test('mails neither the author, nor strangers, nor members who cannot read the thread', async () => {
    const id = await makeThread();
    const stranger = await team.makePerson();
    const text = `@${agent.email} @${stranger.email} @${limited.email} not${viewer.email}`;
    const written = (await add(agent.browser, id, text)).json();
    expect(written.unreached).toEqual([limited.email]);
    expect(written.mentions).toEqual([expect.objectContaining({ id: agent.personId })]);
    for (const email of [agent.email, stranger.email, limited.email]) expect(await notices(email)).toEqual([]);
  });

  test.each([
    ['notes.before-commit', 0, 0],
    ['notes.after-commit', 1, 1],
    ['notes.sent', 1, 2],
  ])('of a gateway that is killed at %s leaves %i notes and is mailed %i times', async (point, left, mailed) => {
    const reader = await team.makeMember('viewer');
    const id = await makeThread();
    killedAt = point;
    const ended = await add(agent.browser, id, `@${reader.email}`);
    killedAt = null;
    expect(ended.statusCode).toBe(point === 'notes.sent' ? 200 : 500);
    expect(await list(agent.browser, id)).toHaveLength(left);
    await gateway.owner.pool.query(`update note_notice set due_at = now() where person_id = $1`, [reader.personId]);
    await startAnother();
    await startAnother();
    expect(await notices(reader.email)).toHaveLength(mailed);
    const waiting = await gateway.owner.pool.query('select from note_notice where person_id = $1', [reader.personId]);
    expect(waiting.rowCount).toBe(0);
  });

  test('whose member was removed before the notice was sent is not mailed', async () => {
    const reader = await team.makeMember('viewer');
    const id = await makeThread();
    killedAt = 'notes.after-commit';
    await add(agent.browser, id, `@${reader.email}`);
    killedAt = null;
    await team.owner.browser.rest('DELETE', `/members/${reader.personId}`);
    await gateway.owner.pool.query(`update note_notice set due_at = now() where person_id = $1`, [reader.personId]);
    await startAnother();
    expect(await notices(reader.email)).toEqual([]);
    const waiting = await gateway.owner.pool.query('select from note_notice where person_id = $1', [reader.personId]);
    expect(waiting.rowCount).toBe(0);
  });
});
