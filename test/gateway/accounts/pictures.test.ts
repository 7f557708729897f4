import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { MAX_PICTURE_BYTES } from '../../../core/accounts/picture.ts';
import { MAX_PICTURE_CHANGES } from '../../../operations/accounts/members.ts';
import { JPEG_PICTURE, makePng, pngChunk, WEBP_PICTURE } from '../../support/mail/pictures.ts';
import { insertThread } from '../../support/rows/mail-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import type { BrowserSession } from '../../support/stages/browser-session.ts';
import { ISSUER, openOauthStage } from '../../support/stages/oauth-stage.ts';
import { openTeam, type TeamPerson, type TeamStage } from '../../support/stages/team-stage.ts';
import { waitFor } from '../../support/wait-for.ts';

let gateway: TestGateway;
let team: TeamStage;
let agent: TeamPerson;
let limited: TeamPerson;
let stranger: TeamPerson;
let key: string;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 } });
  team = await openTeam(gateway, 'pictures');
  agent = await team.makeMember('agent');
  limited = await team.makeMember('viewer', { addresses: [team.box.address] });
  stranger = await team.makePerson();
  key = await team.insertPersonKey(team.owner);
});
afterAll(() => gateway.close());
beforeEach(() => gateway.owner.pool.query('delete from request_window'));

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const set = ({ browser }: Pick<TeamPerson, 'browser'>, content: unknown) =>
  browser.rest('PUT', '/members/picture', {}, { content });
const read = (browser: BrowserSession, path: string, headers = {}) =>
  browser.rest('GET', path.replace('/api/e2', ''), headers);

async function setPng(person: TeamPerson, side = 9): Promise<string> {
  const made = await set(person, base64(makePng(side, side)));
  expect(made.statusCode, made.body).toBe(200);
  return made.json().image;
}
const stored = async ({ personId }: TeamPerson) =>
  (
    await gateway.owner.pool.query<{ image: string | null; content: Buffer | null }>(
      'select u.image, c.content from person u left join person_picture c on c.person_id = u.id where u.id = $1',
      [personId],
    )
  ).rows[0];

test('a person uploads a picture, which members and their keys see, and strangers do not', async () => {
  const made = await set(agent, base64(JPEG_PICTURE));
  expect(made.statusCode, made.body).toBe(200);
  const { image } = made.json();
  expect(image).toMatch(new RegExp(`^/api/e2/members/${agent.personId}/picture\\?v=[0-9a-f]{16}$`));
  for (const browser of [agent.browser, team.owner.browser, limited.browser]) {
    const shown = await read(browser, image);
    expect([shown.statusCode, shown.headers['content-type']]).toEqual([200, 'image/jpeg']);
    expect(shown.rawPayload.subarray(0, 3)).toEqual(JPEG_PICTURE.subarray(0, 3));
    expect(shown.rawPayload.includes('ICC_PROFILE')).toBe(false);
  }
  expect((await gateway.call(key, 'GET', image.replace('/api/e2', ''))).statusCode).toBe(200);
  expect((await read(stranger.browser, image)).statusCode).toBe(404);
  expect((await gateway.app.inject({ url: image })).statusCode).toBe(401);
  const [unknown, none] = [`/members/usr_${'0'.repeat(32)}/picture`, `/members/${team.owner.personId}/picture`];
  expect((await read(agent.browser, unknown)).body).toBe((await read(agent.browser, none)).body);
});

test('a picture is sent so that a browser shows it and runs nothing, and asks again each time', async () => {
  const image = await setPng(agent);
  const shown = await read(agent.browser, image);
  expect(shown.headers).toMatchObject({
    'content-type': 'image/png',
    'content-disposition': 'inline',
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'private, no-cache',
  });
  const etag = String(shown.headers['etag']);
  for (const known of [etag, `W/${etag}`, `"other", W/${etag}`, '*']) {
    const again = await read(agent.browser, image, { 'if-none-match': known });
    expect([known, again.statusCode, again.body]).toEqual([known, 304, '']);
  }
  expect((await read(agent.browser, image, { 'if-none-match': '"other"' })).statusCode).toBe(200);
  expect((await read(stranger.browser, image, { 'if-none-match': etag })).statusCode).toBe(404);
});

