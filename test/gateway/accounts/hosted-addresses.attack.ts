import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { FRESH_SIGN_IN_MINUTES } from '../../../core/accounts/sign-in.ts';
import { type GatewayMail, takeMail } from '../../support/rows/gateway-mail.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openBrowser } from '../../support/stages/browser-session.ts';
import { readServiceMail } from '../../support/stages/service-mail.ts';
import { openTeam, TEAM_PASSWORD, type TeamStage } from '../../support/stages/team-stage.ts';

/*
 * Postroom mails links and codes that make their reader the person of an address. Where it stores the mail of that address itself, every key that
 * reads becomes that person in two allowed steps: ask for the link, and read it.
 */

let gateway: TestGateway;
let mail: GatewayMail;
let team: TeamStage;
/** How much later than the clock of the machine the gateway believes it is. */
let shiftMs = 0;

beforeAll(async () => {
  gateway = await openTestGateway({
    config: { agentSignUpDomain: 'agents.test', isSignUpOpen: true, requestLog: 'on' },
    now: () => new Date(Date.now() + shiftMs),
  });
  mail = await takeMail(gateway);
  team = await openTeam(gateway, 'hosted');
});
afterAll(async () => {
  await mail.stop();
  await gateway.close();
});
beforeEach(() => gateway.owner.pool.query('delete from auth_rate_limit'));

const post = (path: string, body: object) => openBrowser(gateway.app).auth('POST', path, body);
const reason = ({ statusCode, body }: { statusCode: number; body: string }) => [statusCode, JSON.parse(body).code];
const signUp = async (email: string) => {
  const payload = JSON.stringify({ email, name: 'Scout' });
  const headers = { 'content-type': 'application/json' };
  const response = await gateway.app.inject({ method: 'POST', url: '/api/e2/agent/sign-up', headers, payload });
  return { body: response.json(), response: reason(response) };
};

/** Creates a key with all rights by the API, so that it is known who made it. */
async function makeFullKey() {
  const { id, token } = (await gateway.call(team.box.apiKey, 'POST', '/api-keys', { name: 'inviter' })).json();
  return { apiKeyId: id as string, secret: token as string };
}

/** Puts the mail of the service to an address into the inbox that stores it, and returns what a key that may only read finds there. */
async function readInInbox(address: string): Promise<string> {
  const { apiKey, domainId } = team.box;
  expect((await gateway.call(apiKey, 'POST', '/email-addresses', { address, domainId })).statusCode).toBe(201);
  const { secret } = await insertKey(gateway.owner, team.box, { scopes: ['read'] });
  const texts: string[] = [];
  for (const decoded of await readServiceMail(gateway.owner, address)) {
    const id = await mail.deliver(decoded.replace('quoted-printable', '8bit'), address);
    const read = () => gateway.call(secret, 'GET', `/emails/${id}`);
    await expect.poll(async () => (await read()).statusCode).toBe(200);
    texts.push(String((await read()).json().text));
  }
  return texts.join('\n');
}

test('a key that may only read does not become the owner by a link for a new password', async () => {
  const asked = await post('/request-password-reset', { email: team.owner.email });
  expect([asked.statusCode, asked.json()]).toEqual([200, { status: true }]);
  // A link to another mail service is mailed; nothing is on its way any more when it is there.
  await gateway.owner.pool.query(
    `insert into person (id, email, email_verified) values ('usr_outside', 'outside@elsewhere.test', true)`,
  );
  await post('/request-password-reset', { email: 'outside@elsewhere.test' });
  await expect.poll(() => readServiceMail(gateway.owner, 'outside@elsewhere.test')).toHaveLength(1);
  const token = /reset-password#token=([A-Za-z0-9]+)/.exec(await readInInbox(team.owner.email))?.[1];
  expect(token).toBeUndefined();
  expect(gateway.logged).toContainEqual(expect.objectContaining({ msg: expect.stringContaining('not reset') }));
});

