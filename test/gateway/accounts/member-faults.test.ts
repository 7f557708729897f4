import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';
import { readServiceMail } from '../../support/stages/service-mail.ts';
import { openTeam, TEAM_PASSWORD, type TeamStage } from '../../support/stages/team-stage.ts';

let gateway: TestGateway;
let team: TeamStage;
/** where the request ends as if its process were killed; null: nowhere */
let killedAt: string | null = null;

beforeAll(async () => {
  gateway = await openTestGateway({
    config: { rateLimitPerSecond: 0 },
    fault: (point: string) => {
      if (point === killedAt) throw new Error('the process ends here');
    },
  });
  team = await openTeam(gateway, 'faults');
});
afterAll(() => gateway.close());
beforeEach(() => {
  killedAt = null;
});

async function killAt(point: string, act: () => PromiseLike<{ statusCode: number }>): Promise<void> {
  killedAt = point;
  expect((await act()).statusCode).toBe(500);
  killedAt = null;
}

const countRows = async (text: string, ...values: string[]) =>
  Number((await gateway.owner.pool.query<{ count: string }>(text, values)).rows[0]?.count);
const members = (personId: string) =>
  countRows(
    'select count(*) from workspace_member where workspace_id = $1 and person_id = $2',
    team.box.workspaceId,
    personId,
  );
const sessions = (personId: string) => countRows('select count(*) from auth_session where person_id = $1', personId);
const countKeys = (personId: string) =>
  countRows('select count(*) from api_key where made_by_person_id = $1 and revoked_at is null', personId);

describe('a gateway that is killed while it removes a member', () => {
  test.each([
    ['members.before-commit', 1],
    ['members.after-commit', 0],
  ])('at %s leaves the member with sessions and keys, or without all of them', async (point, left) => {
    const person = await team.makeMember('developer');
    await team.insertPersonKey(person);
    await killAt(point, () => team.owner.browser.rest('DELETE', `/members/${person.personId}`));
    const found = [await members(person.personId), await sessions(person.personId), await countKeys(person.personId)];
    expect(found).toEqual([left, left, left]);
    const again = await team.owner.browser.rest('DELETE', `/members/${person.personId}`);
    expect(again.statusCode).toBe(left === 1 ? 200 : 404);
  });
});

describe('a gateway that is killed while it changes members', () => {
  const POINTS = [
    ['members.before-commit', false],
    ['members.after-commit', true],
  ] as const;
  const readRole = async (workspaceId: string, personId: string) =>
    (
      await gateway.owner.pool.query<{ role: string }>(
        'select role from workspace_member where workspace_id = $1 and person_id = $2',
        [workspaceId, personId],
      )
    ).rows[0]?.role;
  const countEntries = (workspaceId: string) =>
    countRows(`select count(*) from audit_entry where workspace_id = $1 and action like 'member.%'`, workspaceId);

  test.each(POINTS)('at %s leaves the previous role with its keys, or the new one without', async (point, isDone) => {
    const person = await team.makeMember('developer');
    const { personId } = person;
    await team.insertPersonKey(person);
    const before = await countEntries(team.box.workspaceId);
    const change = () => team.owner.browser.rest('PATCH', `/members/${personId}`, {}, { role: 'viewer' });
    await killAt(point, change);
    expect([
      await readRole(team.box.workspaceId, personId),
      await countKeys(personId),
      (await countEntries(team.box.workspaceId)) > before,
    ]).toEqual(isDone ? ['viewer', 0, true] : ['developer', 1, false]);
    expect((await change()).json().role).toBe('viewer');
    expect(await countKeys(personId)).toBe(0);
  });

  test.each(POINTS)('at %s leaves one owner, with an entry of the transfer or without', async (point, isDone) => {
    const other = await openTeam(gateway, `transfer-${isDone ? 'done' : 'undone'}`);
    const { workspaceId } = other.box;
    const next = await other.makeMember('agent', { addresses: [other.box.address] });
    const before = await countEntries(workspaceId);
    const transfer = () => other.owner.browser.rest('POST', `/members/${next.personId}/transfer`, {}, {});
    await killAt(point, transfer);
    const roles = [await readRole(workspaceId, other.owner.personId), await readRole(workspaceId, next.personId)];
    expect([roles, (await countEntries(workspaceId)) > before]).toEqual(
      isDone ? [['admin', 'owner'], true] : [['owner', 'agent'], false],
    );
    if (!isDone) expect((await transfer()).statusCode).toBe(200);
    expect(await readRole(workspaceId, next.personId)).toBe('owner');
  });

  test.each(POINTS)('at %s leaves a member who can leave, or one who has left', async (point, isDone) => {
    const person = await team.makeMember('viewer');
    const leave = () => person.browser.rest('POST', '/members/leave', {}, { workspace_id: team.box.workspaceId });
    await killAt(point, leave);
    expect([await members(person.personId), await sessions(person.personId)]).toEqual(isDone ? [0, 0] : [1, 1]);
    if (!isDone) expect((await leave()).statusCode).toBe(200);
    expect(await members(person.personId)).toBe(0);
  });
});

describe('a gateway that is killed while it revokes an invitation', () => {
  test.each([
    ['invitations.before-commit', 200],
    ['invitations.after-commit', 410],
  ])('at %s leaves it as it was, or revoked', async (point, status) => {
    const { email, browser } = await team.makePerson();
    const { id } = (await team.invite({ email, role: 'viewer' })).json();
    await killAt(point, () => team.owner.browser.rest('DELETE', `/invitations/${id}`));
    expect((await team.accept(browser, await team.readToken(email))).statusCode).toBe(status);
  });
});