test('the picture stands beside what a member does: lists, notes, mentions, assignments and the person itself', async () => {
  const image = await setPng(agent);
  const { threadId } = await insertThread(gateway.owner, {
    workspaceId: team.box.workspaceId,
    count: 1,
    lastMessageAt: new Date(),
  });
  const { browser } = team.owner;
  const listed = (await browser.rest('GET', '/members')).json().data;
  expect(listed.find(({ id }: { id: string }) => id === agent.personId).image).toBe(image);
  const note = await agent.browser.rest(
    'POST',
    `/mail/threads/${threadId}/notes`,
    {},
    { text: `@${agent.email} Hello` },
  );
  expect(note.json()).toMatchObject({ author_image: image, mentions: [{ image }] });
  const byKey = await gateway.call(key, 'POST', `/mail/threads/${threadId}/notes`, { text: 'Hello' });
  expect(byKey.json()).toMatchObject({ author_image: null });
  const assigned = await browser.rest('POST', `/mail/threads/${threadId}/assign`, {}, { assignee: agent.email });
  expect(assigned.json()).toMatchObject({ assignee: { image } });
  const graph = await agent.browser.graphql(
    `query($id: ID!) { viewer { person { image } } threadNotes(threadId: $id) { authorImage } thread(id: $id) { assignee { image } } }`,
    {},
    { id: threadId },
  );
  expect(graph.json().data).toEqual({
    viewer: { person: { image } },
    threadNotes: [{ authorImage: image }, { authorImage: null }],
    thread: { assignee: { image } },
  });
});

test('a removed picture is gone at once, and GraphQL sets and removes like REST', async () => {
  const image = await setPng(agent);
  const mutate = (content: string | null) =>
    agent.browser.graphql(
      'mutation($input: SetPictureInput!) { setPicture(input: $input) { __typename ... on SetPicturePayload { image } } }',
      {},
      { input: { content } },
    );
  expect((await mutate(null)).json().data.setPicture).toEqual({ __typename: 'SetPicturePayload', image: null });
  expect((await read(agent.browser, image)).statusCode).toBe(404);
  expect(await stored(agent)).toEqual({ image: null, content: null });
  expect((await mutate(base64(WEBP_PICTURE))).json().data.setPicture.image).toMatch(/picture\?v=/);
  const png = makePng(9, 9);
  const largest = makePng(9, 9, pngChunk('tEXt', Buffer.alloc(MAX_PICTURE_BYTES - png.length - 12)));
  expect(largest.length).toBe(MAX_PICTURE_BYTES);
  expect((await mutate(base64(largest))).json().data.setPicture.image).toMatch(/picture\?v=/);
  expect((await mutate('x'.repeat(2 * MAX_PICTURE_BYTES))).statusCode).toBe(413);
});

test('each change of a picture has an entry in the audit log, and none has its bytes', async () => {
  await set(agent, null);
  const image = await setPng(agent, 11);
  await setPng(agent, 11);
  const entries = (
    await gateway.call(team.box.apiKey, 'GET', `/audit?object_id=${agent.personId}&action=person.updated`)
  ).json().data;
  const version = image.slice(-16);
  expect(entries[0]).toMatchObject({
    actor_id: agent.personId,
    action: 'person.updated',
    before: { image: null },
    after: { image: version },
    is_denied: false,
  });
  expect(entries.filter(({ after }: { after: { image?: string } }) => after.image === version).length).toBe(1);
  await set(agent, null);
  const { data } = (
    await gateway.call(team.box.apiKey, 'GET', `/audit?object_id=${agent.personId}&action=person.updated&limit=1`)
  ).json();
  expect(data[0]).toMatchObject({ before: { image: version }, after: { image: null } });
  // It is that of the person, so that the other workspaces of the person have it, too.
  const own = await gateway.owner.pool.query(
    `select from audit_entry where workspace_id = $1 and action = 'person.updated' and after->>'image' = $2`,
    [agent.personId, version],
  );
  expect(own.rowCount).toBe(1);
});

test('a process that ends between the version of a picture and its bytes changes neither, and writes no entry', async () => {
  await setPng(agent, 20);
  const before = await stored(agent);
  const countEntries = async () =>
    (
      await gateway.owner.pool.query(`select from audit_entry where object_id = $1 and action = 'person.updated'`, [
        agent.personId,
      ])
    ).rowCount;
  const entries = await countEntries();
  const holding = await gateway.owner.pool.connect();
  try {
    await holding.query('begin');
    await holding.query('select from person_picture where person_id = $1 for update', [agent.personId]);
    const changed = set(agent, base64(makePng(21, 21)));
    await waitFor(async () => {
      const { rowCount } = await gateway.owner.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      expect(rowCount).toBe(1);
    });
    expect((await changed).statusCode).toBeGreaterThanOrEqual(500);
  } finally {
    await holding.query('rollback');
    holding.release();
  }
  expect(await stored(agent)).toEqual(before);
  expect(await countEntries()).toBe(entries);
  await setPng(agent, 22);
});

test('a picture is set by an older sign-in, as the name is', async () => {
  await gateway.owner.pool.query(
    `update auth_session set created_at = now() - interval '1 hour', confirmed_at = now() - interval '1 hour' where person_id = $1`,
    [agent.personId],
  );
  expect((await agent.browser.auth('POST', '/update-user', { name: 'Ada' })).statusCode).toBe(200);
  await setPng(agent);
});

