import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { settleKeys } from '../../../actors/scheduling/settle-expired-keys.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';
import { readServiceMail } from '../../support/stages/service-mail.ts';
import { openTeam, TEAM_PASSWORD, type TeamStage } from '../../support/stages/team-stage.ts';

let gateway: TestGateway;
let team: TeamStage;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { isSignUpOpen: false, rateLimitPerSecond: 0 } });
  team = await openTeam(gateway, 'team');
  await insertMail(gateway.owner, [
    { workspaceId: team.box.workspaceId, ownAddress: team.box.address, subject: 'For the team' },
  ]);
});
afterAll(() => gateway.close());

const problem = (response: { statusCode: number; json: () => { code?: string } }) => [
  response.statusCode,
  response.json().code,
];
const subjects = async (browser: BrowserSession) =>
  (await browser.rest('GET', '/emails')).json().data?.map(({ subject }: { subject: string }) => subject);
const readRole = async (personId: string, workspaceId = team.box.workspaceId) =>
  (
    await gateway.owner.pool.query('select role from workspace_member where person_id = $1 and workspace_id = $2', [
      personId,
      workspaceId,
    ])
  ).rows[0]?.role ?? null;
const makeKey = async (scopes: readonly string[] | null): Promise<{ id: string; token: string }> =>
  (await gateway.call(team.box.apiKey, 'POST', '/api-keys', { name: 'test', scopes })).json();
const isValidKey = async (key: string) => (await gateway.call(key, 'GET', '/account')).statusCode === 200;

