import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openTeam, type TeamPerson, type TeamStage } from '../../support/stages/team-stage.ts';

let gateway: TestGateway;
let team: TeamStage;
let ann: TeamPerson;
let ben: TeamPerson;
/** an agent who sees one address */
let limited: TeamPerson;
let viewer: TeamPerson;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 } });
  team = await openTeam(gateway, 'views');
  await gateway.mailbox({ workspaceId: team.box.workspaceId, domain: 'views.test', address: 'sales@views.test' });
  ann = await team.makeMember('agent');
  ben = await team.makeMember('agent');
  limited = await team.makeMember('agent', { addresses: ['sales@views.test'] });
  viewer = await team.makeMember('viewer');
});
afterAll(() => gateway.close());

const save = async ({ browser }: TeamPerson, body: object) => browser.rest('POST', '/saved-views', {}, body);
const names = async ({ browser }: TeamPerson): Promise<string[]> =>
  (await browser.rest('GET', '/saved-views')).json().data.map(({ name }: { name: string }) => name);

describe('saved views', () => {
  test('are of a person or of all members, and change and end by ID', async () => {
    const own = await save(ann, { name: 'Mine', search: 'from:boss', folder: 'unread', assigned: 'me' });
    expect([own.statusCode, own.json()]).toEqual([
      200,
      {
        object: 'saved_view',
        id: expect.stringMatching(/^view_/),
        name: 'Mine',
        folder: 'unread',
        search: 'from:boss',
        label: null,
        address: null,
        assigned: 'me',
        is_shared: false,
        created_at: expect.any(String),
      },
    ]);
    const shared = (await save(ann, { name: 'Ours', label: 'urgent', is_shared: true })).json();
    expect(await names(ann)).toEqual(['Ours', 'Mine']);
    expect(await names(ben)).toEqual(['Ours']);
    const path = `/saved-views/${shared.id}`;
    expect((await ben.browser.rest('PATCH', path, {}, { label: null, search: 'is:unread' })).json()).toMatchObject({
      name: 'Ours',
      label: null,
      search: 'is:unread',
    });
    expect((await ben.browser.rest('DELETE', path)).json()).toMatchObject({ id: shared.id });
    expect((await ben.browser.rest('DELETE', path)).statusCode).toBe(404);
    expect((await ben.browser.rest('DELETE', `/saved-views/${own.json().id}`)).statusCode).toBe(404);
    expect((await ben.browser.rest('PATCH', `/saved-views/${own.json().id}`, {}, { name: 'x' })).statusCode).toBe(404);
    expect(await names(ann)).toEqual(['Mine']);
    const graph = await ann.browser.graphql('{ savedViews { name folder isShared } }');
    expect(graph.json().data.savedViews).toEqual([{ name: 'Mine', folder: 'UNREAD', isShared: false }]);
  });

  test('of all members are hidden from limited members, who keep their own', async () => {
    const shared = (await save(ann, { name: 'Secret client', search: 'to:other@views.test', is_shared: true })).json();
    expect(await names(limited)).toEqual([]);
    expect((await save(limited, { name: 'x', is_shared: true })).statusCode).toBe(403);
    expect((await save(limited, { name: 'Sales' })).statusCode).toBe(200);
    expect(await names(limited)).toEqual(['Sales']);
    expect((await limited.browser.rest('DELETE', `/saved-views/${shared.id}`)).statusCode).toBe(404);
    expect((await save(viewer, { name: 'x' })).statusCode).toBe(403);
  });

  test.each([
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(65) }, 'name'],
    [{ name: 'x', folder: 'nowhere' }, 'folder'],
    [{ name: 'x', search: 'is:purple' }, 'search'],
    [{ name: 'x', search: 'x'.repeat(501) }, 'search'],
  ])('%j is refused at %s', async (body, field) => {
    const refused = await save(ann, body);
    expect(refused.statusCode).toBe(400);
    expect(JSON.stringify(refused.json())).toContain(field);
  });

  test('of a key without a person must be shared', async () => {
    const response = await gateway.call(team.box.apiKey, 'POST', '/saved-views', { name: 'Of a key' });
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({
      message: expect.stringContaining('`is_shared`'),
      details: [{ field: 'is_shared' }],
    });
  });

  test('are at most 100 for each person', async () => {
    const responses = await Promise.all(Array.from({ length: 12 }, () => save(ben, { name: 'One of many' })));
    expect(new Set(responses.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    for (let n = 12; n < 100; n += 1) await save(ben, { name: `View ${n}` });
    expect((await save(ben, { name: 'One more' })).statusCode).toBe(409);
  });

  test('of a member who is removed are deleted', async () => {
    const leaver = await team.makeMember('agent');
    await save(leaver, { name: 'Gone with me' });
    await team.owner.browser.rest('DELETE', `/members/${leaver.personId}`);
    const { rowCount } = await gateway.owner.pool.query('select from saved_view where person_id = $1', [
      leaver.personId,
    ]);
    expect(rowCount).toBe(0);
  });
});