test.each([
  ['an SVG', base64(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')), 'JPEG, PNG or WebP'],
  ['HTML', base64(Buffer.from('<script>alert(1)</script>')), 'JPEG, PNG or WebP'],
  ['an animation', base64(makePng(9, 9, pngChunk('acTL', Buffer.alloc(8)))), 'animation'],
  ['too many pixels', base64(makePng(2_000, 10)), '1024 pixels'],
  ['a file that ends early', base64(makePng(9, 9).subarray(0, 60)), 'incomplete'],
  ['too many bytes', base64(makePng(9, 9, pngChunk('tEXt', Buffer.alloc(MAX_PICTURE_BYTES)))), '256 KB'],
  ['no base64', '%%%', 'base64'],
  ['a URL', 'https://example.com/me.png', 'base64'],
  ['nothing', '', 'JPEG, PNG or WebP'],
  ['an object', { url: 'https://example.com/me.png' }, 'content'],
])('refuses %s as a picture, says what is allowed, and keeps the one before', async (_name, content, words) => {
  const before = await stored(agent);
  const refused = await set(agent, content);
  expect(refused.statusCode, refused.body).toBe(400);
  expect(refused.body).toContain(words);
  expect(await stored(agent)).toEqual(before);
});

test('what is behind a picture is neither stored nor sent', async () => {
  const polyglot = Buffer.concat([makePng(9, 9), Buffer.from('<html><script>alert(1)</script>')]);
  const { image } = (await set(agent, base64(polyglot))).json();
  const shown = await read(agent.browser, image);
  expect(shown.rawPayload.equals(makePng(9, 9))).toBe(true);
});

test('an API key, also a browser token, has no picture, and no one sets that of another person', async () => {
  const content = base64(makePng(9, 9));
  const byKey = await gateway.call(key, 'PUT', '/members/picture', { content });
  expect([byKey.statusCode, byKey.json().message]).toEqual([
    403,
    'API keys cannot have a picture. Sign in to the dashboard, and open Settings.',
  ]);
  const before = await stored(team.owner);
  const { browser } = team.owner;
  const client = await openOauthStage(gateway).connect(browser, { level: 'everything' }, { resource: ISSUER });
  const byClient = await gateway.call(client.access_token, 'PUT', '/members/picture', { content });
  expect([byClient.statusCode, byClient.json().message]).toEqual([403, byKey.json().message]);
  expect(await stored(team.owner)).toEqual(before);
  await set(limited, null);
  for (const path of [`/members/${limited.personId}/picture`, `/members/picture?id=${limited.personId}`])
    await team.owner.browser.rest('PUT', path, {}, { content, id: limited.personId, person_id: limited.personId });
  expect(await stored(limited)).toEqual({ image: null, content: null });
  const page = await agent.browser.rest(
    'PUT',
    '/members/picture',
    { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' },
    { content },
  );
  expect(page.statusCode).toBeGreaterThanOrEqual(400);
});

test('of 50 changes at once, as many as a minute allows are made, and bytes and version belong together', async () => {
  const responses = await Promise.all(Array.from({ length: 50 }, (_, at) => set(agent, base64(makePng(9, 10 + at)))));
  const codes = responses.map(({ statusCode }) => statusCode);
  expect([codes.filter((code) => code === 200).length, codes.filter((code) => code === 429).length]).toEqual([
    MAX_PICTURE_CHANGES,
    50 - MAX_PICTURE_CHANGES,
  ]);
  const row = await stored(agent);
  expect(
    createHash('sha256')
      .update(row?.content ?? '')
      .digest('hex')
      .slice(0, 16),
  ).toBe(row?.image);
});

test('a person who left a workspace is not shown there any more', async () => {
  const member = await team.makeMember('viewer');
  const image = await setPng(member);
  const { threadId } = await insertThread(gateway.owner, {
    workspaceId: team.box.workspaceId,
    count: 1,
    lastMessageAt: new Date(),
  });
  const path = `/mail/threads/${threadId}/notes`;
  const sees = async (browser: BrowserSession) => (await browser.rest('GET', path)).json().data[0].author_image;
  expect(
    (await member.browser.auth('POST', '/switch-workspace', { workspaceId: team.box.workspaceId })).statusCode,
  ).toBe(200);
  // A viewer writes no notes.
  await gateway.owner.pool.query(`update workspace_member set role = 'agent' where person_id = $1`, [member.personId]);
  expect((await gateway.call(await team.insertPersonKey(member), 'POST', path, { text: 'Hello' })).statusCode).toBe(
    200,
  );
  expect((await read(team.owner.browser, image)).statusCode).toBe(200);
  expect((await team.owner.browser.rest('DELETE', `/members/${member.personId}`)).statusCode).toBe(200);
  expect((await read(team.owner.browser, image)).statusCode).toBe(404);
  expect(await sees(team.owner.browser)).toBeNull();
  // It stays that of the person, in the workspace that is left.
  expect((await stored(member))?.content).not.toBeNull();
});