describe('a gateway that is killed while it invites', () => {
  test.each([
    ['invitations.before-commit', 0],
    ['invitations.after-commit', 1],
  ])('at %s leaves no invitation, or one that can be sent again', async (point, left) => {
    const { email, browser } = await team.makePerson();
    await killAt(point, () => team.invite({ email, role: 'viewer' }));
    const { rows } = await gateway.owner.pool.query<{ id: string }>(
      `update workspace_invitation set sent_at = sent_at - interval '2 minutes' where email = $1 returning id`,
      [email],
    );
    expect(rows).toHaveLength(left);
    expect(await readServiceMail(gateway.owner, email)).toEqual([]);
    const again = left === 0 ? await team.invite({ email, role: 'viewer' }) : await team.resend(rows[0]?.id ?? '');
    expect(again.statusCode).toBe(200);
    expect((await team.accept(browser, await team.readToken(email))).statusCode).toBe(200);
  });
});

describe('a gateway that is killed while an invitation is accepted', () => {
  test('after the sign-up leaves a person who accepts after signing in', async () => {
    const email = 'half@elsewhere.test';
    await team.invite({ email, role: 'viewer' });
    const token = await team.readToken(email);
    const body = { token, name: 'Half', newPassword: TEAM_PASSWORD };
    await killAt('invitations.signed-up', () => openBrowser(gateway.app).auth('POST', '/sign-up/invitation', body));
    const shown = await openBrowser(gateway.app).auth('POST', '/invitation', { token });
    expect(shown.json()).toMatchObject({ state: 'open', hasAccount: true });
    expect((await team.accept(await team.signIn(email), token)).statusCode).toBe(200);
  });

  test('after the commit leaves a member, whose next session is in the workspace', async () => {
    const { email, browser, personId } = await team.makePerson();
    await team.invite({ email, role: 'viewer' });
    const token = await team.readToken(email);
    await killAt('invitations.accepted', () => team.accept(browser, token));
    expect(await members(personId)).toBe(1);
    const listed = await (await team.signIn(email)).auth('GET', '/workspaces');
    expect(listed.json().active).toMatchObject({ id: team.box.workspaceId, role: 'viewer' });
    const again = await team.accept(browser, token);
    expect([again.statusCode, again.json().code]).toEqual([409, 'INVITATION_ACCEPTED']);
  });
});

describe('a gateway that is killed while it keeps the workspace of a customer', () => {
  const POINTS = ['customers.before-commit', 'customers.after-commit'];
  const rest = (...given: Parameters<BrowserSession['rest']>) => team.owner.browser.rest(...given);
  const create = (clientId: string) => rest('POST', '/workspaces', {}, { client_id: clientId, name: 'Smith' });
  const read = async (id: string) => (await rest('GET', `/workspaces/${id}`)).json();

  test.each(POINTS)('at %s creates it once', async (point) => {
    await killAt(point, () => create(point));
    const made = await Promise.all([create(point), create(point)]);
    expect(made.map(({ statusCode }) => statusCode)).toEqual([201, 201]);
    const listed = (await rest('GET', `/workspaces?client_id=${point}`)).json().data;
    expect(listed).toMatchObject([{ client_id: point, name: 'Smith', status: 'active' }]);
  });

  test.each(POINTS)('at %s suspends it with its audit entry, or not at all', async (point) => {
    const { id } = (await create(`suspended ${point}`)).json();
    const entries = () =>
      countRows(
        `select count(*) from audit_entry where object_id = $1 and action = 'customer_workspace.suspended'`,
        id,
      );
    const before = await entries();
    await killAt(point, () => rest('PATCH', `/workspaces/${id}`, {}, { is_suspended: true }));
    const isSuspended = point.endsWith('after-commit');
    expect([(await read(id)).status, (await entries()) - before]).toEqual(
      isSuspended ? ['suspended', 1] : ['active', 0],
    );
    expect((await rest('PATCH', `/workspaces/${id}`, {}, { is_suspended: true })).json().status).toBe('suspended');
  });

  test.each(POINTS)('at %s creates its key, or none', async (point) => {
    const { id } = (await create(`keyed ${point}`)).json();
    await killAt(point, () => rest('POST', `/workspaces/${id}/api-keys`, {}, { name: 'k', scopes: ['read'] }));
    const made = await countRows('select count(*) from api_key where workspace_id = $1', id);
    expect(made).toBe(point.endsWith('after-commit') ? 1 : 0);
  });

  test.each(POINTS)('at %s ends its keys and domains together with it, or none of them', async (point) => {
    const clientId = `closed ${point}`;
    const { id } = (await create(clientId)).json();
    const { token } = (
      await rest('POST', `/workspaces/${id}/api-keys`, {}, { name: 'k', scopes: ['read', 'manage'] })
    ).json();
    const domain = `${point.replaceAll('.', '-')}.test`;
    expect((await gateway.call(token, 'POST', '/domains', { domain })).statusCode).toBe(201);
    await killAt(point, () => rest('DELETE', `/workspaces/${id}`));
    const isClosed = point.endsWith('after-commit');
    const domains = () => countRows('select count(*) from domain where workspace_id = $1', id);
    const keys = () => countRows('select count(*) from api_key where workspace_id = $1 and revoked_at is null', id);
    expect([(await read(id)).status, await domains(), await keys()]).toEqual(
      isClosed ? ['deleting', 0, 0] : ['active', 1, 1],
    );
    // The same request again ends it, and the customer can have a new one.
    expect((await rest('DELETE', `/workspaces/${id}`)).json().status).toBe('deleting');
    expect([await domains(), await keys()]).toEqual([0, 0]);
    const next = await create(clientId);
    expect([next.statusCode, next.json().id === id]).toEqual([201, false]);
  });
});
