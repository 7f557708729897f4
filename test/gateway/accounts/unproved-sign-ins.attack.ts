import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { encryptSecret } from '../../../core/shared/secret-box.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openTestProvider, type TestProvider } from '../../support/servers/oidc-provider.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';
import { ISSUER, type OauthStage, openOauthStage } from '../../support/stages/oauth-stage.ts';
import { openScimStage } from '../../support/stages/scim-stage.ts';
import { readServiceMail } from '../../support/stages/service-mail.ts';
import { openTeam, type TeamStage } from '../../support/stages/team-stage.ts';
import { waitFor } from '../../support/wait-for.ts';

/*
 * An impostor makes the sign-in of a person who has not come yet, by the link of an invitation that was handed over, and makes keys with it. Then the
 * person comes and proves the address: the impostor is signed out, and nothing that the impostor made may go on in the workspace.
 */

const PASSWORD = 'correct horse battery';
const secretKey = randomBytes(32);
let gateway: TestGateway;
let oauth: OauthStage;
let provider: TestProvider;
let teams = 0;

beforeAll(async () => {
  provider = await openTestProvider(`${ISSUER}/api/auth/provider/callback`);
  const { issuer, clientId, clientSecret } = provider;
  gateway = await openTestGateway({
    config: {
      secretKey,
      oidc: {
        issuer,
        clientId,
        clientSecret,
        domains: ['service.test'],
        isRequired: false,
        joins: null,
        trustsAddresses: false,
      },
    },
  });
  oauth = openOauthStage(gateway);
});
afterAll(async () => {
  await gateway.close();
  await provider.close();
});
beforeEach(async () => {
  await gateway.owner.pool.query('delete from auth_rate_limit');
});

const sql = (text: string, ...values: unknown[]) => gateway.owner.pool.query(text, values);

/** The person whose sign-in the impostor made. */
interface Victim {
  team: TeamStage;
  email: string;
  personId: string;
  impostor: BrowserSession;
}

async function impersonate(): Promise<Victim> {
  const team = await openTeam(gateway, `impostor${teams++}`);
  const email = `ann${teams}@impostor${teams - 1}.test`;
  expect((await team.invite({ email, role: 'admin' })).statusCode).toBe(200);
  const impostor = openBrowser(gateway.app);
  const body = { token: await team.readToken(email), name: 'Ann', newPassword: PASSWORD };
  const signedUp = await impostor.auth('POST', '/sign-up/invitation', body);
  expect(signedUp.statusCode, signedUp.body).toBe(200);
  const { person } = (await impostor.auth('GET', '/workspaces')).json();
  return { team, email, personId: person.id, impostor };
}

async function finishAtProvider(email: string) {
  const browser = openBrowser(gateway.app);
  provider.person = { sub: email, email, email_verified: true };
  const started = await browser.auth('POST', '/provider/start', { email });
  expect(started.statusCode, started.body).toBe(200);
  const back = await provider.visit(started.json().url);
  const finished = await browser.auth('GET', back.pathname.replace('/api/auth', '') + back.search);
  expect(finished.headers.location).toBe('/');
}

async function signInByWorkspace({ team, email }: Victim) {
  await sql(
    `insert into sign_in_provider (workspace_id, issuer, client_id, secret_ciphertext, default_role) values ($1, $2, $3, $4, 'admin')`,
    team.box.workspaceId,
    provider.issuer,
    provider.clientId,
    encryptSecret(secretKey, 'provider-secret', provider.clientSecret, randomBytes(12)),
  );
  await finishAtProvider(email);
}

async function signInByService({ personId }: Victim) {
  const email = `ann${teams}@service.test`;
  await sql('update person set email = $1 where id = $2', email, personId);
  await finishAtProvider(email);
}

async function provision({ team, email }: Victim) {
  await sql(
    `insert into sign_in_provider (workspace_id, issuer, client_id, secret_ciphertext, default_role) values ($1, 'https://x.test', 'x', 'x', 'admin')`,
    team.box.workspaceId,
  );
  const directory = await openScimStage(gateway, team.box.workspaceId);
  await directory.create('Users', { userName: email, emails: [{ value: email, primary: true }] });
}

async function setPassword({ personId }: Victim) {
  // Links go to addresses whose mail is elsewhere.
  const email = `ann${teams}@elsewhere.test`;
  await sql('update person set email = $1 where id = $2', email, personId);
  const browser = openBrowser(gateway.app);
  await browser.auth('POST', '/request-password-reset', { email });
  const token = await waitFor(async () => {
    const mail = (await readServiceMail(gateway.owner, email)).join('\n');
    const [, found] = /\/reset-password#token=([A-Za-z0-9]+)/.exec(mail) ?? [];
    if (found === undefined) throw new Error('no link yet');
    return found;
  });
  const reset = await browser.auth('POST', '/reset-password', { token, newPassword: 'a password of Ann herself' });
  expect(reset.statusCode, reset.body).toBe(200);
}