describe('snippets', () => {
  const create = ({ browser }: TeamPerson, body: object) => browser.rest('POST', '/snippets', {}, body);

  test('are created, listed by name, changed and deleted', async () => {
    const text = 'Dear {{recipient.first_name}},\n\nthank you.\n\n{{ my.name }}';
    const made = await create(ann, { name: 'Thanks', text });
    expect([made.statusCode, made.json()]).toEqual([
      200,
      expect.objectContaining({ object: 'snippet', id: expect.stringMatching(/^snp_/), name: 'Thanks', text }),
    ]);
    const { id } = made.json();
    await create(ann, { name: 'apology', text: 'Sorry' });
    const list = async () =>
      (await limited.browser.rest('GET', '/snippets')).json().data.map((s: { name: string }) => s.name);
    expect(await list()).toEqual(['apology', 'Thanks']);
    expect((await create(ben, { name: 'THANKS', text: 'x' })).statusCode).toBe(409);
    expect((await ben.browser.rest('PATCH', `/snippets/${id}`, {}, { name: 'Apology' })).statusCode).toBe(409);
    expect((await ben.browser.rest('PATCH', `/snippets/${id}`, {}, { text: 'Thanks!' })).json().text).toBe('Thanks!');
    expect((await ben.browser.rest('PATCH', `/snippets/${id}`, {}, {})).statusCode).toBe(400);
    expect((await ben.browser.rest('DELETE', `/snippets/${id}`)).json()).toMatchObject({ id });
    expect((await ben.browser.rest('DELETE', `/snippets/${id}`)).statusCode).toBe(404);
    expect((await ann.browser.graphql('{ snippets { name text } }')).json().data.snippets).toEqual([
      { name: 'apology', text: 'Sorry' },
    ]);
  });

  test('with an unknown placeholder are refused with those that are known', async () => {
    const refused = await create(ann, { name: 'x', text: 'Hello {{recipient.age}}' });
    expect(refused.statusCode).toBe(400);
    expect(refused.body).toContain('{{recipient.name}}');
  });

  test('are changed by agents without limits only', async () => {
    expect((await create(limited, { name: 'x', text: 'x' })).statusCode).toBe(403);
    expect((await create(viewer, { name: 'x', text: 'x' })).statusCode).toBe(403);
  });

  test('with the same name at the same time are created once', async () => {
    const responses = await Promise.all(Array.from({ length: 10 }, () => create(ann, { name: 'Race', text: 'x' })));
    expect(responses.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1);
    expect(responses.filter(({ statusCode }) => statusCode === 409)).toHaveLength(9);
  });
});

describe('the limit of a list', () => {
  test.each([
    ['saved views of a person', 'saved_view', 100, () => save(ben, { name: crowdName() })],
    ['saved views of all members', 'saved_view', 100, () => save(ben, { name: crowdName(), is_shared: true })],
    ['snippets', 'snippet', 200, () => ben.browser.rest('POST', '/snippets', {}, { name: crowdName(), text: 'x' })],
    [
      'senders whose images are shown',
      'image_sender',
      1_000,
      () =>
        ben.browser.graphql(
          `mutation { addImageSender(input: { address: "${crowdName()}@crowd.test" }) { __typename } }`,
        ),
    ],
  ])('holds for 50 requests at once: %s', { timeout: 60_000 }, async (what, table, most, add) => {
    const isShared = what.includes('all members');
    const owned = `workspace_id = $1 ${table !== 'saved_view' ? '' : isShared ? 'and person_id is null' : `and person_id = '${ben.personId}'`}`;
    await gateway.owner.pool.query(`delete from ${table} where ${owned}`, [team.box.workspaceId]);
    const columns = {
      saved_view: `(workspace_id, id, person_id, name, folder, search, created_at) select $1, 'view_' || ${isShared ? `'s'` : `'p'`} || n, ${isShared ? 'null' : `'${ben.personId}'`}, 'v' || n, 'inbox', '', now()`,
      snippet: `(workspace_id, id, name, text, created_at, updated_at) select $1, 'snp_' || n, 's' || n, 'x', now(), now()`,
      image_sender: `(workspace_id, address, created_at) select $1, 's' || n || '@filled.test', now()`,
    }[table];
    await gateway.owner.pool.query(`insert into ${table} ${columns} from generate_series(1, ${most - 3}) n`, [
      team.box.workspaceId,
    ]);
    await Promise.all(Array.from({ length: 50 }, add));
    const { rows } = await gateway.owner.pool.query(`select count(*)::integer as n from ${table} where ${owned}`, [
      team.box.workspaceId,
    ]);
    expect(rows[0].n).toBe(most);
  });

  let named = 0;
  const crowdName = () => `crowd${named++}`;
});
