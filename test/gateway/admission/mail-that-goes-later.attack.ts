import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { RELEASE_BATCH, releaseDue } from '../../../actors/scheduling/release-due.ts';
import type { DueKey } from '../../../db/queries/sending/scheduled-release.ts';
import { insertKey, type TestKey } from '../../support/rows/key-rows.ts';
import { insertScheduled } from '../../support/rows/outgoing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { openTeam, type TeamPerson, type TeamStage } from '../../support/stages/team-stage.ts';

/*
 * Mail that is stored now and goes later is sent for a key or a person, and goes only while these may send (docs/decisions/0246). Each way to lose the
 * right is tried at each door that lets mail go; the right is also taken in the table alone, as if nothing had paused the mail.
 */

let gateway: TestGateway;
let team: TeamStage;
let writer: TestKey;
let agent: TeamPerson;

beforeAll(async () => {
  gateway = await openTestGateway();
  team = await openTeam(gateway, 'later');
});
afterAll(() => gateway.close());
beforeEach(async () => {
  await gateway.owner.pool.query('update email_address set send_policy = null where send_policy is not null');
  writer = await insertKey(gateway.owner, team.box, { scopes: ['send'] });
});

const LATER = new Date(Date.now() + 86_400_000).toISOString();
const asOwner = async (method: string, path: string, body?: unknown) => {
  const response = await gateway.call(team.box.apiKey, method, path, body);
  expect(response.statusCode, response.body).toBeLessThan(300);
  return response.json();
};
const release = () => releaseDue(testActorContext(gateway.actor), {});
const sql = (text: string, ...values: unknown[]) => gateway.owner.pool.query(text, values);
const readStatus = async (id: string) => (await sql('select status from email where id = $1', id)).rows[0]?.status;
const listEvents = async (id: string) =>
  (await sql('select kind from event where email_id = $1 order by seq', id)).rows.map(({ kind }) => kind);

/** Who sends mail that goes later. Each returns the response. */
const SENDERS = {
  'a key': (body: object) => gateway.call(writer.secret, 'POST', '/emails', body),
  'a member': (body: object) => agent.browser.rest('POST', '/emails', {}, body),
};
type SenderName = keyof typeof SENDERS;

async function send(by: SenderName, more: object = {}): Promise<string> {
  if (by === 'a member') agent = await team.makeMember('agent');
  const mail = { from: team.box.address, to: 'stranger@elsewhere.test', subject: 'x', text: 'x', ...more };
  const response = await SENDERS[by](mail);
  expect(response.statusCode, response.body).toBeLessThan(300);
  return response.json().id;
}
async function sendForApproval(by: SenderName): Promise<string> {
  await sql('update email_address set send_policy = $2 where id = $1', team.box.addressId, { approval: 'always' });
  const id = await send(by);
  expect(await readStatus(id)).toBe('awaiting_approval');
  return id;
}

/** Ways to lose the right to send: by an interface, and in the table alone. */
const LOSSES: Record<SenderName, Record<string, () => Promise<unknown>>> = {
  'a key': {
    'is revoked': () => asOwner('DELETE', `/api-keys/${writer.id}`),
    'may only read': () => sql(`update api_key set scopes = '{read}' where id = $1`, writer.id),
    'has expired': () => sql(`update api_key set expires_at = now() - interval '1 second' where id = $1`, writer.id),
    'was limited to another address': () =>
      sql(`update api_key set reach = '{"domains":[],"addresses":["other@later.test"]}' where id = $1`, writer.id),
  },
  'a member': {
    'is removed': () => asOwner('DELETE', `/members/${agent.personId}`),
    'becomes a viewer': () => asOwner('PATCH', `/members/${agent.personId}`, { role: 'viewer' }),
    'is limited to another address': () =>
      asOwner('PATCH', `/members/${agent.personId}`, { role: 'agent', addresses: ['other@later.test'] }),
    'is removed by a directory': () => sql('delete from workspace_member where person_id = $1', agent.personId),
    'gets another role from a provider': () =>
      sql(`update workspace_member set role = 'viewer' where person_id = $1`, agent.personId),
  },
};
const CASES = Object.entries(LOSSES).flatMap(([by, losses]) =>
  Object.entries(losses).map(([how, lose]) => [by as SenderName, how, lose] as const),
);

describe.each(CASES)('%s that %s', (by, _how, lose) => {
  test('sends nothing that was scheduled', async () => {
    const id = await send(by, { scheduled_at: LATER });
    await lose();
    await sql(`update email set scheduled_at = now() - interval '1 second' where id = $1`, id);
    await release();
    expect([await readStatus(id), (await listEvents(id)).at(-1)]).toEqual(['paused', 'email.paused']);
  });

  test('sends nothing through an approver who may not send', async () => {
    const id = await sendForApproval(by);
    await lose();
    const approver = await insertKey(gateway.owner, team.box, { scopes: ['read', 'approve'] });
    const approved = await gateway.call(approver.secret, 'POST', `/emails/${id}/approve`, {});
    expect([approved.statusCode, approved.json().code, await readStatus(id)]).toEqual([
      403,
      'SENDING_RIGHT_LOST',
      'awaiting_approval',
    ]);
    expect((await gateway.call(approver.secret, 'POST', `/emails/${id}/reject`, {})).statusCode).toBe(200);
  });

  test('sends what someone approves who may send, and takes it over', async () => {
    const id = await sendForApproval(by);
    await lose();
    const taker = await insertKey(gateway.owner, team.box, { scopes: ['send', 'approve'] });
    expect((await gateway.call(taker.secret, 'POST', `/emails/${id}/approve`, {})).statusCode).toBe(200);
    const { rows } = await sql(
      'select scheduled_by_key_id as key, scheduled_by_person_id as person from email where id = $1',
      id,
    );
    expect(rows).toEqual([{ key: taker.id, person: null }]);
    await release();
    expect(await readStatus(id)).toBe('pending');
  });

  test('sends nothing that was approved for a later time', async () => {
    const id = await sendForApproval(by);
    await asOwner('POST', `/emails/${id}/approve`);
    await lose();
    await release();
    expect(await readStatus(id)).toBe('paused');
  });
});

