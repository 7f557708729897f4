import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { insertKey, type TestKey } from '../../support/rows/key-rows.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openTeam, type TeamPerson, type TeamStage } from '../../support/stages/team-stage.ts';

/*
 * Mail that is delivered to an endpoint again leaves at once, and no later change takes it back. So whoever asks for it needs the rights in the
 * transaction that stores the delivery (docs/decisions/0252): here they are lost after the request was admitted.
 */

let gateway: TestGateway;
let team: TeamStage;
let key: TestKey;
let developer: TeamPerson;
let endpointId: string;
let emailId: string;
let deliveryId: string;
let eventDeliveryId: string;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 } });
  team = await openTeam(gateway, 'again', { endpointUrl: 'https://hook.again.test/' });
  endpointId = team.box.endpointId ?? '';
});
afterAll(() => gateway.close());

const sql = (text: string, ...values: unknown[]) => gateway.owner.pool.query(text, values);
const makeId = (prefix: string) => `${prefix}_${randomBytes(16).toString('hex')}`;

beforeEach(async () => {
  const { workspaceId } = team.box;
  key = await insertKey(gateway.owner, team.box, { scopes: ['read', 'send', 'manage'] });
  await sql('delete from delivery where workspace_id = $1', workspaceId);
  const [mail] = await insertReceivedMail(gateway.actor, team.box, { count: 1 });
  emailId = mail?.emailId ?? '';
  [deliveryId, eventDeliveryId] = [makeId('dlv'), makeId('dlv')];
  await sql(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, status, attempts, attempts_allowed, created_at, completed_at)
     values ($1, $2, $3, $4, 'webhook', 'failed', 1, 3, now(), now())`,
    workspaceId,
    deliveryId,
    emailId,
    endpointId,
  );
  const event = { id: makeId('evt'), kind: 'email.read', emailId };
  const { rows } = await sql('select append_events($1, $2) as seq', workspaceId, JSON.stringify([event]));
  await sql(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, status, attempts, attempts_allowed, created_at, completed_at,
       event_seq, event_kind, cause)
     values ($1, $2, $3, $4, 'webhook', 'failed', 1, 3, now(), now(), $5, 'email.read', 'event')`,
    workspaceId,
    eventDeliveryId,
    emailId,
    endpointId,
    rows[0].seq,
  );
});

/** What a door stores: deliveries, and when they are due. */
const readDeliveries = async () =>
  (
    await sql(
      'select id, status, next_attempt_at from delivery where workspace_id = $1 order by id',
      team.box.workspaceId,
    )
  ).rows;
const setRoute = (outcome: string) =>
  sql(
    `update route set decided_at = now(), outcome = $2, endpoint_id = case when $2 = 'endpoint' then $3 end where email_id = $1`,
    emailId,
    outcome,
    endpointId,
  );

const DOORS: Record<string, () => Promise<[path: string, body: object]>> = {
  'the retry of an email': async () => {
    await setRoute('endpoint');
    return [`/emails/${emailId}/retry`, { endpoint_id: endpointId }];
  },
  'the retry of a delivery': async () => {
    await setRoute('endpoint');
    return [`/deliveries/${deliveryId}/retry`, {}];
  },
  'the retry of an event': async () => [`/deliveries/${eventDeliveryId}/retry`, {}],
  'the replay of a period': async () => {
    await setRoute('endpoint');
    return [`/endpoints/${endpointId}/replay`, { since: new Date(Date.now() - 3_600_000).toISOString() }];
  },
  'the retry of what waits': async () => {
    await sql(
      `update delivery set status = 'pending', completed_at = null, next_attempt_at = now() + interval '1 hour' where id = $1`,
      deliveryId,
    );
    return [`/endpoints/${endpointId}/retry-waiting`, {}];
  },
  'the release of held mail': async () => {
    await setRoute('blocked');
    return [`/emails/${emailId}/release`, {}];
  },
  'another run of the routes': async () => {
    await setRoute('endpoint');
    return ['/emails/reprocess', { email_ids: [emailId], steps: ['route'], dry_run: false }];
  },
};

const KEY_LOSSES = {
  'is revoked': 'update api_key set revoked_at = now() where id = $1',
  'has expired': `update api_key set expires_at = now() - interval '1 second' where id = $1`,
  'has no scope left but approve': `update api_key set scopes = '{approve}' where id = $1`,
  'is limited to an address': `update api_key set scopes = '{read,send}', reach = '{"domains":[],"addresses":["other@again.test"]}' where id = $1`,
};
const MEMBER_LOSSES = {
  'is removed': 'delete from workspace_member where person_id = $1',
  'becomes a viewer': `update workspace_member set role = 'viewer' where person_id = $1`,
  'is limited to an address': `update workspace_member set role = 'agent', domain_ids = '{}', addresses = '{other@again.test}' where person_id = $1`,
};

/** Makes a request that waits within its transaction for the change of rights, and returns what came of it. */
async function askMeanwhile<Asked>(change: string, of: string, ask: () => Promise<Asked>): Promise<Asked> {
  const client = await gateway.owner.pool.connect();
  try {
    await client.query('begin');
    await client.query(change, [of]);
    let isDone = false;
    const asked = ask().finally(() => {
      isDone = true;
    });
    await expect
      .poll(
        async () =>
          isDone || (await sql(`select from pg_locks where locktype = 'advisory' and not granted`)).rowCount !== 0,
      )
      .toBe(true);
    await client.query('commit');
    return await asked;
  } finally {
    await client.query('rollback');
    client.release();
  }
}

describe.each(Object.entries(DOORS))('%s delivers nothing', (door, open) => {
  test.each(Object.entries(KEY_LOSSES))('for a key that %s', async (_how, change) => {
    const [path, body] = await open();
    const before = await readDeliveries();
    const response = await askMeanwhile(change, key.id, () => gateway.call(key.secret, 'POST', path, body));
    expect([await readDeliveries(), response.body]).toEqual([before, expect.stringMatching(/forbidden/i)]);
  });

  test.each(Object.entries(MEMBER_LOSSES))('for a member who %s', async (_how, change) => {
    developer = await team.makeMember(door === 'another run of the routes' ? 'admin' : 'developer');
    const [path, body] = await open();
    const before = await readDeliveries();
    const ask = () => developer.browser.rest('POST', path, {}, body);
    const response = await askMeanwhile(change, developer.personId, ask);
    expect([await readDeliveries(), response.body]).toEqual([before, expect.stringMatching(/forbidden/i)]);
  });

  test('unless who asks has the rights, and then once', async () => {
    const [path, body] = await open();
    const before = await readDeliveries();
    const response = await gateway.call(key.secret, 'POST', path, body);
    expect(response.statusCode, response.body).toBeLessThan(300);
    expect(await readDeliveries()).not.toEqual(before);
  });
});
