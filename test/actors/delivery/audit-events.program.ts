import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { AUDIT_ACTIONS } from '../../../core/accounts/audit.ts';
import { loginAs } from '../../support/cluster/cluster.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { openTeam, type Staff, staffTeam, type TeamPerson, type TeamStage } from '../../support/stages/team-stage.ts';
import { SECRET_KEY, startDelivering, type TestDelivery, untilDeliveries } from './delivering.ts';

let gateway: TestGateway;
let receiver: WebhookReceiver;
let team: TeamStage;
let staff: Staff;
let actor: TestDelivery | null = null;
let hooks = 0;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { secretKey: SECRET_KEY } });
  receiver = await startWebhookReceiver();
  team = await openTeam(gateway, 'audited');
  staff = await staffTeam(team);
});
afterEach(async () => {
  await actor?.stop();
  actor = null;
  receiver.respond([200]);
  await gateway.owner.pool.query('update endpoint set is_active = false where workspace_id = $1', [
    team.box.workspaceId,
  ]);
});
afterAll(async () => {
  await receiver.stop();
  await gateway.close();
});

const start = async () => {
  actor = await startDelivering(gateway.actor, gateway.owner, { bus: gateway.bus, ...gateway.payloads });
};

const makeHook = (events: readonly string[], more: object = {}) => {
  const path = `/audit/${hooks++}`;
  const config = { url: `${receiver.url}${path}`, retryAttempts: 1 };
  return { path, body: { name: `hook ${path}`, type: 'webhook', config, events, ...more } };
};

async function subscribe(person: TeamPerson, events: readonly string[], more: object = {}) {
  const { path, body } = makeHook(events, more);
  const made = await person.browser.rest('POST', '/endpoints', {}, body);
  expect(made.statusCode, made.body).toBe(201);
  return { id: String(made.json().id), path };
}

const suppress = async (address: string, person = staff.admin) => {
  const made = await person.browser.rest('POST', '/suppressions', {}, { address });
  expect(made.statusCode, made.body).toBeLessThan(300);
};
const postsTo = (path: string) =>
  receiver.requests.filter((request) => request.path === path).map((request) => JSON.parse(request.body));
const settled = (endpointId: string, count: number) =>
  untilDeliveries(
    gateway.actor,
    endpointId,
    (all) => all.length >= count && all.every(({ status }) => status !== 'pending'),
  );
const countEvents = async (workspaceId: string) =>
  Number(
    (
      await gateway.owner.pool.query(`select count(*) from event where workspace_id = $1 and kind like 'audit.%'`, [
        workspaceId,
      ])
    ).rows[0].count,
  );