describe('an invitation', () => {
  test('makes a second person a viewer, who then reads the inbox and changes nothing', async () => {
    const { email, browser } = await team.makePerson();
    expect(await subjects(browser)).toEqual([]);
    const invited = await team.invite({ email: email.toUpperCase(), role: 'viewer' });
    expect([invited.statusCode, invited.json()]).toEqual([
      200,
      expect.objectContaining({ object: 'invitation', email, role: 'viewer', status: 'open' }),
    ]);
    const token = await team.readToken(email);
    const shown = (await openBrowser(gateway.app).auth('POST', '/invitation', { token })).json();
    expect(shown).toMatchObject({ email, role: 'viewer', state: 'open', hasAccount: true });
    expect((await team.accept(browser, token)).json()).toEqual({ status: true, workspaceId: team.box.workspaceId });
    expect(await subjects(browser)).toEqual(['For the team']);
    const marked = await browser.rest('POST', '/emails/bulk', {}, { ids: ['em_none'], is_read: true });
    expect(problem(marked)).toEqual([403, 'insufficient_role']);
    const members = (await browser.rest('GET', '/members')).json().data;
    expect(members).toMatchObject([
      { role: 'owner', is_you: false },
      { role: 'viewer', is_you: true, email },
    ]);
  });

  test('is accepted with a new sign-in where sign-up is closed', async () => {
    const email = 'new@elsewhere.test';
    await team.invite({ email, role: 'agent' });
    const token = await team.readToken(email);
    const browser = openBrowser(gateway.app);
    expect(
      problem(await browser.auth('POST', '/sign-up/email', { email, name: 'N', password: TEAM_PASSWORD }))[0],
    ).toBe(400);
    const weak = await browser.auth('POST', '/sign-up/invitation', { token, name: 'New', newPassword: 'short' });
    expect(weak.statusCode).toBe(400);
    const joined = await browser.auth('POST', '/sign-up/invitation', {
      token,
      name: 'New',
      newPassword: TEAM_PASSWORD,
    });
    expect(joined.json()).toEqual({ status: true, workspaceId: team.box.workspaceId });
    expect(await subjects(browser)).toEqual(['For the team']);
    const person = (await browser.graphql('{ viewer { id person { name role rights } } }')).json().data.viewer;
    expect(person).toMatchObject({ id: team.box.workspaceId, person: { name: 'New', role: 'AGENT' } });
    // Later sign-ins begin in the workspace that was used last.
    expect(await subjects(await team.signIn(email))).toEqual(['For the team']);
  });

  test('is refused to a new sign-in of an address that can sign in', async () => {
    const { email } = await team.makePerson();
    await team.invite({ email, role: 'viewer' });
    const body = { token: await team.readToken(email), name: 'Twice', newPassword: 'another password' };
    const refused = await openBrowser(gateway.app).auth('POST', '/sign-up/invitation', body);
    expect(problem(refused)).toEqual([409, 'SIGN_IN_FIRST']);
  });

  test('is accepted once, by fifty requests at once, and not again', async () => {
    const { email, browser } = await team.makePerson();
    await team.invite({ email, role: 'viewer' });
    const token = await team.readToken(email);
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => team.accept(browser, token)));
    const codes = outcomes.map((response) => response.statusCode);
    expect(codes.filter((code) => code === 200)).toHaveLength(1);
    expect(new Set(codes)).toEqual(new Set([200, 409]));
    expect(problem(await team.accept(browser, token))).toEqual([409, 'INVITATION_ACCEPTED']);
  });

  test('is for its address only', async () => {
    const [invited, other] = [await team.makePerson(), await team.makePerson()];
    await team.invite({ email: invited.email, role: 'viewer' });
    const refused = await team.accept(other.browser, await team.readToken(invited.email));
    expect(problem(refused)).toEqual([403, 'INVITATION_FOR_OTHER_ADDRESS']);
    expect(await readRole(other.personId)).toBeNull();
  });

  test('expires after 7 days, and can then be sent again', async () => {
    const { email, browser } = await team.makePerson();
    const { id } = (await team.invite({ email, role: 'viewer' })).json();
    const first = await team.readToken(email);
    await gateway.owner.pool.query(
      `update workspace_invitation set expires_at = expires_at - interval '7 days', sent_at = sent_at - interval '7 days' where id = $1`,
      [id],
    );
    expect(problem(await team.accept(browser, first))).toEqual([410, 'INVITATION_EXPIRED']);
    const sent = await team.resend(id);
    expect(sent.json()).toMatchObject({ id, status: 'open' });
    expect(problem(await team.accept(browser, first))).toEqual([404, 'INVITATION_NOT_FOUND']);
    const again = await team.resend(id);
    expect(problem(again)).toEqual([409, 'INVITATION_JUST_SENT']);
    expect((await team.accept(browser, await team.readToken(email))).statusCode).toBe(200);
  });

  test('does not work after it was revoked, and an accepted one is not revoked', async () => {
    const { email, browser } = await team.makePerson();
    const { id } = (await team.invite({ email, role: 'viewer' })).json();
    const revoke = () => team.owner.browser.rest('DELETE', `/invitations/${id}`);
    expect((await revoke()).json()).toMatchObject({ id, status: 'revoked' });
    expect((await revoke()).json()).toMatchObject({ id, status: 'revoked' });
    expect(problem(await team.accept(browser, await team.readToken(email)))).toEqual([410, 'INVITATION_REVOKED']);
    const second = (await team.invite({ email, role: 'viewer' })).json();
    expect((await team.accept(browser, await team.readToken(email))).statusCode).toBe(200);
    const late = await team.owner.browser.rest('DELETE', `/invitations/${second.id}`);
    expect(problem(late)).toEqual([409, 'INVITATION_ACCEPTED']);
  });

  test('is refused with a clear error for a member, an address that is invited, an unknown role and a wrong address', async () => {
    const { email } = await team.makePerson();
    await team.invite({ email, role: 'viewer' });
    expect(problem(await team.invite({ email, role: 'agent' }))).toEqual([409, 'ALREADY_INVITED']);
    expect(problem(await team.invite({ email: team.owner.email, role: 'agent' }))).toEqual([409, 'ALREADY_MEMBER']);
    for (const body of [
      { email: 'x@team.test', role: 'king' },
      { email: 'x@team.test', role: 'owner' },
      { email: 'no address', role: 'agent' },
      { email: 'x@team.test', role: 'admin', domains: ['team.test'] },
      { email: 'x@team.test', role: 'agent', domains: ['elsewhere.test'] },
      { email: 'x@team.test', role: 'agent', domains: [], addresses: [] },
      { email: 'x@team.test', role: 'agent', addresses: ['sales@elsewhere.test'] },
      { email: 'x@team.test', role: 'agent', limits: { addresses: ['sales@team.test'] } },
    ])
      expect((await team.invite(body)).statusCode, JSON.stringify(body)).toBe(400);
  });

  test('gives no role with more rights than the key of the request has', async () => {
    const { rows } = await gateway.owner.pool.query(
      `insert into api_key (id, workspace_id, name, secret_sha256, scopes)
       values ('key_manage', $1, 'test', sha256('manages-and-nothing-else'), '{manage}') returning id`,
      [team.box.workspaceId],
    );
    expect(rows).toHaveLength(1);
    const body = { email: 'y@team.test', role: 'viewer' };
    const refused = await gateway.call('manages-and-nothing-else', 'POST', '/invitations', body);
    expect(problem(refused)).toEqual([403, 'MORE_RIGHTS']);
  });

  test('mails no link and no line that the names of workspaces and persons bring', async () => {
    const { email } = await team.makePerson();
    await team.owner.browser.rest(
      'PATCH',
      '/workspace',
      {},
      { name: 'Win at https://evil.test/now\r\nBcc: x@evil.test' },
    );
    await team.invite({ email, role: 'viewer' });
    const [mail = ''] = await readServiceMail(gateway.owner, email);
    expect(mail).not.toMatch(/evil\.test|^Bcc/m);
    expect(mail).toContain('Win at https evil test now');
    await team.owner.browser.rest('PATCH', '/workspace', {}, { name: 'Team' });
  });
});

