import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openBrowser } from '../../support/stages/browser-session.ts';
import { openScimStage, type ScimStage } from '../../support/stages/scim-stage.ts';
import { openTeam, TEAM_PASSWORD, type TeamStage } from '../../support/stages/team-stage.ts';
import { waitFor } from '../../support/wait-for.ts';

let gateway: TestGateway;
let team: TeamStage;
let scim: ScimStage;
let other: TeamStage;
let fault: string | null = null;

beforeAll(async () => {
  gateway = await openTestGateway({
    fault(point) {
      if (point === fault) throw new Error(`killed at ${point}`);
    },
  });
  team = await openTeam(gateway, 'staff');
  other = await openTeam(gateway, 'others');
  scim = await openScimStage(gateway, team.box.workspaceId);
});
afterAll(() => gateway.close());

let persons = 0;
const newName = () => `scim${persons++}@staff.test`;
const member = async (email: string, workspaceId = team.box.workspaceId) =>
  (
    await gateway.owner.pool.query<{ role: string; person_id: string; name: string }>(
      `select m.role, m.person_id, u.name from workspace_member m join person u on u.id = m.person_id
       where u.email = $1 and m.workspace_id = $2`,
      [email, workspaceId],
    )
  ).rows[0] ?? null;
const mapGroups = (groupRoles: Record<string, string>, defaultRole: string | null) =>
  gateway.owner.pool.query(
    `insert into sign_in_provider (workspace_id, issuer, client_id, secret_ciphertext, group_roles, default_role)
     values ($1, 'https://id.test', 'client', 'x', $2, $3)
     on conflict (workspace_id) do update set group_roles = excluded.group_roles, default_role = excluded.default_role`,
    [
      team.box.workspaceId,
      JSON.stringify(Object.entries(groupRoles).map(([group, role]) => ({ group, role }))),
      defaultRole,
    ],
  );
const prove = (email: string) =>
  gateway.owner.pool.query('update person set email_verified = true where email = $1', [email]);
const isValidKey = async (key: string) => (await gateway.call(key, 'GET', '/account')).statusCode === 200;
const canRead = async (browser: ReturnType<typeof openBrowser>, workspaceId: string) =>
  (await browser.auth('GET', '/workspaces')).json().active?.id === workspaceId;

