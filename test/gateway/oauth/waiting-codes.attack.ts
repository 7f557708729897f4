import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { totpCode } from '../../../core/accounts/totp.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type OauthStage, openOauthStage } from '../../support/stages/oauth-stage.ts';
import { readServiceMail } from '../../support/stages/service-mail.ts';
import { createAuthenticator, USER_PRESENT, USER_VERIFIED } from '../../support/stages/software-authenticator.ts';
import { openTeam, TEAM_PASSWORD, type TeamPerson, type TeamStage } from '../../support/stages/team-stage.ts';
import { readTotpSecret } from '../../support/stages/totp-secret.ts';
import { waitFor } from '../../support/wait-for.ts';

/*
 * A thief in a session of another person allows a program of their own, and lets it wait: nothing lists the access before the program has taken its
 * tokens. The person, or an admin, then ends what the thief has.
 */

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const NEW_PASSWORD = 'another good password';
let gateway: TestGateway;
let oauth: OauthStage;
let teams = 0;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 } });
  oauth = openOauthStage(gateway);
});
afterAll(() => gateway.close());
beforeEach(() => sql('delete from auth_rate_limit'));

const sql = (text: string, ...values: unknown[]) => gateway.owner.pool.query(text, values);

interface Theft {
  team: TeamStage;
  /** in a browser that the thief does not have */
  victim: TeamPerson;
  /** the browser whose session the thief has */
  stolen: TeamPerson['browser'];
}

/** How a program takes its tokens. */
type Take = () => ReturnType<OauthStage['post']>;

/** The thief allows a program on a terminal, and one with a redirect. */
async function allow({ team, stolen }: Theft): Promise<Take[]> {
  const start = await oauth.post('/oauth/device_authorization', { client_id: 'postroom-cli' });
  const { device_code: device, user_code: userCode } = start.json();
  const decision = { asked: { userCode }, workspaceId: team.box.workspaceId, level: 'read', addresses: null };
  const decided = await stolen.auth('POST', '/oauth/decision', decision);
  expect(decided.statusCode, decided.body).toBe(200);
  const signIn = { clientId: await oauth.register(), verifier: oauth.makeVerifier() };
  const code = await oauth.allow(stolen, signIn);
  return [
    () => oauth.post('/oauth/token', { grant_type: DEVICE_GRANT, client_id: 'postroom-cli', device_code: device }),
    () => oauth.exchange(signIn, code),
  ];
}

async function steal(): Promise<Theft> {
  const team = await openTeam(gateway, `waiting${teams++}`);
  const { browser, personId } = await team.makeMember('developer');
  // Links for a new password go to addresses whose mail is elsewhere.
  const email = `victim${teams}@elsewhere.test`;
  await sql('update person set email = $1 where id = $2', email, personId);
  const victim = { browser, personId, email };
  const stolen = await team.signIn(email);
  const moved = await stolen.auth('POST', '/switch-workspace', { workspaceId: team.box.workspaceId });
  expect(moved.statusCode, moved.body).toBe(200);
  return { team, victim, stolen };
}

async function done(response: ReturnType<TeamPerson['browser']['auth']>) {
  const { statusCode, body } = await response;
  expect(statusCode, body).toBe(200);
}

async function resetPassword({ victim }: Theft) {
  await done(victim.browser.auth('POST', '/request-password-reset', { email: victim.email }));
  const token = await waitFor(async () => {
    const mail = (await readServiceMail(gateway.owner, victim.email)).join('\n');
    const [, found] = /\/reset-password#token=([A-Za-z0-9]+)/.exec(mail) ?? [];
    if (found === undefined) throw new Error('no link yet');
    return found;
  });
  await done(victim.browser.auth('POST', '/reset-password', { token, newPassword: NEW_PASSWORD }));
}

async function turnOnSecondFactor({ victim }: Theft) {
  const { secret } = (await victim.browser.auth('POST', '/second-factor/set-up', {})).json();
  const code = await totpCode(readTotpSecret(secret), new Date());
  await done(victim.browser.auth('POST', '/second-factor/turn-on', { code }));
}

async function requireSecondFactor({ team }: Theft) {
  const passkey = createAuthenticator();
  await done(passkey.register(team.owner.browser, USER_PRESENT | USER_VERIFIED));
  await done(passkey.signIn(team.owner.browser, USER_PRESENT | USER_VERIFIED));
  await done(team.owner.browser.auth('POST', '/second-factor/require', { isRequired: true }));
}

async function inviteAgain({ team, victim }: Theft) {
  expect((await team.owner.browser.rest('DELETE', `/members/${victim.personId}`)).statusCode).toBe(200);
  expect((await team.invite({ email: victim.email, role: 'developer' })).statusCode).toBe(200);
  await done(team.accept(await team.signIn(victim.email), await team.readToken(victim.email)));
}

describe('what a person allowed and its program has not taken gives no access once', () => {
  test.each<[string, (theft: Theft) => Promise<unknown>]>([
    ['the session that allowed it signs out', ({ stolen }) => done(stolen.auth('POST', '/sign-out', {}))],
    ['all other sessions are ended', ({ victim }) => done(victim.browser.auth('POST', '/revoke-other-sessions', {}))],
    [
      'the password is changed',
      ({ victim }) =>
        done(
          victim.browser.auth('POST', '/change-password', {
            currentPassword: TEAM_PASSWORD,
            newPassword: NEW_PASSWORD,
          }),
        ),
    ],
    ['a new password is set by a mailed link', resetPassword],
    ['a second factor is set up elsewhere', turnOnSecondFactor],
    ['the workspace requires a second factor', requireSecondFactor],
    [
      'the workspace requires single sign-on',
      ({ team }) =>
        sql(
          `insert into sign_in_provider (workspace_id, issuer, client_id, secret_ciphertext, is_required)
           values ($1, 'https://issuer.test', 'x', 'x', true)`,
          team.box.workspaceId,
        ),
    ],
    [
      'the workspace is suspended',
      ({ team }) => sql('update workspace set suspended_at = now() where id = $1', team.box.workspaceId),
    ],
    ['the member was removed, and is one again', inviteAgain],
  ])('%s', async (_name, end) => {
    const theft = await steal();
    const takes = await allow(theft);
    await end(theft);
    for (const take of takes) {
      const response = await take();
      expect([response.statusCode, response.json().error], response.body).toEqual([400, 'invalid_grant']);
    }
    await sql('update workspace set suspended_at = null where id = $1', theft.team.box.workspaceId);
    for (const take of takes) expect((await take()).json().error).toBe('invalid_grant');
    const { rows } = await sql('select from oauth_grant where workspace_id = $1', theft.team.box.workspaceId);
    expect(rows).toHaveLength(0);
  });
});

test('what a person allowed gives access while the session goes on, and the person is mailed about it at once', async () => {
  const theft = await steal();
  const takes = await allow(theft);
  await waitFor(async () => {
    const mails = (await readServiceMail(gateway.owner, theft.victim.email)).join('\n');
    expect(mails.match(/^Subject: A program got access to Postroom/gm)).toHaveLength(2);
  });
  for (const take of takes) await done(take());
});