test('invitations are mailed to an address at most 10 times a day, and 500 times by a workspace', async () => {
  const mailer = await openTeam(gateway, 'mailer');
  const invite = async (email: string) => {
    const invited = await mailer.invite({ email, role: 'viewer' });
    if (invited.statusCode === 200) await mailer.owner.browser.rest('DELETE', `/invitations/${invited.json().id}`);
    return [invited.statusCode, invited.json().message];
  };
  const victim = 'victim@elsewhere.test';
  for (let mails = 0; mails < 10; mails++) expect((await invite(victim))[0]).toBe(200);
  const [status, message] = await invite(victim);
  expect(status).toBe(429);
  expect(message).toMatch(/^Invitations of one address are limited to 10 per day\. Retry after \d+ seconds\.$/);
  expect(await readServiceMail(gateway.owner, victim)).toHaveLength(10);
  expect((await invite('other@elsewhere.test'))[0]).toBe(200);
  await gateway.owner.pool.query(
    `update request_window set leases = array[row('x', now(), 500, now() + interval '1 hour')::request_lease]
     where workspace_id = $1 || ':invitations'`,
    [mailer.box.workspaceId],
  );
  expect((await invite('third@elsewhere.test'))[0]).toBe(429);
});

test('a request that mails no invitation does not count as one', async () => {
  const mailer = await openTeam(gateway, 'uncounted');
  const email = 'waiting@elsewhere.test';
  const { id } = (await mailer.invite({ email, role: 'viewer' })).json();
  const resend = () => mailer.owner.browser.rest('POST', `/invitations/${id}/resend`, {}, {});
  for (let requests = 0; requests < 11; requests++) {
    expect(problem(await mailer.invite({ email, role: 'viewer' }))).toEqual([409, 'ALREADY_INVITED']);
    expect(problem(await mailer.invite({ email: mailer.owner.email, role: 'viewer' }))).toEqual([
      409,
      'ALREADY_MEMBER',
    ]);
    expect(problem(await resend())).toEqual([409, 'INVITATION_JUST_SENT']);
  }
  const wait = `update workspace_invitation set sent_at = sent_at - interval '2 minutes' where id = $1`;
  for (let mails = 1; mails < 10; mails++) {
    await gateway.owner.pool.query(wait, [id]);
    expect((await resend()).statusCode).toBe(200);
  }
  await gateway.owner.pool.query(wait, [id]);
  const link = await mailer.readToken(email);
  expect((await resend()).statusCode).toBe(429);
  // The link of the last mail still works.
  const body = { token: link, name: 'New', newPassword: TEAM_PASSWORD };
  expect((await openBrowser(gateway.app).auth('POST', '/sign-up/invitation', body)).statusCode).toBe(200);
  expect(await readServiceMail(gateway.owner, email)).toHaveLength(10);
});