describe('a key or a member with all rights', () => {
  test.each(['a key', 'a member'] as const)('%s sends what was scheduled, and what was approved', async (by) => {
    const scheduled = await send(by, { scheduled_at: LATER });
    await sql(`update email set scheduled_at = now() - interval '1 second' where id = $1`, scheduled);
    const approved = await sendForApproval(by);
    await asOwner('POST', `/emails/${approved}/approve`);
    await release();
    expect([await readStatus(scheduled), await readStatus(approved)]).toEqual(['pending', 'pending']);
  });
});

describe('mail that may not be sent', () => {
  /** Mail of a key that may not send, due before anything else. */
  async function insertRefused(count: number): Promise<string[]> {
    const { workspaceId, address } = team.box;
    const reader = await insertKey(gateway.owner, team.box, { scopes: ['read'] });
    const mails = Array.from({ length: count }, () => ({ workspaceId, inSeconds: -60, from: address }));
    const ids = await insertScheduled(gateway.owner, mails);
    await sql('update email set scheduled_by_key_id = $2 where id = any ($1)', ids, reader.id);
    return ids;
  }
  async function insertAllowed(): Promise<string> {
    const id = await send('a key', { scheduled_at: LATER });
    await sql(`update email set scheduled_at = now() - interval '1 second' where id = $1`, id);
    return id;
  }
  const countEmails = async (ids: string[], status: string) =>
    (await sql('select from email where id = any ($1) and status = $2', ids, status)).rowCount;

  /** Runs work while nothing of the workspace can be paused: a change of rights is under way. */
  async function withoutPauses(work: () => Promise<void>, emailIds: string[] = []): Promise<void> {
    const client = await gateway.owner.pool.connect();
    try {
      await client.query('begin');
      await client.query('select from email where id = any ($1) for update', [emailIds]);
      await client.query('select pg_advisory_xact_lock(send_rights_lock($1))', [team.box.workspaceId]);
      await work();
    } finally {
      await client.query('rollback');
      client.release();
    }
  }

  test('counts as done, so that a sweep goes on to what is due behind it', async () => {
    const refused = await insertRefused(RELEASE_BATCH);
    const allowed = await insertAllowed();
    expect(await release()).toBe(RELEASE_BATCH);
    expect(await countEmails(refused, 'paused')).toBe(RELEASE_BATCH);
    expect(await release()).toBe(1);
    expect(await readStatus(allowed)).toBe('pending');
  });

  test('and cannot be paused keeps no other mail of its batch from being sent at once', async () => {
    const refused = await insertRefused(1);
    const allowed = await insertAllowed();
    const context = testActorContext(gateway.actor);
    const seen: unknown[] = [];
    context.bus.onWake('sending.send.wake', ({ emailIds }) => void seen.push(emailIds));
    context.bus.subscribe('event.appended', ({ workspaceId }) => void seen.push(workspaceId));
    await withoutPauses(async () => {
      expect(await releaseDue(context, {})).toBe(2);
    });
    expect(await readStatus(allowed)).toBe('pending');
    expect(seen).toEqual(expect.arrayContaining([[allowed], team.box.workspaceId]));
    await release();
    expect(await countEmails(refused, 'paused')).toBe(1);
  });

  test('and cannot be paused is passed over for the rest of the sweep', async () => {
    const refused = await insertRefused(RELEASE_BATCH + 1);
    const allowed = await insertAllowed();
    const context = testActorContext(gateway.actor);
    const unpaused: DueKey[] = [];
    const counts: number[] = [];
    await withoutPauses(async () => {
      for (let n = 0; n < 3; n++) counts.push(await releaseDue(context, { unpaused }));
    });
    expect(counts).toEqual([RELEASE_BATCH, 2, 0]);
    expect(await readStatus(allowed)).toBe('pending');
    for (let n = 0; n < 2; n++) await release();
    expect(await countEmails(refused, 'paused')).toBe(RELEASE_BATCH + 1);
  });

  test('is not judged while another transaction holds it', async () => {
    const refused = await insertRefused(1);
    const unpaused: DueKey[] = [];
    await withoutPauses(async () => {
      expect(await releaseDue(testActorContext(gateway.actor), { unpaused })).toBe(0);
    }, refused);
    expect(unpaused).toEqual([]);
    await release();
    expect(await countEmails(refused, 'paused')).toBe(1);
  });
});

test('a decision names the member who made it, and not the owner', async () => {
  const id = await sendForApproval('a key');
  const admin = await team.makeMember('admin');
  const decided = await admin.browser.rest('POST', `/emails/${id}/approve`, {}, {});
  expect(decided.statusCode, decided.body).toBe(200);
  const shown = await asOwner('GET', `/emails/${id}`);
  expect(shown.approval.decided_by).toBe(admin.email);
});
