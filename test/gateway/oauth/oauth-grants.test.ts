import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { ISSUER, type OauthStage, openOauthStage } from '../../support/stages/oauth-stage.ts';
import { openTeam, type Staff, staffTeam, type TeamStage } from '../../support/stages/team-stage.ts';

let gateway: TestGateway;
let team: TeamStage;
let staff: Staff;
let oauth: OauthStage;

beforeAll(async () => {
  gateway = await openTestGateway();
  team = await openTeam(gateway, 'grants');
  staff = await staffTeam(team);
  oauth = openOauthStage(gateway);
});
afterAll(() => gateway.close());

const whole = { resource: ISSUER };
const works = async (token: string) => (await gateway.call(token, 'GET', '/emails')).statusCode === 200;
const listGrants = async (person: keyof Staff) =>
  (await staff[person].browser.rest('GET', '/oauth/grants')).json().data as {
    id: string;
    client_id: string;
    last_used_at: string | null;
  }[];

describe('grants', () => {
  test('are listed with program, level and person, and are not among the API keys', async () => {
    const { clientId, access_token: token } = await oauth.connect(
      staff.agent.browser,
      { level: 'send', addresses: [team.box.address] },
      whole,
    );
    expect(await works(token)).toBe(true);
    const [own] = await listGrants('agent');
    const body = (await staff.agent.browser.rest('GET', '/oauth/grants')).json();
    expect([body.object, body.has_more]).toEqual(['list', false]);
    expect(own).toEqual({
      object: 'oauth_grant',
      id: expect.stringMatching(/^key_/),
      client_id: clientId,
      client: { name: 'Test program', logo_uri: null, host: 'a program on this computer' },
      scopes: ['send'],
      level: 'send',
      resource: ISSUER,
      domains: [],
      addresses: [team.box.address],
      person: staff.agent.email,
      is_yours: true,
      created_at: expect.any(String),
      last_used_at: null,
      last_used_from: null,
      revoked_at: null,
      revoked_reason: null,
    });
    const keys = (await team.owner.browser.rest('GET', '/api-keys')).json();
    expect(keys.data.map(({ id }: { id: string }) => id)).not.toContain(own?.id);
  });

  test('of others are seen and revoked by those who manage keys only, each person sees their own', async () => {
    const { access_token: token, clientId } = await oauth.connect(staff.agent.browser, {}, whole);
    const grant = (await listGrants('agent')).find((each) => each.client_id === clientId);
    const path = `/oauth/grants/${grant?.id}`;
    expect(await listGrants('viewer')).toEqual([]);
    expect((await staff.viewer.browser.rest('DELETE', path)).statusCode).toBe(404);
    expect((await listGrants('developer')).map(({ id }) => id)).toContain(grant?.id);
    const revoked = await staff.developer.browser.rest('DELETE', path);
    expect([revoked.statusCode, revoked.json()]).toMatchObject([
      200,
      { object: 'oauth_grant', id: grant?.id, revoked_reason: 'revoked' },
    ]);
    expect(await works(token)).toBe(false);
    expect((await staff.developer.browser.rest('DELETE', path)).statusCode).toBe(404);
  });

  test('of a viewer are revoked by the viewer, and by the token itself, but not by a key that only reads', async () => {
    const first = await oauth.connect(staff.viewer.browser, {}, whole);
    const second = await oauth.connect(staff.viewer.browser, {}, whole);
    const findId = async (clientId: string) =>
      (await listGrants('viewer')).find((each) => each.client_id === clientId)?.id ?? '';
    const denied = await gateway.call(first.access_token, 'DELETE', `/oauth/grants/${await findId(second.clientId)}`);
    expect([denied.statusCode, denied.json().code]).toEqual([403, 'insufficient_scope']);
    const itself = await gateway.call(first.access_token, 'DELETE', `/oauth/grants/${await findId(first.clientId)}`);
    expect(itself.statusCode).toBe(200);
    expect(await works(first.access_token)).toBe(false);
    expect(
      (await staff.viewer.browser.rest('DELETE', `/oauth/grants/${await findId(second.clientId)}`)).statusCode,
    ).toBe(200);
    expect(await works(second.access_token)).toBe(false);
  });

  test('of another workspace are unknown', async () => {
    const other = await openTeam(gateway, 'other-grants');
    const { access_token: token } = await oauth.connect(other.owner.browser, {}, whole);
    const [grant] = (await other.owner.browser.rest('GET', '/oauth/grants')).json().data;
    expect((await listGrants('owner')).map(({ id }) => id)).not.toContain(grant.id);
    expect((await team.owner.browser.rest('DELETE', `/oauth/grants/${grant.id}`)).statusCode).toBe(404);
    expect((await gateway.call(team.box.apiKey, 'DELETE', `/oauth/grants/${grant.id}`)).statusCode).toBe(404);
    expect(await works(token)).toBe(true);
  });

  test('end what their program set up, and the keys that it created', async () => {
    const { access_token: token, clientId } = await oauth.connect(team.owner.browser, { level: 'everything' }, whole);
    const key = (await gateway.call(token, 'POST', '/api-keys', { name: 'of the program' })).json();
    expect(await works(key.token)).toBe(true);
    const grant = (await listGrants('owner')).find((each) => each.client_id === clientId);
    expect((await team.owner.browser.rest('DELETE', `/oauth/grants/${grant?.id}`)).statusCode).toBe(200);
    expect([await works(token), await works(key.token)]).toEqual([false, false]);
  });

  test('appear in the audit log as keys that their person created', async () => {
    const { clientId } = await oauth.connect(team.owner.browser, {}, whole);
    const grant = (await listGrants('owner')).find((each) => each.client_id === clientId);
    const { rows } = await gateway.owner.pool.query(
      'select action, actor_kind, actor_id, client_address from audit_entry where workspace_id = $1 and object_id = $2',
      [team.box.workspaceId, grant?.id],
    );
    expect(rows).toEqual([
      { action: 'api_key.created', actor_kind: 'person', actor_id: team.owner.personId, client_address: '127.0.0.1' },
    ]);
  });
});