describe('an open invitation', () => {
  const ANY = ['read', 'send', 'manage', 'approve'];
  let invited = 0;
  /** Creates a key and invites a person with it. */
  async function inviteWithKey(role: string, scopes: readonly string[] | null) {
    const { json } = await gateway.call(team.box.apiKey, 'POST', '/api-keys', { name: 'inviter', scopes });
    const { id: keyId, token } = json();
    const email = `by-key-${invited++}@elsewhere.test`;
    const made = await gateway.call(token, 'POST', '/invitations', { email, role });
    expect(made.statusCode, made.body).toBe(200);
    return { keyId: keyId as string, token: token as string, email, link: await team.readToken(email) };
  }
  const join = (link: string) =>
    openBrowser(gateway.app).auth('POST', '/sign-up/invitation', {
      token: link,
      name: 'New',
      newPassword: TEAM_PASSWORD,
    });
  const call = (method: string, path: string, body?: object) => gateway.call(team.box.apiKey, method, path, body);

  test.each([
    ['revoked', 'agent', ANY, (id: string) => call('DELETE', `/api-keys/${id}`)],
    ['revoked, with full rights', 'admin', null, (id: string) => call('DELETE', `/api-keys/${id}`)],
    [
      'left without approve',
      'admin',
      ANY,
      (id: string) => call('PATCH', `/api-keys/${id}`, { scopes: ['read', 'send', 'manage'] }),
    ],
    [
      'left without manage',
      'viewer',
      ['read', 'manage'],
      (id: string) => call('PATCH', `/api-keys/${id}`, { scopes: ['read'] }),
    ],
  ] as const)('ends when the key that invited is %s', async (_what, role, scopes, end) => {
    const { keyId, link } = await inviteWithKey(role, scopes);
    expect((await end(keyId)).statusCode).toBe(200);
    expect(problem(await join(link))).toEqual([410, 'INVITATION_REVOKED']);
  });

  test('ends when the key that invited has expired', async () => {
    const { keyId, link } = await inviteWithKey('agent', ANY);
    await gateway.owner.pool.query(`update api_key set expires_at = now() - interval '1 s' where id = $1`, [keyId]);
    expect(await settleKeys(testActorContext(gateway.actor))).toBe(1);
    expect(problem(await join(link))).toEqual([410, 'INVITATION_REVOKED']);
  });

  test('stays when the key keeps the rights of the role, and when another key takes over', async () => {
    const first = await inviteWithKey('viewer', ANY);
    await call('PATCH', `/api-keys/${first.keyId}`, { scopes: ['read', 'manage'] });
    expect((await join(first.link)).statusCode).toBe(200);
    const second = await inviteWithKey('agent', ANY);
    expect((await call('DELETE', `/api-keys/${second.keyId}?keep_configuration=true`)).statusCode).toBe(200);
    expect((await join(second.link)).statusCode).toBe(200);
  });

  test.each([
    ['was removed', (id: string) => team.owner.browser.rest('DELETE', `/members/${id}`)],
    [
      'may no longer invite',
      (id: string) => team.owner.browser.rest('PATCH', `/members/${id}`, {}, { role: 'developer' }),
    ],
  ])('ends when the member who invited %s', async (_what, end) => {
    const admin = await team.makeMember('admin');
    const email = `by-member-${invited++}@elsewhere.test`;
    await team.invite({ email, role: 'admin' }, admin.browser);
    const link = await team.readToken(email);
    expect((await end(admin.personId)).statusCode).toBe(200);
    expect(problem(await join(link))).toEqual([410, 'INVITATION_REVOKED']);
    // The address can be invited again.
    expect((await team.invite({ email, role: 'viewer' })).statusCode).toBe(200);
  });

  test('stays when the member who removes the inviter keeps what the inviter set up', async () => {
    const admin = await team.makeMember('admin');
    const email = `kept-${invited++}@elsewhere.test`;
    const { id } = (await team.invite({ email, role: 'viewer' }, admin.browser)).json();
    await team.owner.browser.rest('DELETE', `/members/${admin.personId}?keep_keys=true`);
    const listed = (await team.owner.browser.rest('GET', '/invitations')).json().data;
    expect(listed.find((each: { id: string }) => each.id === id)).toMatchObject({
      status: 'open',
      invited_by: 'person0',
    });
    expect((await join(await team.readToken(email))).statusCode).toBe(200);
  });
});

