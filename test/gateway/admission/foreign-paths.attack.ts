import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openOauthStage } from '../../support/stages/oauth-stage.ts';
import { openTeam, type Staff, staffTeam, type TeamStage } from '../../support/stages/team-stage.ts';

/* Attempts at the paths of the `resend` client, /webhooks and /logs, and at the undo of changes, by those who have less than the owner. */

const AT_ONCE = 50;

let gateway: TestGateway;
let team: TeamStage;
let staff: Staff;
let stranger: TestMailbox;
/** a webhook with a delivery, and another one */
let webhookId: string;
let otherId: string;
let deliveryId: string;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { requestLog: 'on' } });
  team = await openTeam(gateway, 'staff');
  staff = await staffTeam(team);
  stranger = await gateway.mailbox();
  webhookId = await createWebhook();
  otherId = await createWebhook();
  const [emailId = ''] = await insertMail(gateway.actor, [
    { workspaceId: team.box.workspaceId, ownAddress: team.box.address },
  ]);
  deliveryId = makeIdentifier('delivery', new Date(), Buffer.alloc(10, 7));
  await gateway.owner.pool.query(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, status, attempts, attempts_allowed, created_at, completed_at)
     values ($1, $2, $3, $4, 'webhook', 'failed', 4, 4, now(), now())`,
    [team.box.workspaceId, deliveryId, emailId, webhookId],
  );
});
afterAll(() => gateway.close());

const call = (as: string, method: string, path: string, body?: unknown) => gateway.call(as, method, path, body);
async function createWebhook(): Promise<string> {
  const made = await call(team.box.apiKey, 'POST', '/webhooks', {
    endpoint: 'https://hooks.example.com/in',
    events: ['email.received'],
  });
  expect(made.statusCode, made.body).toBe(201);
  return made.json().id;
}
/** The webhooks as they are stored. */
const stored = async () =>
  (await gateway.owner.pool.query('select * from endpoint where workspace_id = $1 order by id', [team.box.workspaceId]))
    .rows;

/** Every operation on a webhook, with what changes it last. */
const operations = (id: string, event = deliveryId): [method: string, path: string, body?: object][] => [
  ['GET', `/webhooks/${id}`],
  ['GET', `/webhooks/${id}/events`],
  ['GET', `/webhooks/${id}/events/${event}`],
  ['GET', `/webhooks/${id}/events/${event}/attempts`],
  ['PATCH', `/webhooks/${id}`, { endpoint: 'https://evil.example/' }],
  ['POST', `/webhooks/${id}/signing-secret/rotate`, {}],
  ['POST', `/webhooks/${id}/events/${event}/replay`, {}],
  ['DELETE', `/webhooks/${id}`],
];
const CHANGES = operations('').filter(([method]) => method !== 'GET').length;

describe('a webhook', () => {
  test('does not exist for another account', async () => {
    const before = await stored();
    for (const [method, path, body] of operations(webhookId)) {
      const { statusCode } = await call(stranger.apiKey, method, path, body);
      expect(statusCode, `${method} ${path}`).toBe(404);
    }
    expect((await call(stranger.apiKey, 'GET', '/webhooks')).json().data).toEqual([]);
    expect((await call(stranger.apiKey, 'GET', `/webhooks?after=${webhookId}`)).statusCode).toBe(400);
    expect(await stored()).toEqual(before);
  });

  test('is none that forwards, and has no events of another one', async () => {
    const made = await call(team.box.apiKey, 'POST', '/endpoints', {
      name: 'x',
      type: 'email',
      config: { forwardTo: 'a@elsewhere.test' },
    });
    expect(made.statusCode, made.body).toBe(201);
    for (const [method, path, body] of operations(made.json().id))
      expect((await call(team.box.apiKey, method, path, body)).statusCode, `${method} ${path}`).toBe(404);
    for (const [method, path, body] of operations(otherId).filter(([, path]) => path.includes(deliveryId)))
      expect((await call(team.box.apiKey, method, path, body)).statusCode, `${method} ${path}`).toBe(404);
    expect((await call(team.box.apiKey, 'GET', `/webhooks/${otherId}/events?after=${deliveryId}`)).statusCode).toBe(
      404,
    );
    expect((await call(team.box.apiKey, 'DELETE', `/endpoints/${made.json().id}`)).statusCode).toBe(200);
  });

  test('is changed by no key with less: one scope, one domain, or a program with the level read', async () => {
    const before = await stored();
    const { id, name } = { id: team.box.domainId, name: 'staff.test' };
    const keys = {
      read: await insertKey(gateway.owner, team.box, { scopes: ['read'] }),
      send: await insertKey(gateway.owner, team.box, { scopes: ['send'] }),
      manage: await insertKey(gateway.owner, team.box, { scopes: ['manage'] }),
      domain: await insertKey(gateway.owner, team.box, { scopes: ['read', 'send'], domain: { id, name } }),
    };
    const program = await openOauthStage(gateway).connect(staff.agent.browser, { level: 'read' });
    const secrets = [...Object.values(keys).map(({ secret }) => secret), program.access_token];
    for (const secret of secrets)
      for (const [method, path, body] of operations(webhookId).slice(-CHANGES)) {
        // The scope alone deletes, as at /endpoints.
        if (secret === keys.manage.secret && method === 'DELETE') continue;
        const { statusCode, body: text } = await call(secret, method, path, body);
        expect([401, 403, 404], `${method} ${path} ${text}`).toContain(statusCode);
      }
    for (const path of ['/webhooks', `/webhooks/${webhookId}`]) {
      expect((await call(keys.send.secret, 'GET', path)).statusCode).toBe(403);
      expect((await call(keys.manage.secret, 'GET', path)).statusCode).toBe(403);
    }
    expect(await stored()).toEqual(before);
  });

  test('is changed by no agent or viewer', async () => {
    const before = await stored();
    for (const role of ['agent', 'viewer'] as const)
      for (const [method, path, body] of operations(webhookId).slice(-CHANGES)) {
        // An agent may retry what failed, as at /deliveries.
        if (role === 'agent' && path.endsWith('/replay')) continue;
        const { statusCode } = await staff[role].browser.rest(method as 'POST', path, {}, body);
        expect(statusCode, `${role} ${method} ${path}`).toBe(403);
      }
    expect(await stored()).toEqual(before);
  });

  test('keeps few secrets and stays whole when 50 requests rotate it, and 50 delete it, at once', async () => {
    const id = await createWebhook();
    const rotated = await Promise.all(
      Array.from({ length: AT_ONCE }, () => call(team.box.apiKey, 'POST', `/webhooks/${id}/signing-secret/rotate`, {})),
    );
    // On a busy machine, some find no connection in time.
    for (const { statusCode } of rotated) expect([200, 503]).toContain(statusCode);
    const { signingSecrets } = (await call(team.box.apiKey, 'GET', `/endpoints/${id}`)).json();
    expect(signingSecrets.length).toBeLessThanOrEqual(10);
    const deleted = await Promise.all(
      Array.from({ length: AT_ONCE }, () => call(team.box.apiKey, 'DELETE', `/webhooks/${id}`)),
    );
    const codes = deleted.map(({ statusCode }) => statusCode).sort((a, b) => a - b);
    expect(codes).toEqual([200, ...Array<number>(AT_ONCE - 1).fill(404)]);
  });
});

describe('a log', () => {
  test('does not exist for another account, and a list has no bodies', async () => {
    await call(team.box.apiKey, 'POST', '/emails', {
      from: 'nobody@elsewhere.test',
      to: 'a@b.test',
      subject: 'secret words',
    });
    const listed = (await call(team.box.apiKey, 'GET', '/logs')).json().data;
    const log = listed.find(({ endpoint }: { endpoint: string }) => endpoint === '/emails');
    expect(Object.keys(log)).not.toContain('request_body');
    expect((await call(team.box.apiKey, 'GET', `/logs/${log.id}`)).json().request_body).toMatchObject({
      subject: 'secret words',
    });
    expect((await call(stranger.apiKey, 'GET', `/logs/${log.id}`)).statusCode).toBe(404);
    expect((await call(stranger.apiKey, 'GET', `/logs?after=${log.id}`)).statusCode).toBe(400);
  });

  test('shows no body of a request that needed more than the reader has, at any path', async () => {
    const person = staff.viewer.personId;
    await call(team.box.apiKey, 'PATCH', `/members/${person}`, { role: 'viewer', is_approver: false });
    const { secret } = await insertKey(gateway.owner, team.box, { scopes: ['read'] });
    const list = async (as: string) => (await call(as, 'GET', '/requests?method=PATCH')).json().data;
    const [whole] = await list(team.box.apiKey);
    expect(whole.request_body).toContain('is_approver');
    const [listed] = await list(secret);
    const alone = (await call(secret, 'GET', `/requests/${whole.id}`)).json();
    const log = (await call(secret, 'GET', `/logs/${whole.id}`)).json();
    const query = `{ apiRequests(filter: { method: "PATCH" }) { nodes { requestBody responseBody curl } } }`;
    const [node] = (await gateway.graphql(secret, query)).json().data.apiRequests.nodes;
    for (const shown of [listed, alone, log, node]) {
      expect(JSON.stringify(shown)).not.toContain('is_approver');
      expect(JSON.stringify(shown)).toContain('[not logged');
    }
    expect((await call(secret, 'GET', '/requests?search=is_approver')).json().data).toEqual([]);
  });

  test.each(['agent', 'viewer'] as const)('is not for the role %s', async (role) => {
    for (const path of ['/logs', '/requests'])
      expect((await staff[role].browser.rest('GET', path)).statusCode, path).toBe(403);
  });
});

const UNDO = '/mail/threads/undo';

describe('the undo of a change', () => {
  /** Archives a new thread, and returns what undoes it. */
  async function archive(): Promise<{ body: { undo_id: string }; isArchived: () => Promise<boolean> }> {
    const threadId = makeIdentifier('thread', new Date(), crypto.getRandomValues(Buffer.alloc(10)));
    const { workspaceId } = team.box;
    const [emailId = ''] = await insertMail(gateway.actor, [
      { workspaceId, ownAddress: team.box.address, threadId, threadPosition: 0 },
    ]);
    await gateway.owner.pool.query(
      `insert into thread (workspace_id, id, root_message_id, normalized_subject, participant_emails, participant_names, search_text, message_count,
         received_count, unread_count, archived_count, latest_email_id, last_message_at, created_at)
       values ($1, $2, $3, 'x', '{}', '{}', 'x', 1, 1, 1, 0, $3, now(), now())`,
      [workspaceId, threadId, emailId],
    );
    const changed = await call(team.box.apiKey, 'POST', '/mail/threads/bulk', {
      thread_ids: [threadId],
      is_archived: true,
    });
    expect(changed.statusCode, changed.body).toBe(200);
    const isArchived = async () =>
      (await gateway.owner.pool.query('select is_archived from email where id = $1', [emailId])).rows[0]?.is_archived;
    expect(await isArchived()).toBe(true);
    return { body: { undo_id: changed.json().undo_id }, isArchived };
  }

  test('is for no other account, key with less, or viewer', async () => {
    const { body, isArchived } = await archive();
    const limited = await insertKey(gateway.owner, team.box, { scopes: ['read', 'send'], addresses: ['x@staff.test'] });
    const reading = await insertKey(gateway.owner, team.box, { scopes: ['read', 'send'] });
    const statuses = [
      (await call(stranger.apiKey, 'POST', UNDO, body)).statusCode,
      (await call(limited.secret, 'POST', UNDO, body)).statusCode,
      (await call(reading.secret, 'POST', UNDO, body)).statusCode,
      (await staff.viewer.browser.rest('POST', UNDO, {}, body)).statusCode,
    ];
    expect([statuses, await isArchived()]).toEqual([[404, 403, 403, 403], true]);
  });

  test('happens once when 50 ask for it at once', async () => {
    const { body, isArchived } = await archive();
    const undone = await Promise.all(Array.from({ length: AT_ONCE }, () => call(team.box.apiKey, 'POST', UNDO, body)));
    const codes = undone.map(({ statusCode }) => statusCode).sort((a, b) => a - b);
    expect([codes, await isArchived()]).toEqual([[200, ...Array<number>(AT_ONCE - 1).fill(404)], false]);
  });
});