test('every action that the triggers write has a kind of event', () => {
  const sql = ['audit', 'scim'].map((name) =>
    readFileSync(new URL(`../../../db/migrations/0001-initial/${name}.sql`, import.meta.url), 'utf8'),
  );
  const objects = [...sql.join('\n').matchAll(/audit_table\('\w+', '(\w+)'/g)].map(([, kind]) => kind);
  expect(objects.length).toBeGreaterThan(18);
  for (const kind of objects)
    expect(
      AUDIT_ACTIONS.some((action) => action.startsWith(`${kind}.`)),
      kind,
    ).toBe(true);
});

describe('an endpoint that subscribes to the audit log', () => {
  test('is posted the entry as GET shows it, signed, once, and without secrets', async () => {
    await start();
    const { id, path } = await subscribe(staff.admin, ['audit.*']);
    await settled(id, 1);
    const made = await staff.admin.browser.rest(
      'POST',
      '/endpoints',
      {},
      {
        name: 'other',
        type: 'webhook',
        config: { url: 'https://hooks.example.com/zq7path', headers: { 'X-Shop': 'zq7header' } },
      },
    );
    const all = await settled(id, 2);
    expect(all).toHaveLength(2);
    const [, post] = postsTo(path);
    const entry = await staff.admin.browser.rest('GET', `/audit/${post.data.id}`);
    expect(post).toMatchObject({
      type: 'audit.endpoint_created',
      event: 'audit.endpoint_created',
      data: { ...entry.json(), object_id: made.json().id, actor_name: staff.admin.email },
      endpoint: { id },
    });
    expect(post.id).toBe(String(post.data.id).replace('aud_', 'evt_'));
    expect(JSON.stringify(post)).not.toMatch(/zq7|whsec_/);
    expect(receiver.requests.at(-1)?.headers['x-webhook-event']).toBe('audit.endpoint_created');
  });

  test('is posted one event when it is changed itself, and none because it is delivered', async () => {
    await start();
    const { id, path } = await subscribe(staff.admin, ['audit.*']);
    await settled(id, 1);
    await staff.admin.browser.rest('PATCH', `/endpoints/${id}`, {}, { name: 'renamed' });
    await settled(id, 2);
    await suppress('after@elsewhere.test');
    await settled(id, 3);
    expect(postsTo(path).map(({ type }) => type)).toEqual([
      'audit.endpoint_created',
      'audit.endpoint_updated',
      'audit.suppression_created',
    ]);
  });

  test('is posted single kinds alone, and the others have no event at all', async () => {
    await start();
    const { id, path } = await subscribe(staff.admin, ['audit.suppression_created']);
    const before = await countEvents(team.box.workspaceId);
    await staff.admin.browser.rest('PATCH', `/endpoints/${id}`, {}, { name: 'renamed' });
    await suppress('single@elsewhere.test');
    await settled(id, 1);
    expect(postsTo(path)).toMatchObject([{ data: { object_name: 'single@elsewhere.test' } }]);
    expect(await countEvents(team.box.workspaceId)).toBe(before + 1);
  });

  test('is posted refused requests and failed sign-ins', async () => {
    await start();
    const { id, path } = await subscribe(staff.admin, ['audit.request_denied', 'audit.session_denied']);
    expect((await staff.viewer.browser.rest('POST', '/suppressions', {}, { address: 'a@b.test' })).statusCode).toBe(
      403,
    );
    await expect(team.signIn(staff.viewer.email, 'not the password')).rejects.toThrow('password');
    await staff.admin.browser.rest('GET', '/audit?limit=1');
    await settled(id, 2);
    expect(
      postsTo(path)
        .map(({ type }) => String(type))
        .toSorted(),
    ).toEqual(['audit.request_denied', 'audit.session_denied']);
  });

  test('is posted each of 50 changes at once, in one delivery each', { timeout: 60_000 }, async () => {
    await start();
    const { id, path } = await subscribe(staff.admin, ['audit.suppression_created']);
    const names = Array.from({ length: 50 }, (_, at) => `crowd${at}@elsewhere.test`);
    await Promise.all(names.map((name) => suppress(name)));
    await settled(id, 50);
    expect(
      postsTo(path)
        .map(({ data }) => String(data.object_name))
        .toSorted(),
    ).toEqual(names.toSorted());
  });

  test('keeps no response of the receiver, which may echo the entry to those who see deliveries', async () => {
    await start();
    const { id } = await subscribe(staff.admin, ['audit.suppression_created']);
    receiver.respond([{ status: 200, body: 'zq7echo' }]);
    await suppress('echoed@elsewhere.test');
    await settled(id, 1);
    const seen = await staff.developer.browser.rest('GET', `/endpoints/${id}/deliveries`);
    expect(seen.statusCode, seen.body).toBe(200);
    expect(seen.body).toContain('audit.suppression_created');
    expect(seen.body).not.toMatch(/zq7echo|echoed@/);
  });
});

describe('who may read the audit log', () => {
  test('subscribes, and no one else: neither by a new endpoint nor by a change of one', async () => {
    for (const person of [staff.owner, staff.admin]) await subscribe(person, ['audit.*', 'email.sent']);
    const { body } = makeHook(['audit.member_deleted']);
    const refused = await staff.developer.browser.rest('POST', '/endpoints', {}, body);
    expect(refused.statusCode, refused.body).toBe(403);
    expect(refused.json().message).toContain('audit log');
    const own = await subscribe(staff.developer, ['email.sent']);
    const changed = await staff.developer.browser.rest('PATCH', `/endpoints/${own.id}`, {}, { events: ['audit.*'] });
    expect(changed.statusCode, changed.body).toBe(403);
    const reading = await insertKey(gateway.owner, team.box, { scopes: ['read'] });
    expect((await gateway.call(reading.secret, 'POST', '/endpoints', body)).statusCode).toBe(403);
  });

  test('alone leads such an endpoint elsewhere, enables it, or posts a sample of it', async () => {
    const { id } = await subscribe(staff.admin, ['audit.*']);
    const { developer } = staff;
    for (const change of [{ config: { url: `${receiver.url}/thief` } }, { isActive: true }, { webhookFormat: 'slack' }])
      expect((await developer.browser.rest('PATCH', `/endpoints/${id}`, {}, change)).statusCode).toBe(403);
    const tested = { event: 'audit.member_created', overrideUrl: `${receiver.url}/thief` };
    expect((await developer.browser.rest('POST', `/endpoints/${id}/test`, {}, tested)).statusCode).toBe(403);
    expect(receiver.requests.filter(({ path }) => path === '/thief')).toEqual([]);
    // Less is allowed.
    const less = await developer.browser.rest('PATCH', `/endpoints/${id}`, {}, { isActive: false });
    expect(less.statusCode, less.body).toBe(200);
  });

  test('is asked again for each entry: a previous admin, and a key without the scope, are posted none', async () => {
    await start();
    const former = await team.makeMember('admin');
    const { id, path } = await subscribe(former, ['audit.suppression_created']);
    const key = await insertKey(gateway.owner, team.box, { scopes: ['read', 'manage'] });
    const byKey = makeHook(['audit.suppression_created']);
    const made = await gateway.call(key.secret, 'POST', '/endpoints', byKey.body);
    expect(made.statusCode, made.body).toBe(201);
    await suppress('before@elsewhere.test');
    await settled(id, 1);
    await settled(made.json().id, 1);
    await gateway.owner.pool.query(
      `update workspace_member set role = 'developer' where workspace_id = $1 and person_id = $2`,
      [team.box.workspaceId, former.personId],
    );
    await gateway.owner.pool.query(`update api_key set scopes = '{read}' where id = $1`, [key.id]);
    const still = await subscribe(staff.admin, ['audit.suppression_created']);
    await suppress('later@elsewhere.test');
    await settled(still.id, 1);
    expect(postsTo(path)).toHaveLength(1);
    expect(postsTo(byKey.path)).toHaveLength(1);
  });

  test('is asked again at the attempt: what waits for a retry is not posted to a previous admin', async () => {
    await start();
    const former = await team.makeMember('admin');
    const { id, path } = await subscribe(former, ['audit.suppression_created']);
    receiver.respond([500]);
    await suppress('waits@elsewhere.test');
    await receiver.until((all) => all.some((request) => request.path === path));
    await gateway.owner.pool.query(
      `update workspace_member set role = 'agent' where workspace_id = $1 and person_id = $2`,
      [team.box.workspaceId, former.personId],
    );
    receiver.respond([200]);
    await actor?.moveClock(600);
    const [delivery] = await settled(id, 1);
    expect(delivery?.status).toBe('failed');
    expect(postsTo(path)).toHaveLength(1);
  });

  test('sees entries there only: neither the feed, nor `*`, nor another workspace has them', async () => {
    await start();
    const { id } = await subscribe(staff.admin, ['audit.*', 'email.sent']);
    const any = await subscribe(staff.admin, ['*']);
    const other = await openTeam(gateway, 'unaudited');
    const foreign = makeHook(['audit.*']);
    expect((await other.owner.browser.rest('POST', '/endpoints', {}, foreign.body)).statusCode).toBe(201);
    await suppress('here@elsewhere.test');
    await settled(id, 2);
    expect(postsTo(any.path)).toEqual([]);
    expect(postsTo(foreign.path).map(({ type }) => type)).not.toContain('audit.suppression_created');
    for (const person of [staff.owner, staff.viewer]) {
      const feed = await person.browser.rest('GET', '/events?limit=100');
      expect(feed.statusCode).toBe(200);
      expect(feed.body).not.toContain('"audit.');
      expect((await person.browser.rest('GET', '/events?kinds=audit.member_created')).statusCode).toBe(400);
      const graph = await person.browser.graphql('query { events(last: 100) { totalCount edges { node { kind } } } }');
      expect(graph.body).not.toContain('AUDIT');
    }
    const pulled = await staff.owner.browser.rest('GET', '/events/webhook-requests?events=audit.*');
    expect(pulled.statusCode, pulled.body).toBe(400);
    expect(pulled.json().message).toContain('GET /audit');
  });

  test('gets a sample of the newest entry, and clear words for a kind that does not exist', async () => {
    await start();
    const { id, path } = await subscribe(staff.admin, ['audit.*']);
    await suppress('sampled@elsewhere.test');
    const tested = await staff.admin.browser.rest(
      'POST',
      `/endpoints/${id}/test`,
      {},
      { event: 'audit.suppression_created' },
    );
    expect(tested.json(), tested.body).toMatchObject({ success: true });
    const sample = postsTo(path).findLast(({ type }) => type === 'audit.suppression_created');
    expect(sample.data).toMatchObject({ object: 'audit_entry', action: 'suppression.created' });
    const unknown = await staff.admin.browser.rest('POST', '/endpoints', {}, makeHook(['audit.nothing']).body);
    expect(unknown.statusCode).toBe(400);
    expect(unknown.json().message).toContain('audit.*');
  });
});

describe('a kill', () => {
  test('before the commit leaves neither the entry nor its event', async () => {
    await subscribe(staff.admin, ['audit.*']);
    const before = await countEvents(team.box.workspaceId);
    const client = await gateway.owner.pool.connect();
    client.on('error', () => undefined);
    await client.query('begin');
    await client.query(
      `insert into suppression (workspace_id, id, address, reason, created_at) values ($1, 'sup_killed', 'k@x.test', 'manual', now())`,
      [team.box.workspaceId],
    );
    const { rows } = await client.query('select pg_backend_pid() as pid');
    await gateway.owner.pool.query('select pg_terminate_backend($1)', [rows[0].pid]);
    client.release(true);
    const { rows: entries } = await gateway.owner.pool.query(
      `select from audit_entry where workspace_id = $1 and object_id = 'sup_killed'`,
      [team.box.workspaceId],
    );
    expect(entries).toEqual([]);
    expect(await countEvents(team.box.workspaceId)).toBe(before);
  });

  test.each(['fan-out.read', 'fan-out.stored'])('of the delivery actor at %s posts the entry once', async (point) => {
    const { id, path } = await subscribe(staff.admin, ['audit.suppression_created']);
    await suppress(`${point}@elsewhere.test`);
    const child = fork(
      new URL('./delivering-process.ts', import.meta.url),
      [await loginAs(gateway.url, 'postroom_actor'), `killed-${point}`, point],
      { execArgv: [] },
    );
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(137);
    await start();
    await actor?.moveClock(31);
    await settled(id, 1);
    expect(postsTo(path)).toHaveLength(1);
  });
});