describe('an invitation that is kept', () => {
  let kept = 0;
  const removeAdmin = async (by: string) => {
    const admin = await team.makeMember('admin');
    const email = `bound-${kept++}@elsewhere.test`;
    await team.invite({ email, role: 'viewer' }, admin.browser);
    const removed = await gateway.call(by, 'DELETE', `/members/${admin.personId}?keep_keys=true`);
    expect(removed.statusCode, removed.body).toBe(200);
    return team.readToken(email);
  };
  const joinBy = async (token: string) => {
    const body = { token, name: 'New', newPassword: TEAM_PASSWORD };
    return problem(await openBrowser(gateway.app).auth('POST', '/sign-up/invitation', body));
  };

  test('by an API key ends with that key', async () => {
    const key = await makeKey(['read', 'manage']);
    const [first, second] = [await removeAdmin(key.token), await removeAdmin(key.token)];
    expect(await joinBy(first)).toEqual([200, undefined]);
    await gateway.call(team.box.apiKey, 'DELETE', `/api-keys/${key.id}`);
    expect(await joinBy(second)).toEqual([410, 'INVITATION_REVOKED']);
  });

  test('by an API key without the rights of its role ends at once', async () => {
    const key = await makeKey(['send', 'manage']);
    expect(await joinBy(await removeAdmin(key.token))).toEqual([410, 'INVITATION_REVOKED']);
  });

  test('by a member who revokes the key that invited ends with that member', async () => {
    const key = await makeKey(null);
    const admin = await team.makeMember('admin');
    const email = `bound-${kept++}@elsewhere.test`;
    await gateway.call(key.token, 'POST', '/invitations', { email, role: 'viewer' });
    const revoked = await admin.browser.rest('DELETE', `/api-keys/${key.id}?keep_configuration=true`);
    expect(revoked.statusCode, revoked.body).toBe(200);
    await team.owner.browser.rest('DELETE', `/members/${admin.personId}`);
    expect(await joinBy(await team.readToken(email))).toEqual([410, 'INVITATION_REVOKED']);
  });

  test('is not accepted when its inviter may not invite, however that came', async () => {
    const admin = await team.makeMember('admin');
    const email = `bound-${kept++}@elsewhere.test`;
    await team.invite({ email, role: 'viewer' }, admin.browser);
    await gateway.owner.pool.query(
      `update workspace_member set role = 'agent' where person_id = $1 and workspace_id = $2`,
      [admin.personId, team.box.workspaceId],
    );
    expect(await joinBy(await team.readToken(email))).toEqual([410, 'INVITATION_REVOKED']);
  });
});

describe('a member who is removed', () => {
  test('loses the session in the workspace and the own keys at once, and keeps the own workspace', async () => {
    const person = await team.makeMember('developer');
    const key = await team.insertPersonKey(person);
    expect(await isValidKey(key)).toBe(true);
    expect(await subjects(person.browser)).toEqual(['For the team']);
    const removed = await team.owner.browser.rest('DELETE', `/members/${person.personId}`);
    expect(removed.json()).toMatchObject({ success: true, id: person.personId });
    expect((await person.browser.rest('GET', '/emails')).statusCode).toBe(401);
    expect(await isValidKey(key)).toBe(false);
    expect(await subjects(await team.signIn(person.email))).toEqual([]);
  });

  test('leaves keys that are kept to the person who removes, with no more rights than the member had', async () => {
    const person = await team.makeMember('developer');
    const key = await team.insertPersonKey(person);
    expect((await gateway.call(key, 'PATCH', '/workspace', { name: 'X' })).statusCode).toBe(403);
    await team.owner.browser.rest('DELETE', `/members/${person.personId}?keep_keys=true`);
    expect(await isValidKey(key)).toBe(true);
    expect(problem(await gateway.call(key, 'PATCH', '/workspace', { name: 'X' }))).toEqual([403, 'insufficient_role']);
    const child = (await gateway.call(key, 'POST', '/api-keys', { name: 'child' })).json().token;
    expect((await gateway.call(child, 'PATCH', '/workspace', { name: 'X' })).statusCode).toBe(403);
  });

  test('leaves keys to an API key that removes and whose rights contain theirs, and no others', async () => {
    const [wide, narrow] = [await makeKey(null), await makeKey(['read', 'manage'])];
    for (const [by, stays] of [
      [wide, true],
      [narrow, false],
    ] as const) {
      const person = await team.makeMember('developer');
      const key = await team.insertPersonKey(person);
      const removed = await gateway.call(by.token, 'DELETE', `/members/${person.personId}?keep_keys=true`);
      expect(removed.statusCode, removed.body).toBe(200);
      expect(await isValidKey(key)).toBe(stays);
      expect((await gateway.call(key, 'PATCH', '/workspace', { name: 'X' })).statusCode).toBe(stays ? 403 : 401);
      await gateway.call(team.box.apiKey, 'DELETE', `/api-keys/${by.id}`);
      expect(await isValidKey(key)).toBe(false);
    }
  });

  test('cannot be the owner, also when fifty requests come at once', async () => {
    const admin = await team.makeMember('admin');
    const { personId } = team.owner;
    const attempts = await Promise.all([
      ...Array.from({ length: 25 }, () => admin.browser.rest('DELETE', `/members/${personId}`)),
      ...Array.from({ length: 25 }, () =>
        team.owner.browser.rest('POST', '/members/leave', {}, { workspace_id: team.box.workspaceId }),
      ),
    ]);
    for (const attempt of attempts) expect(problem(attempt)).toEqual([409, 'LAST_OWNER']);
    const changed = await admin.browser.rest('PATCH', `/members/${personId}`, {}, { role: 'viewer' });
    expect(problem(changed)).toEqual([409, 'LAST_OWNER']);
    expect(await readRole(personId)).toBe('owner');
  });

  test('is unknown in another workspace', async () => {
    const person = await team.makeMember('viewer');
    const stranger = await team.makePerson();
    for (const [method, body] of [
      ['PATCH', { role: 'admin' }],
      ['DELETE', undefined],
    ] as const)
      expect((await stranger.browser.rest(method, `/members/${person.personId}`, {}, body)).statusCode).toBe(404);
    expect(await readRole(person.personId)).toBe('viewer');
  });
});

