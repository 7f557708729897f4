import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openBrowser } from '../../support/stages/browser-session.ts';
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
    await team.insertKeyOf(person);
    await killAt(point, () => team.owner.browser.rest('DELETE', `/members/${person.personId}`));
    const found = [await members(person.personId), await sessions(person.personId), await countKeys(person.personId)];
    expect(found).toEqual([left, left, left]);
    const again = await team.owner.browser.rest('DELETE', `/members/${person.personId}`);
    expect(again.statusCode).toBe(left === 1 ? 200 : 404);
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
    const again =
      left === 0
        ? await team.invite({ email, role: 'viewer' })
        : await team.owner.browser.rest('POST', `/invitations/${rows[0]?.id}/resend`, {}, {});
    expect(again.statusCode).toBe(200);
    expect((await team.accept(browser, await team.readToken(email))).statusCode).toBe(200);
  });
});

describe('a gateway that is killed while an invitation is accepted', () => {
  test('after the sign-up leaves a person who accepts after signing in', async () => {
    const email = 'half@faults.test';
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