describe('a provisioned user', () => {
  test('becomes a member with the role that single sign-on gives without groups', async () => {
    await gateway.owner.pool.query('delete from sign_in_provider');
    const email = newName();
    const response = await scim.call('POST', '/Users', { userName: email.toUpperCase(), displayName: 'Ann' });
    expect([response.statusCode, response.json()]).toEqual([
      201,
      expect.objectContaining({
        userName: email.toUpperCase(),
        displayName: 'Ann',
        id: expect.stringMatching(/^scu_/),
      }),
    ]);
    expect(response.headers).toMatchObject({
      location: `http://postroom.test/scim/v2/Users/${response.json().id}`,
      etag: 'W/"1"',
      'content-type': 'application/scim+json; charset=utf-8',
    });
    expect(await member(email)).toMatchObject({ role: 'viewer', name: 'Ann' });
    await mapGroups({}, 'agent');
    const second = newName();
    await scim.create('Users', { userName: second });
    expect(await member(second)).toMatchObject({ role: 'agent' });
  });

  test('without an address or a role waits, and becomes a member when it has both', async () => {
    await mapGroups({ Support: 'agent' }, null);
    const email = newName();
    const id = await scim.create('Users', { userName: 'jane', emails: [{ value: email, primary: true }] });
    expect(await member(email)).toBeNull();
    const group = await scim.create('Groups', { displayName: 'Support', members: [{ value: id }] });
    expect(await member(email)).toMatchObject({ role: 'agent' });
    const shown = (await scim.call('GET', `/Users/${id}`)).json();
    expect(shown.groups).toEqual([
      { value: group, display: 'Support', $ref: `http://postroom.test/scim/v2/Groups/${group}` },
    ]);
  });

  test('has the role of its groups, and loses it with them', async () => {
    await mapGroups({ Admins: 'admin', Support: 'agent' }, 'viewer');
    const email = newName();
    const id = await scim.create('Users', { userName: email });
    expect(await member(email)).toMatchObject({ role: 'viewer' });
    const admins = await scim.create('Groups', { displayName: 'Admins' });
    await scim.patch(`/Groups/${admins}`, { op: 'add', path: 'members', value: [{ value: id }] });
    expect(await member(email)).toMatchObject({ role: 'admin' });
    const { person_id: personId } = (await member(email)) ?? { person_id: '' };
    const key = await team.insertPersonKey({ email, personId, browser: team.owner.browser });
    expect(await isValidKey(key)).toBe(true);
    await scim.patch(`/Groups/${admins}`, { op: 'Remove', path: `members[value eq "${id}"]` });
    expect(await member(email)).toMatchObject({ role: 'viewer' });
    expect(await isValidKey(key)).toBe(false);
    await scim.patch(`/Groups/${admins}`, { op: 'add', value: { members: [{ value: id }] } });
    await scim.patch(`/Groups/${admins}`, { op: 'replace', path: 'displayName', value: 'Former admins' });
    expect(await member(email)).toMatchObject({ role: 'viewer' });
    await scim.patch(`/Groups/${admins}`, { op: 'replace', path: 'displayName', value: 'Admins' });
    expect(await member(email)).toMatchObject({ role: 'admin' });
    expect((await scim.call('DELETE', `/Groups/${admins}`)).statusCode).toBe(204);
    expect(await member(email)).toMatchObject({ role: 'viewer' });
  });

  test('keeps a role that an admin gave by hand, while no group decides', async () => {
    await mapGroups({}, 'viewer');
    const email = newName();
    const id = await scim.create('Users', { userName: email });
    const { person_id: personId } = (await member(email)) ?? { person_id: '' };
    await gateway.owner.pool.query(`update workspace_member set role = 'developer' where person_id = $1`, [personId]);
    await scim.patch(`/Users/${id}`, { op: 'replace', path: 'title', value: 'Engineer' });
    expect(await member(email)).toMatchObject({ role: 'developer' });
  });

  test('loses its sessions and keys at once when the directory deactivates or removes it', async () => {
    await mapGroups({}, 'developer');
    for (const end of ['deactivate', 'remove'] as const) {
      const { email, browser, personId } = await team.makePerson();
      await prove(email);
      const id = await scim.create('Users', { userName: email });
      expect((await browser.auth('POST', '/switch-workspace', { workspaceId: team.box.workspaceId })).statusCode).toBe(
        200,
      );
      const key = await team.insertPersonKey({ email, personId, browser });
      expect([await isValidKey(key), await canRead(browser, team.box.workspaceId)]).toEqual([true, true]);
      const response =
        end === 'remove'
          ? await scim.call('DELETE', `/Users/${id}`)
          : await scim.patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' });
      expect(response.statusCode).toBe(end === 'remove' ? 204 : 200);
      expect([await isValidKey(key), (await browser.rest('GET', '/emails')).statusCode]).toEqual([false, 401]);
      expect(await member(email)).toBeNull();
      // Of another workspace, nothing ends: the person's own.
      expect(await member(email, personId)).toMatchObject({ role: 'owner' });
      if (end === 'deactivate') {
        await scim.patch(`/Users/${id}`, { op: 'replace', value: { active: true } });
        expect(await member(email)).toMatchObject({ role: 'developer' });
        expect(await isValidKey(key)).toBe(false);
      }
    }
  });

  test('that is deactivated takes members away who came by an invitation, and their open invitations', async () => {
    await mapGroups({ Nobody: 'agent' }, null);
    const { email } = await team.makeMember('agent');
    const id = await scim.create('Users', { userName: email });
    expect(await member(email)).toMatchObject({ role: 'agent' });
    await scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
    expect(await member(email)).toBeNull();
    const invited = newName();
    await team.invite({ email: invited, role: 'viewer' });
    const second = await scim.create('Users', { userName: invited });
    await scim.call('DELETE', `/Users/${second}`);
    const { rows } = await gateway.owner.pool.query(
      'select revoked_at is not null as revoked from workspace_invitation where email = $1',
      [invited],
    );
    expect(rows).toEqual([{ revoked: true }]);
  });

  test('never takes the last owner away', async () => {
    await mapGroups({ Nobody: 'agent' }, null);
    const { email } = team.owner;
    const id = await scim.create('Users', { userName: email });
    for (const response of [
      await scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false }),
      await scim.call('DELETE', `/Users/${id}`),
    ])
      expect([response.statusCode, response.json().detail]).toEqual([
        409,
        'This user owns the workspace, which always has an owner. Transfer the ownership to another member first.',
      ]);
    expect(await member(email)).toMatchObject({ role: 'owner' });
    const group = await scim.create('Groups', { displayName: 'Nobody', members: [{ value: id }] });
    expect((await scim.call('DELETE', `/Groups/${group}`)).statusCode).toBe(204);
    expect(await member(email)).toMatchObject({ role: 'owner' });
  });

  test('that gets another address stays the same person, if the directory created the account', async () => {
    await mapGroups({}, 'developer');
    const [email, renamed] = [newName(), newName()];
    const id = await scim.create('Users', { userName: email, displayName: 'Before' });
    const { person_id: personId = '' } = (await member(email)) ?? {};
    const response = await scim.patch(`/Users/${id}`, {
      op: 'replace',
      value: { userName: renamed, displayName: 'After' },
    });
    expect(response.statusCode).toBe(200);
    expect(await member(renamed)).toEqual({ role: 'developer', person_id: personId, name: 'After' });
    expect(await member(email)).toBeNull();
    const own = await team.makePerson();
    const linked = await scim.create('Users', { userName: own.email });
    const moved = newName();
    await scim.patch(`/Users/${linked}`, { op: 'replace', path: 'userName', value: moved });
    expect(await member(own.email)).toBeNull();
    expect((await member(moved))?.person_id).not.toBe(own.personId);
  });

  test('that was deactivated is refused by single sign-on', async () => {
    await mapGroups({}, 'agent');
    const email = newName();
    const id = await scim.create('Users', { userName: email });
    await scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
    const { rows } = await gateway.owner.pool.query(
      `select outcome from sign_in_by_provider($1, 'https://id.test someone', $2, '', 'agent', false, false, 'usr_x', 'crd_x', 500)`,
      [team.box.workspaceId, email],
    );
    expect(rows).toEqual([{ outcome: 'no role' }]);
    expect(await member(email)).toBeNull();
  });
});