describe('a member', () => {
  test('leaves, and cannot leave a workspace that the session is not in', async () => {
    const person = await team.makeMember('viewer');
    const leave = (id: string) => person.browser.rest('POST', '/members/leave', {}, { workspace_id: id });
    expect((await leave(person.personId)).statusCode).toBe(400);
    expect((await leave(team.box.workspaceId)).statusCode).toBe(200);
    expect(await readRole(person.personId)).toBeNull();
    expect((await person.browser.rest('GET', '/emails')).statusCode).toBe(401);
  });

  test('who may no longer create keys loses the existing ones', async () => {
    const person = await team.makeMember('developer');
    const key = await team.insertPersonKey(person);
    const changed = await team.owner.browser.rest('PATCH', `/members/${person.personId}`, {}, { role: 'agent' });
    expect(changed.json()).toMatchObject({ role: 'agent', api_keys: 0 });
    expect(await isValidKey(key)).toBe(false);
  });

  test('is not changed by a request with an unknown field, or with a limit outside the workspace', async () => {
    const person = await team.makeMember('agent');
    const stranger = await openTeam(gateway, 'strange');
    const change = (body: object) =>
      team.owner.browser.rest('PATCH', `/members/${person.personId}`, {}, { role: 'viewer', ...body });
    for (const [body, field, message] of [
      [{ limits: { addresses: ['hello@team.test'] } }, 'limits', 'Unknown field'],
      [{ address: ['hello@team.test'] }, 'address', 'Unknown field'],
      [{ addresses: ['hello@strange.test'] }, 'addresses', /^You have no domain strange\.test/],
      [{ addresses: ['hello@team.test', 'a@sub.team.test'] }, 'addresses', /^You have no domain sub\.team\.test/],
      [{ domains: ['strange.test'] }, 'domains', 'You have no domain strange.test'],
      [{ domains: [stranger.box.domainId] }, 'domains', /^You have no domain/],
    ] as const) {
      const refused = await change(body);
      expect([refused.statusCode, refused.json().details?.[0]?.field], refused.body).toEqual([400, field]);
      expect(refused.json().details[0].message).toMatch(message);
    }
    expect(await readRole(person.personId)).toBe('agent');
    // An address of the domain does not have to be set up: the catch-all receives its mail.
    const limited = await change({ addresses: ['Anything@TEAM.test'] });
    expect(limited.json().limits).toEqual({ domain_ids: [], addresses: ['anything@team.test'] });
  });

  test('has the new role at once', async () => {
    const person = await team.makeMember('viewer');
    const rename = () => person.browser.rest('PATCH', '/workspace', {}, { name: 'Team' });
    expect((await rename()).statusCode).toBe(403);
    await team.owner.browser.rest('PATCH', `/members/${person.personId}`, {}, { role: 'admin' });
    expect((await rename()).statusCode).toBe(200);
    await team.owner.browser.rest('PATCH', `/members/${person.personId}`, {}, { role: 'viewer' });
    expect((await rename()).statusCode).toBe(403);
  });
});

describe('a session', () => {
  test('switches between the workspaces of its person, also for subscriptions and downloads, and to no other', async () => {
    const person = await team.makeMember('viewer');
    const { browser, personId } = person;
    const listed = (await browser.auth('GET', '/workspaces')).json();
    expect(listed.active).toMatchObject({ id: team.box.workspaceId, role: 'viewer' });
    const roles = new Map(listed.workspaces.map(({ id, role }: { id: string; role: string }) => [id, role]));
    expect(roles).toEqual(
      new Map([
        [personId, 'owner'],
        [team.box.workspaceId, 'viewer'],
      ]),
    );
    const to = (workspaceId: string) => browser.auth('POST', '/switch-workspace', { workspaceId });
    expect((await to(personId)).statusCode).toBe(200);
    expect(await subjects(browser)).toEqual([]);
    expect((await to(team.box.workspaceId)).statusCode).toBe(200);
    expect(await subjects(browser)).toEqual(['For the team']);
    const stranger = await team.makePerson();
    expect(problem(await to(stranger.personId))).toEqual([404, 'WORKSPACE_NOT_FOUND']);
    expect(problem(await to('no workspace'))).toEqual([404, 'WORKSPACE_NOT_FOUND']);
    expect(await subjects(browser)).toEqual(['For the team']);
  });
});