test('an agent does not confirm itself by a code that it reads in another inbox', async () => {
  const first = await signUp('person@elsewhere.test');
  const { address } = first.body as { address: string };
  const second = await signUp(address);
  expect(second.response).toEqual([400, 'HOSTED_ADDRESS']);
  expect((await signUp(address.toUpperCase())).response).toEqual([400, 'HOSTED_ADDRESS']);
  expect((await signUp(team.box.address)).response).toEqual([400, 'HOSTED_ADDRESS']);
  expect(await readServiceMail(gateway.owner, address)).toEqual([]);
});

const LINK = /\/invitation#([\w-]{43})/;
const hosted = (name: string) => `${name}@${team.box.address.split('@')[1]}`;
const join = (token: string, browser = openBrowser(gateway.app)) =>
  browser.auth('POST', '/sign-up/invitation', { token, name: 'New', newPassword: TEAM_PASSWORD });
const readPerson = async (email: string) => {
  const { rows } = await gateway.owner.pool.query(
    `select p.email_verified as "isProved", array_agg(m.workspace_id order by m.workspace_id) as workspaces
     from person p join workspace_member m on m.person_id = p.id where p.email = $1 group by p.id`,
    [email],
  );
  return rows[0] ?? null;
};

test('an invitation to a hosted address has its link in the response to the inviter, once, and nowhere else', async () => {
  const email = hosted('new');
  const invited = await gateway.call(team.box.apiKey, 'POST', '/invitations', { email, role: 'admin' });
  const url: string = invited.json().accept_url;
  const token = LINK.exec(url)?.[1] ?? '';
  expect(token).not.toBe('');
  const text = await readInInbox(email);
  expect(text).toContain('Because this service stores your mail, this message has no link:');
  expect(text).not.toContain('/invitation#');
  // What keys read of it, those with all rights, too.
  const { secret: reader } = await insertKey(gateway.owner, team.box, { scopes: ['read'] });
  for (const key of [reader, team.box.apiKey])
    for (const path of ['/invitations', '/audit', '/requests', '/events', '/emails', '/mail/threads']) {
      const { statusCode, body } = await gateway.call(key, 'GET', path);
      expect([200, 403], `${path} ${body}`).toContain(statusCode);
      expect(body, path).not.toContain(token);
    }
  const requests = (await gateway.call(team.box.apiKey, 'GET', '/requests?limit=100')).json().data;
  const logged = requests.find(({ path }: { path: string }) => path === '/api/e2/invitations');
  expect(logged).toBeDefined();
  const { body: shown } = await gateway.call(team.box.apiKey, 'GET', `/requests/${logged.id}`);
  expect(shown).toContain('accept_url');
  expect(shown).not.toContain(token);
  const listed = (await gateway.call(team.box.apiKey, 'GET', '/invitations')).json().data;
  expect(listed).toEqual([expect.objectContaining({ email, status: 'open', accept_url: null })]);
  // The person accepts once, and has proved nothing.
  expect((await join(token)).json()).toEqual({ status: true, workspaceId: team.box.workspaceId });
  expect(await readPerson(email)).toMatchObject({ isProved: false });
  expect(reason(await join(token))).toEqual([409, 'INVITATION_ACCEPTED']);
});

test('an invitation that is sent again gives its link to who could have made it', async () => {
  const email = hosted('again');
  const { id, accept_url: first } = (await team.invite({ email, role: 'admin' })).json();
  const wait = () =>
    gateway.owner.pool.query(`update workspace_invitation set sent_at = sent_at - interval '2 minutes' where id = $1`, [
      id,
    ]);
  await wait();
  // Who may manage and read could not give the role, so the link would add rights.
  const { secret } = await insertKey(gateway.owner, team.box, { scopes: ['read', 'manage'] });
  const resend = (key: string) => gateway.call(key, 'POST', `/invitations/${id}/resend`, {});
  expect(reason(await resend(secret))).toEqual([403, 'MORE_RIGHTS']);
  const { apiKeyId, secret: full } = await makeFullKey();
  const again = await resend(full);
  expect([again.statusCode, LINK.test(again.json().accept_url)]).toEqual([200, true]);
  expect(again.json().accept_url).not.toBe(first);
  expect(await readInInbox(email)).not.toContain('/invitation#');
  expect(reason(await join(LINK.exec(first)?.[1] ?? ''))).toEqual([404, 'INVITATION_NOT_FOUND']);
  // Who was given the link is its inviter.
  expect((await gateway.call(team.box.apiKey, 'DELETE', `/api-keys/${apiKeyId}`)).statusCode).toBe(200);
  expect(reason(await join(LINK.exec(again.json().accept_url)?.[1] ?? ''))).toEqual([410, 'INVITATION_REVOKED']);
});