describe('the directory of a workspace', () => {
  test('takes no address of a domain that its workspace has not verified', async () => {
    for (const userName of [other.owner.email, 'someone@gmail.test']) {
      const response = await scim.call('POST', '/Users', { userName });
      expect([response.statusCode, response.json()]).toEqual([
        400,
        expect.objectContaining({
          schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
          status: '400',
          scimType: 'invalidValue',
          detail: expect.stringContaining('is not verified in this workspace'),
        }),
      ]);
    }
    const id = await scim.create('Users', { userName: 'outsider', emails: [{ value: other.owner.email }] });
    expect(await member(other.owner.email)).toBeNull();
    await scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
    expect(await member(other.owner.email, other.box.workspaceId)).toMatchObject({ role: 'owner' });
  });

  test.each([false, true])(
    'ends the sign-in of someone else with an address of its domain, without proof (invited: %s)',
    async (isInvited) => {
      await mapGroups({}, 'agent');
      const email = newName();
      const stranger = openBrowser(gateway.app);
      if (isInvited) {
        await team.invite({ email, role: 'viewer' });
        const body = { token: await team.readToken(email), name: 'Stranger', newPassword: TEAM_PASSWORD };
        expect((await stranger.auth('POST', '/sign-up/invitation', body)).statusCode).toBe(200);
      } else await stranger.auth('POST', '/sign-up/email', { name: 'Stranger', email, password: TEAM_PASSWORD });
      expect((await stranger.auth('GET', '/workspaces')).statusCode).toBe(200);
      await scim.create('Users', { userName: email });
      expect(await member(email)).toMatchObject({ role: isInvited ? 'viewer' : 'agent' });
      expect((await stranger.auth('GET', '/workspaces')).statusCode).toBe(401);
      const again = await openBrowser(gateway.app).auth('POST', '/sign-in/email', { email, password: TEAM_PASSWORD });
      expect(again.statusCode).toBe(401);
    },
  );

  test('sees and changes nothing of another workspace', async () => {
    const foreign = await openScimStage(gateway, other.box.workspaceId);
    const [user, group] = [
      await scim.create('Users', { userName: newName() }),
      await scim.create('Groups', { displayName: 'Ours' }),
    ];
    for (const path of [`/Users/${user}`, `/Groups/${group}`]) {
      for (const method of ['GET', 'DELETE'] as const) expect((await foreign.call(method, path)).statusCode).toBe(404);
      expect((await foreign.patch(path, { op: 'replace', path: 'displayName', value: 'x' })).statusCode).toBe(404);
      expect((await foreign.call('PUT', path, { userName: 'x', displayName: 'x' })).statusCode).toBe(404);
    }
    for (const list of ['/Users', '/Groups']) expect((await foreign.call('GET', list)).json().totalResults).toBe(0);
    const stolen = await foreign.call('POST', '/Groups', { displayName: 'Theirs', members: [{ value: user }] });
    expect([stolen.statusCode, stolen.json().scimType]).toEqual([400, 'invalidValue']);
  });

  test('needs the token of an open workspace', async () => {
    for (const authorization of ['', 'Bearer scim_wrong', `Bearer ${team.box.apiKey}`, `Basic ${scim.token}`]) {
      const response = await scim.call('GET', '/Users', undefined, { authorization });
      expect([response.statusCode, response.json().status]).toEqual([401, '401']);
      expect(response.headers['www-authenticate']).toBe('Bearer realm="SCIM"');
    }
    expect((await gateway.call(scim.token, 'GET', '/emails')).statusCode).toBe(401);
    const closing = await openTeam(gateway, 'closing');
    const { call } = await openScimStage(gateway, closing.box.workspaceId);
    expect((await call('GET', '/Users')).statusCode).toBe(200);
    await gateway.owner.pool.query('update workspace set suspended_at = now() where id = $1', [
      closing.box.workspaceId,
    ]);
    expect((await call('GET', '/Users')).statusCode).toBe(401);
  });

  test('creates one member of 50 requests at once, and refuses the others', async () => {
    await mapGroups({}, 'agent');
    const email = newName();
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => scim.call('POST', '/Users', { userName: email })),
    );
    expect(responses.filter(({ statusCode }) => statusCode === 201)).toHaveLength(1);
    const refused = responses.filter(({ statusCode }) => statusCode === 409);
    expect(refused).toHaveLength(49);
    expect(refused[0]?.json()).toMatchObject({ status: '409', scimType: 'uniqueness' });
  });

  test('loses no change of 50 requests at once to a group', async () => {
    await mapGroups({ Team: 'developer' }, 'viewer');
    const emails = Array.from({ length: 20 }, newName);
    const ids = await Promise.all(emails.map((userName) => scim.create('Users', { userName })));
    const group = await scim.create('Groups', { displayName: 'Team' });
    await Promise.all(
      ids.map((value) => scim.patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value }] })),
    );
    expect((await scim.call('GET', `/Groups/${group}`)).json().members).toHaveLength(20);
    const roles = await Promise.all(emails.map((email) => member(email)));
    expect(new Set(roles.map((each) => each?.role))).toEqual(new Set(['developer']));
  });

  test('that is killed before the commit of a removal changes nothing, and the next try does', async () => {
    await mapGroups({}, 'developer');
    const { email, browser, personId } = await team.makePerson();
    const id = await scim.create('Users', { userName: email });
    const key = await team.insertPersonKey({ email, personId, browser });
    fault = 'members.before-commit';
    expect((await scim.call('DELETE', `/Users/${id}`)).statusCode).toBe(500);
    fault = null;
    expect([await isValidKey(key), (await scim.call('GET', `/Users/${id}`)).statusCode]).toEqual([true, 200]);
    fault = 'members.after-commit';
    expect((await scim.call('DELETE', `/Users/${id}`)).statusCode).toBe(500);
    fault = null;
    expect([await member(email), (await scim.call('DELETE', `/Users/${id}`)).statusCode]).toEqual([null, 404]);
  });
});