describe('the ownership', () => {
  test('goes to one other member, and the owner until then stays as an admin', async () => {
    const other = await openTeam(gateway, 'transfer');
    const next = await other.makeMember('agent');
    const admin = await other.makeMember('admin');
    const transfer = (browser: BrowserSession, id: string) => browser.rest('POST', `/members/${id}/transfer`, {}, {});
    expect(problem(await transfer(admin.browser, admin.personId))).toEqual([403, 'insufficient_role']);
    expect((await transfer(other.owner.browser, 'usr_none')).statusCode).toBe(404);
    const attempts = await Promise.all(
      [next, admin, next, admin].map(({ personId }) => transfer(other.owner.browser, personId)),
    );
    expect(attempts.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1);
    const { rows } = await gateway.owner.pool.query(
      `select count(*)::integer as owners from workspace_member where workspace_id = $1 and role = 'owner'`,
      [other.box.workspaceId],
    );
    expect(rows).toEqual([{ owners: 1 }]);
    expect(await readRole(other.owner.personId, other.box.workspaceId)).toBe('admin');
    const key = await gateway.call(other.box.apiKey, 'POST', `/members/${next.personId}/transfer`, {});
    expect(key.statusCode).toBe(403);
  });

  describe.each([
    ['without keys', false],
    ['with keys', true],
  ])('that is transferred %s', (what, keeps) => {
    const name = `moved-${keeps}`;

    test(`${keeps ? 'leaves' : 'takes'} what the owner set up for customers`, async () => {
      const moved = await openTeam(gateway, name);
      const next = await moved.makeMember('admin');
      const parent = await moved.insertPersonKey(moved.owner);
      const { id } = (await gateway.call(parent, 'POST', '/workspaces', { client_id: what })).json();
      const path = `/workspaces/${id}/api-keys`;
      const body = { name: 'customer', scopes: ['read', 'send', 'manage'] };
      const byKey = (await gateway.call(parent, 'POST', path, body)).json().token;
      const byPerson = (await moved.owner.browser.rest('POST', path, {}, body)).json().token;
      const child = (await gateway.call(byPerson, 'POST', '/api-keys', { ...body, name: 'child' })).json().token;
      const all = [byKey, byPerson, child];
      const valid = async () => {
        // Another gateway, which knows none of them.
        const owners = all.map((key) =>
          gateway.actor.pool.query('select from credential_owner(sha256($1))', [Buffer.from(key)]),
        );
        return (await Promise.all(owners)).map(({ rows }) => rows.length);
      };
      expect(await valid()).toEqual([1, 1, 1]);
      const hook = { name: 'x', type: 'webhook', config: { url: 'https://hooks.example.com/' } };
      const endpoints = await Promise.all(all.map((key) => gateway.call(key, 'POST', '/endpoints', hook)));
      const ids = endpoints.map((each) => each.json().id);
      const moving = await moved.owner.browser.rest(
        'POST',
        `/members/${next.personId}/transfer`,
        {},
        { keep_keys: keeps },
      );
      expect(moving.statusCode, moving.body).toBe(200);
      expect(await valid()).toEqual(keeps ? [1, 1, 1] : [0, 0, 0]);
      await settleKeys(testActorContext(gateway.actor));
      const { rows } = await gateway.owner.pool.query('select is_active from endpoint where id = any ($1)', [ids]);
      expect(rows).toEqual(Array(3).fill({ is_active: keeps }));
      // They are now bound to the new owner alone, and the former one makes no more.
      expect((await moved.owner.browser.rest('POST', path, {}, body)).statusCode).toBe(403);
      const back = await next.browser.rest('POST', `/members/${moved.owner.personId}/transfer`, {}, {});
      expect(back.statusCode, back.body).toBe(200);
      expect(await valid()).toEqual([0, 0, 0]);
    });

    test('leaves the previous owner each key that created no key of a customer, with the rights of an admin', async () => {
      const moved = await openTeam(gateway, `unused-${name}`);
      const next = await moved.makeMember('admin');
      const unused = await moved.insertPersonKey(moved.owner);
      const unusedId = `key_of_${moved.owner.personId}`;
      const create = async (as: string, path: string, body: object) =>
        (await gateway.call(as, 'POST', path, body)).json();
      const { token: maker, id: makerId } = await create(unused, '/api-keys', { name: 'maker' });
      const { id } = await create(unused, '/workspaces', { client_id: 'unused' });
      const path = `/workspaces/${id}/api-keys`;
      const body = { name: 'customer', scopes: ['read'] };
      const { token: customer } = await create(maker, path, body);
      const { token: former, id: formerId } = await create(unused, '/api-keys', { name: 'former' });
      const ended = await create(former, path, body);
      await gateway.owner.pool.query('update api_key set revoked_at = now() where id = $1', [ended.id]);
      await moved.owner.browser.rest('POST', `/members/${next.personId}/transfer`, {}, { keep_keys: keeps });
      const { rows } = await gateway.owner.pool.query(
        `select id, made_by_person_id = $1 as is_handed_over, parent_id from api_key where id = any ($2) order by array_position($2, id)`,
        [next.personId, [unusedId, formerId, makerId]],
      );
      expect(rows).toEqual([
        { id: unusedId, is_handed_over: false, parent_id: null },
        { id: formerId, is_handed_over: false, parent_id: unusedId },
        { id: makerId, is_handed_over: keeps, parent_id: keeps ? null : unusedId },
      ]);
      // What only an owner may do is done with none of them, and their rights as an admin stay.
      for (const token of [unused, former, maker]) {
        expect((await gateway.call(token, 'GET', '/emails')).statusCode).toBe(200);
        expect((await gateway.call(token, 'PATCH', '/workspace', { name: 'Moved' })).statusCode).toBe(200);
        expect(problem(await gateway.call(token, 'GET', '/workspaces'))).toEqual([403, 'insufficient_role']);
        expect(problem(await gateway.call(token, 'POST', path, body))).toEqual([403, 'insufficient_role']);
      }
      expect((await gateway.call(customer, 'GET', '/emails')).statusCode).toBe(keeps ? 200 : 401);
      // A key that is handed over does not end with those of the former owner.
      await next.browser.rest('DELETE', `/members/${moved.owner.personId}`);
      expect(await isValidKey(unused)).toBe(false);
      expect(await isValidKey(maker)).toBe(keeps);
      expect((await gateway.call(customer, 'GET', '/emails')).statusCode).toBe(keeps ? 200 : 401);
    });

    test(`${keeps ? 'leaves' : 'takes'} the SCIM token`, async () => {
      const moved = await openTeam(gateway, `scim-${name}`);
      const next = await moved.makeMember('admin');
      const { secret } = (await moved.owner.browser.rest('POST', '/scim/token', {}, { name: 'Directory' })).json();
      const users = async () =>
        (
          await gateway.app.inject({
            method: 'GET',
            url: '/scim/v2/Users',
            headers: { authorization: `Bearer ${secret}` },
          })
        ).statusCode;
      expect(await users()).toBe(200);
      await moved.owner.browser.rest('POST', `/members/${next.personId}/transfer`, {}, { keep_keys: keeps });
      expect(await users()).toBe(keeps ? 200 : 401);
      await next.browser.rest('POST', `/members/${moved.owner.personId}/transfer`, {}, {});
      expect(await users()).toBe(401);
    });
  });
});

test('a workspace that is closed takes its members out, and erases no person who is a member elsewhere', async () => {
  const other = await openTeam(gateway, 'closing');
  const guest = await other.makeMember('viewer');
  const erased = await other.owner.browser.graphql(
    'mutation ($email: String!) { eraseAccount(input: { confirmEmail: $email }) { __typename } }',
    {},
    { email: other.owner.email },
  );
  expect(erased.json().data.eraseAccount.__typename).toBe('EraseAccountPayload');
  expect((await guest.browser.rest('GET', '/emails')).statusCode).toBe(401);
  expect(await subjects(await team.signIn(guest.email))).toEqual([]);
  const { rows } = await gateway.owner.pool.query(
    'select (erase_at is not null) as is_closed from person where id = any ($1) order by id = $2',
    [[guest.personId, other.owner.personId], other.owner.personId],
  );
  expect(rows).toEqual([{ is_closed: false }, { is_closed: true }]);
});