describe('what an impostor made in a workspace of others ends once the person proves the address', () => {
  test.each<[string, (victim: Victim) => Promise<unknown>]>([
    ['by the single sign-on of the workspace', signInByWorkspace],
    ['by the single sign-on of the service', signInByService],
    ['by the directory of the workspace', provision],
    ['by a password that a mailed link sets', setPassword],
  ])('%s', async (_how, prove) => {
    const victim = await impersonate();
    const { team, impostor } = victim;
    const made = await impostor.rest('POST', '/api-keys', {}, { name: 'Backup' });
    expect(made.statusCode, made.body).toBeLessThan(300);
    const { token: key } = made.json();
    const child = (await gateway.call(key, 'POST', '/api-keys', { name: 'Child' })).json().token;
    const {
      access_token: access,
      refresh_token: refresh,
      clientId,
    } = await oauth.connect(impostor, { level: 'everything' }, { resource: ISSUER });
    const accomplice = `accomplice${teams}@elsewhere.test`;
    expect((await team.invite({ email: accomplice, role: 'admin' }, impostor)).statusCode).toBe(200);
    const invitation = await team.readToken(accomplice);
    const webhook = await gateway.call(access, 'POST', '/endpoints', {
      name: 'copy',
      type: 'webhook',
      config: { url: 'https://copies.test/' },
    });
    expect(webhook.statusCode, webhook.body).toBe(201);
    const own = impostorKey(victim);

    await prove(victim);

    expect((await impostor.graphql('{ viewer { id } }')).statusCode).toBe(401);
    // Where the change is not announced, a credential that was read before is forgotten within seconds.
    for (const credential of [key, child, access])
      await expect
        .poll(async () => (await gateway.call(credential, 'GET', '/emails')).statusCode, { timeout: 10_000 })
        .toBe(401);
    expect((await oauth.refresh(clientId, refresh)).json().error).toBe('invalid_grant');
    const joined = await openBrowser(gateway.app).auth('POST', '/sign-up/invitation', {
      token: invitation,
      name: 'Accomplice',
      newPassword: PASSWORD,
    });
    expect(joined.json().code).toBe('INVITATION_REVOKED');
    const { rows } = await sql(
      `select e.is_active, (select count(*)::integer from event v where v.workspace_id = e.workspace_id and v.kind = 'endpoint.disabled') as events,
         (select count(*)::integer from workspace_member m where m.workspace_id = e.workspace_id) as members
       from endpoint e where e.workspace_id = $1 and e.name = 'copy'`,
      team.box.workspaceId,
    );
    expect(rows).toEqual([{ is_active: false, events: 1, members: 2 }]);
    // The own workspace is the person's from the beginning, and lists its keys (docs/decisions/0204).
    expect((await gateway.call(await own, 'GET', '/emails')).statusCode).toBe(200);
    // What the person makes from now on stays.
    expect((await sql('select email_verified from person where id = $1', victim.personId)).rows).toEqual([
      { email_verified: true },
    ]);
  });
});

/** Inserts a key of the workspace that was made with the sign-in. */
async function impostorKey({ personId }: Victim): Promise<string> {
  const secret = `own${randomBytes(20).toString('hex')}`;
  await sql(
    `insert into api_key (id, workspace_id, name, secret_sha256, made_by_person_id)
     values ('key_own_' || $1, $1, 'own', sha256(convert_to($2, 'UTF8')), $1)`,
    personId,
    secret,
  );
  return secret;
}

test('an invitation that was mailed proves the address of who accepts it, so that keys made since then stay', async () => {
  const team = await openTeam(gateway, `impostor${teams++}`);
  const email = `bob${teams}@elsewhere.test`;
  const browser = openBrowser(gateway.app);
  await browser.auth('POST', '/sign-up/email', { name: 'Bob', email, password: PASSWORD });
  await team.invite({ email, role: 'developer' });
  expect((await team.accept(browser, await team.readToken(email))).statusCode).toBe(200);
  const { token: key } = (await browser.rest('POST', '/api-keys', {}, { name: 'Bob' })).json();
  const { person } = (await browser.auth('GET', '/workspaces')).json();
  await sql('select settle_password_reset($1)', person.id);
  gateway.bus.publish('credential.changed', { ownerId: team.box.workspaceId });
  expect((await gateway.call(key, 'GET', '/emails')).statusCode).toBe(200);
});