describe('the token of a directory', () => {
  test('is made and revoked by the owner after a fresh sign-in, is stored as a hash, and shown once', async () => {
    const { browser, personId } = other.owner;
    await gateway.owner.pool.query('delete from scim_token where workspace_id = $1', [other.box.workspaceId]);
    const made = await browser.rest('POST', '/scim/token', {}, { name: 'Okta' });
    const { secret, token, url } = made.json();
    expect([made.statusCode, url, secret]).toEqual([
      200,
      'http://postroom.test/scim/v2',
      expect.stringMatching(/^scim_[\w-]{43}$/),
    ]);
    const shown = await browser.graphql('{ scimDirectory { url token { id name createdBy lastUsedAt } users } }');
    expect(shown.json().data.scimDirectory).toMatchObject({
      token: { id: token.id, name: 'Okta', createdBy: other.owner.email, lastUsedAt: null },
    });
    expect(shown.body).not.toContain(secret);
    const stored = await gateway.owner.pool.query('select t::text as row from scim_token t where workspace_id = $1', [
      personId,
    ]);
    expect(stored.rows[0]?.row).not.toContain(secret);
    const call = (given: string) =>
      gateway.app.inject({ url: '/scim/v2/Users', headers: { authorization: `Bearer ${given}` } });
    expect((await call(secret)).statusCode).toBe(200);
    const renewed = (
      await browser.graphql(
        'mutation { createScimToken(input: { name: "Entra" }) { ... on CreateScimTokenPayload { directory { secret token { id } } } } }',
      )
    ).json();
    const { secret: next, token: present } = renewed.data.createScimToken.directory;
    expect([(await call(secret)).statusCode, (await call(next)).statusCode]).toEqual([401, 200]);
    expect((await browser.rest('DELETE', `/scim/token/${token.id}`)).statusCode).toBe(404);
    const revoked = await browser.rest('DELETE', `/scim/token/${present.id}`);
    expect([revoked.statusCode, revoked.json().token, (await call(next)).statusCode]).toEqual([200, null, 401]);
    const { rows } = await gateway.owner.pool.query(
      `select action, actor_kind, actor_id from audit_entry where workspace_id = $1 and object_kind = 'scim_token' order by created_at, id`,
      [other.box.workspaceId],
    );
    expect(rows.map(({ action }) => action).filter((action) => action === 'scim_token.created')).toHaveLength(3);
    expect(rows.at(-1)).toEqual({ action: 'scim_token.deleted', actor_kind: 'person', actor_id: personId });
  });

  test('is refused to others than the owner, to API keys, and without a fresh sign-in', async () => {
    const admin = await other.makeMember('admin');
    expect((await admin.browser.rest('POST', '/scim/token', {}, { name: 'x' })).statusCode).toBe(403);
    expect((await admin.browser.rest('GET', '/scim')).statusCode).toBe(200);
    expect((await gateway.call(other.box.apiKey, 'POST', '/scim/token', { name: 'x' })).statusCode).toBe(403);
    await gateway.owner.pool.query(
      `update auth_session set confirmed_at = now() - interval '6 minutes' where person_id = $1`,
      [other.owner.personId],
    );
    gateway.bus.publish('credential.changed', { ownerId: other.owner.personId });
    const stale = other.owner.browser;
    await waitFor(async () => {
      const response = await stale.rest('POST', '/scim/token', {}, { name: 'x' });
      expect([response.statusCode, response.json().code]).toEqual([403, 'SIGN_IN_AGAIN']);
    });
    expect((await stale.rest('DELETE', '/scim/token/sct_x')).json().code).toBe('SIGN_IN_AGAIN');
  });

  test('is named by the audit log as the one who changed members', async () => {
    const email = newName();
    await mapGroups({}, 'agent');
    await scim.create('Users', { userName: email });
    const { rows } = await gateway.owner.pool.query(
      `select action, actor_kind, actor_name from audit_entry where workspace_id = $1 and object_kind = 'member' and object_name = $2`,
      [team.box.workspaceId, email],
    );
    expect(rows).toEqual([{ action: 'member.created', actor_kind: 'key', actor_name: 'Directory' }]);
  });
});