test('GraphQL returns the link, too, and to a session that signed in lately only', async () => {
  const email = hosted('graph');
  const document = `mutation ($input: CreateInvitationInput!) { createInvitation(input: $input) {
    ... on CreateInvitationPayload { invitation { id acceptUrl } } ... on Error { message } } }`;
  const made = await team.owner.browser.graphql(document, {}, { input: { email, role: 'VIEWER' } });
  const { id, acceptUrl } = made.json().data.createInvitation.invitation;
  expect(acceptUrl).toMatch(LINK);
  const listed = (await team.owner.browser.graphql('{ invitations { id acceptUrl } }')).json().data.invitations;
  expect(listed).toContainEqual({ id, acceptUrl: null });
  const outside = await team.owner.browser.graphql(
    document,
    {},
    { input: { email: 'g@elsewhere.test', role: 'VIEWER' } },
  );
  expect(outside.json().data.createInvitation.invitation.acceptUrl).toBeNull();
  shiftMs = (FRESH_SIGN_IN_MINUTES + 1) * 60_000;
  const old = await team.resend(id);
  shiftMs = 0;
  expect(reason(old)).toEqual([403, 'SIGN_IN_AGAIN']);
});

test('a link that was mailed ends when Postroom begins to store the mail of the address', async () => {
  const email = 'moves@moving.test';
  const { id } = (await team.invite({ email, role: 'viewer' })).json();
  const token = await team.readToken(email);
  expect(token).not.toBe('');
  const other = await gateway.mailbox({ domain: 'moving.test' });
  expect(other.address).toContain('@moving.test');
  expect(reason(await join(token))).toEqual([410, 'INVITATION_EXPIRED']);
  const browser = openBrowser(gateway.app);
  const signedUp = await browser.auth('POST', '/sign-up/email', { email, name: 'New', password: TEAM_PASSWORD });
  expect(signedUp.statusCode, signedUp.body).toBe(200);
  expect(reason(await team.accept(browser, token))).toEqual([410, 'INVITATION_EXPIRED']);
  const listed = (await gateway.call(team.box.apiKey, 'GET', '/invitations')).json().data;
  expect(listed).toContainEqual(expect.objectContaining({ id, status: 'expired' }));
  await gateway.owner.pool.query(`update workspace_invitation set sent_at = now() - interval '1 hour' where id = $1`, [
    id,
  ]);
  expect((await team.resend(id)).json()).toMatchObject({ status: 'open', accept_url: expect.stringMatching(LINK) });
  expect((await team.accept(browser, await team.readToken(email))).statusCode).toBe(200);
});

test('who makes the sign-in of another person by a link accepts no invitation of another workspace', async () => {
  const email = hosted('squatted');
  const attacker = await openTeam(gateway, 'attacker');
  const { accept_url: own } = (await attacker.invite({ email, role: 'viewer' })).json();
  const browser = openBrowser(gateway.app);
  expect((await join(LINK.exec(own)?.[1] ?? '', browser)).statusCode).toBe(200);
  const { accept_url: url } = (await team.invite({ email, role: 'admin' })).json();
  // The mail of the other workspace has nothing for this sign-in, and nothing else accepts for it.
  expect(await readInInbox(email)).not.toContain('/invitation#');
  const { isProved, workspaces } = await readPerson(email);
  expect([isProved, workspaces.includes(team.box.workspaceId)]).toEqual([false, false]);
  expect(reason(await team.accept(browser, LINK.exec(own)?.[1] ?? ''))).toEqual([409, 'INVITATION_ACCEPTED']);
  // To whom the other inviter gives the link, if signed in with the address, accepts.
  expect((await team.accept(browser, LINK.exec(url)?.[1] ?? '')).statusCode).toBe(200);
});
