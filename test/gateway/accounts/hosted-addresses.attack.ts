import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
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

beforeAll(async () => {
  gateway = await openTestGateway({ config: { agentSignUpDomain: 'agents.test', isSignUpOpen: true } });
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
  return { body: response.json(), answer: reason(response) };
};

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
  expect(second.answer).toEqual([400, 'HOSTED_ADDRESS']);
  expect((await signUp(address.toUpperCase())).answer).toEqual([400, 'HOSTED_ADDRESS']);
  expect((await signUp(team.box.address)).answer).toEqual([400, 'HOSTED_ADDRESS']);
  expect(await readServiceMail(gateway.owner, address)).toEqual([]);
});

test('a key that may only read does not join by an invitation that it reads', async () => {
  const email = `new@${team.box.address.split('@')[1]}`;
  expect((await team.invite({ email, role: 'admin' })).statusCode).toBe(200);
  const token = /\/invitation#([\w-]{43})/.exec(await readInInbox(email))?.[1] ?? '';
  expect(token).not.toBe('');
  const joined = await post('/sign-up/invitation', { token, name: 'New', newPassword: TEAM_PASSWORD });
  expect(reason(joined)).toEqual([403, 'HOSTED_ADDRESS']);
  // Who signs up where that is open has proved nothing either.
  const browser = openBrowser(gateway.app);
  const signedUp = await browser.auth('POST', '/sign-up/email', { email, name: 'New', password: TEAM_PASSWORD });
  expect(signedUp.statusCode, signedUp.body).toBe(200);
  expect(reason(await team.accept(browser, token))).toEqual([403, 'HOSTED_ADDRESS']);
  const { rows } = await gateway.owner.pool.query(
    `select from workspace_member m join person p on p.id = m.person_id where p.email = $1 and m.workspace_id = $2`,
    [email, team.box.workspaceId],
  );
  expect(rows).toEqual([]);
});

test('a person whose address was proved otherwise joins by an invitation to it', async () => {
  const person = await team.makeMember('viewer');
  expect(person.email.endsWith(`@${team.box.address.split('@')[1]}`)).toBe(true);
});