const letters = (count: number) => randomBytes(count).toString('hex').slice(0, count);

describe('a request of SCIM', () => {
  test('is refused when it is malformed or too large, with what is allowed', async () => {
    const id = await scim.create('Users', { userName: newName() });
    const nested = `${'('.repeat(40)}id pr${')'.repeat(40)}`;
    const many = Array.from({ length: 40 }, () => 'id pr').join(' or ');
    const cases: [request: ReturnType<ScimStage['call']>, status: number, type: string | undefined][] = [
      [scim.call('POST', '/Users', '{'), 400, 'invalidSyntax'],
      [scim.call('POST', '/Users', '[]'), 400, 'invalidSyntax'],
      [scim.call('POST', '/Users', {}), 400, 'invalidValue'],
      [scim.call('POST', '/Users', { userName: 7 }), 400, 'invalidValue'],
      [scim.call('POST', '/Users', { userName: 'a\0b' }), 400, 'invalidValue'],
      [scim.call('POST', '/Users', { userName: 'a', active: 'perhaps' }), 400, 'invalidValue'],
      [scim.call('POST', '/Users', { userName: letters(1_025) }), 400, 'invalidValue'],
      [scim.call('POST', '/Users', { userName: 'a', emails: Array(51).fill({ value: 'x' }) }), 400, 'tooMany'],
      [
        scim.call('POST', '/Users', { userName: 'a', emails: Array(50).fill({ value: letters(1_000) }) }),
        413,
        undefined,
      ],
      [scim.call('POST', '/Users', JSON.stringify({ userName: letters(2_000_000) })), 413, undefined],
      [scim.call('POST', '/Groups', { displayName: 'x', members: Array(2_001).fill({ value: 'x' }) }), 400, 'tooMany'],
      [scim.call('POST', '/Groups', { displayName: 'x', members: [{ value: 'unknown' }] }), 400, 'invalidValue'],
      [scim.call('PATCH', `/Users/${id}`, {}), 400, 'invalidSyntax'],
      [scim.patch(`/Users/${id}`, ...Array(501).fill({ op: 'add', path: 'title', value: 'x' })), 400, 'tooMany'],
      [scim.patch(`/Users/${id}`, { op: 'move', path: 'title' }), 400, 'invalidSyntax'],
      [scim.patch(`/Users/${id}`, { op: 'remove' }), 400, 'noTarget'],
      [scim.patch(`/Users/${id}`, { op: 'remove', path: 'userName' }), 400, 'mutability'],
      [scim.patch(`/Users/${id}`, { op: 'replace', path: 'groups', value: [] }), 400, 'mutability'],
      [scim.patch(`/Users/${id}`, { op: 'replace', path: '__proto__.x', value: 'x' }), 400, 'invalidPath'],
      [scim.patch(`/Users/${id}`, { op: 'replace', path: 'emails[type eq "work"', value: 'x' }), 400, 'invalidPath'],
      [
        scim.patch(`/Users/${id}`, { op: 'replace', path: 'emails[type eq "pager"].value', value: 'x' }),
        400,
        'noTarget',
      ],
      [scim.call('GET', `/Users?filter=${encodeURIComponent(nested)}`), 400, 'invalidFilter'],
      [scim.call('GET', `/Users?filter=${encodeURIComponent(many)}`), 400, 'invalidFilter'],
      [scim.call('GET', `/Users?filter=${encodeURIComponent('password eq "x"')}`), 400, 'invalidFilter'],
      [scim.call('GET', `/Users?filter=${encodeURIComponent('userName like "x"')}`), 400, 'invalidFilter'],
      [scim.call('GET', `/Users?filter=${encodeURIComponent('userName eq x')}`), 400, 'invalidFilter'],
      [scim.call('GET', `/Users?filter=${encodeURIComponent('userName eq "x" and')}`), 400, 'invalidFilter'],
      [
        scim.call('GET', `/Users?filter=${encodeURIComponent('userName eq "x" or 1=1; drop table \'x\'')}`),
        400,
        'invalidFilter',
      ],
      [scim.call('GET', '/Users?startIndex=x'), 400, 'invalidValue'],
      [scim.call('GET', '/Users?attributes=title&excludedAttributes=name'), 400, 'invalidSyntax'],
      [scim.call('GET', '/Users/none'), 404, undefined],
      [scim.call('GET', '/Nothing'), 404, undefined],
      [scim.call('DELETE', '/Users'), 405, undefined],
      [scim.call('POST', '/Bulk', {}), 501, undefined],
      [scim.call('PUT', `/Users/${id}`, { userName: newName() }, { 'if-match': 'W/"9"' }), 412, undefined],
      [scim.call('DELETE', `/Users/${id}`, undefined, { 'if-match': 'nonsense' }), 412, undefined],
    ];
    for (const [index, [request, status, type]] of cases.entries()) {
      const response = await request;
      const body = response.json();
      expect([index, response.statusCode, body.scimType, body.status], response.body).toEqual([
        index,
        status,
        type,
        String(status),
      ]);
      expect(body.detail.length).toBeGreaterThan(10);
    }
  });

  test('finds resources by filters and pages of at most 100', async () => {
    const { call, create } = await openScimStage(gateway, (await openTeam(gateway, 'filters')).box.workspaceId);
    const ids = await Promise.all(
      ['ann', 'bob', 'Cy'].map((name, index) =>
        create('Users', {
          userName: `${name}@filters.test`,
          externalId: `EXT-${name}`,
          title: `100%_${name}`,
          active: index !== 1,
          name: { givenName: name },
          emails: [{ value: `${name}@mail.test`, type: index === 0 ? 'work' : 'home', primary: true }],
          'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'Sales' },
        }),
      ),
    );
    const group = await create('Groups', { displayName: 'All', members: ids.slice(0, 2).map((value) => ({ value })) });
    const find = async (list: string, filter: string) =>
      (await call('GET', `/${list}?filter=${encodeURIComponent(filter)}`)).json().totalResults;
    const found: [list: string, filter: string, count: number][] = [
      ['Users', 'userName eq "ANN@filters.test"', 1],
      ['Users', 'urn:ietf:params:scim:schemas:core:2.0:User:userName sw "b"', 1],
      ['Users', 'externalId eq "EXT-ann"', 1],
      ['Users', 'externalId eq "ext-ann"', 0],
      ['Users', `id eq "${ids[2]}"`, 1],
      ['Users', 'userName co "@filters" and active eq true', 2],
      ['Users', 'active eq "False"', 1],
      ['Users', 'not (active eq true)', 1],
      ['Users', 'userName eq "x" or (name.givenName eq "cy" and title pr)', 1],
      ['Users', 'emails.value eq "bob@mail.test"', 1],
      ['Users', 'emails eq "bob@mail.test"', 1],
      ['Users', 'emails[type eq "work" and value co "ann"]', 1],
      ['Users', 'emails[type eq "work" and value co "bob"]', 0],
      ['Users', 'title co "%_"', 3],
      ['Users', 'title ew "nn"', 1],
      ['Users', 'nickName pr', 0],
      ['Users', 'nickName eq null', 3],
      ['Users', 'meta.created gt "2020-01-01T00:00:00Z"', 3],
      ['Users', 'meta.lastModified lt "2020-01-01T00:00:00Z"', 0],
      ['Users', 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "sales"', 3],
      ['Groups', 'displayName eq "all"', 1],
      ['Groups', `members.value eq "${ids[0]}"`, 1],
      ['Groups', `members[value eq "${ids[2]}"]`, 0],
      ['Groups', `members eq "${ids[1]}" and id eq "${group}"`, 1],
    ];
    for (const [list, filter, count] of found) expect([filter, await find(list, filter)]).toEqual([filter, count]);

    const page = (await call('GET', '/Users?startIndex=2&count=1&attributes=userName')).json();
    expect(page).toMatchObject({ totalResults: 3, startIndex: 2, itemsPerPage: 1 });
    expect(Object.keys(page.Resources[0])).toEqual(['schemas', 'id', 'userName']);
    expect((await call('GET', '/Users?count=0')).json()).toMatchObject({ totalResults: 3, Resources: [] });
    expect((await call('GET', '/Users?startIndex=-5&count=1000')).json()).toMatchObject({
      startIndex: 1,
      itemsPerPage: 3,
    });
    const searched = await call('POST', '/Users/.search', {
      filter: 'userName sw "ann"',
      attributes: ['name.givenName'],
    });
    expect(searched.json().Resources).toEqual([{ schemas: expect.any(Array), id: ids[0], name: { givenName: 'ann' } }]);
    const first = await call('GET', `/Users/${ids[0]}`);
    const same = await call('GET', `/Users/${ids[0]}`, undefined, { 'if-none-match': String(first.headers['etag']) });
    expect(same.statusCode).toBe(304);
  });

  test('changes what Microsoft Entra and Okta change in their ways', async () => {
    const id = await scim.create('Users', {
      userName: newName(),
      emails: [{ value: 'a@x.test', type: 'work', primary: true }],
    });
    const response = await scim.patch(
      `/Users/${id}`,
      { op: 'Add', path: 'emails[type eq "home"].value', value: 'b@x.test' },
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'c@x.test' },
      { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '123' },
      { op: 'replace', value: { 'name.givenName': 'Ann', active: 'True', roles: ['ignored'], id: 'ignored' } },
      { op: 'Add', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department', value: 'Sales' },
      { op: 'Add', path: 'urn:ietf:params:scim:schemas:core:2.0:User:title', value: 'Boss' },
    );
    expect([response.statusCode, response.json()]).toEqual([
      200,
      expect.objectContaining({
        id,
        active: true,
        title: 'Boss',
        name: { givenName: 'Ann' },
        emails: [
          { value: 'c@x.test', type: 'work', primary: true },
          { value: 'b@x.test', type: 'home' },
        ],
        phoneNumbers: [{ value: '123', type: 'mobile' }],
        'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'Sales' },
      }),
    ]);
    expect(response.headers['etag']).toBe('W/"2"');
    const replaced = await scim.call('PUT', `/Users/${id}`, { userName: newName(), title: 'New' });
    expect(replaced.json()).toMatchObject({ title: 'New' });
    expect(replaced.json().emails).toBeUndefined();
  });
});
