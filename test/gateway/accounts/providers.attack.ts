import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { encryptSecret } from '../../../core/shared/secret-box.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { openTestProvider, type TestProvider } from '../../support/servers/oidc-provider.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';

const CALLBACK = 'http://postroom.test/api/auth/provider/callback';
const VIEWER = '{ viewer { id email } }';
const secretKey = randomBytes(32);
let gateway: TestGateway;
let honest: TestProvider;
let hostile: HostileProvider;
let companies = 0;

beforeAll(async () => {
  honest = await openTestProvider(CALLBACK);
  hostile = await openHostileProvider();
  gateway = await openTestGateway({ config: { secretKey } });
});
afterAll(async () => {
  await gateway.close();
  await honest.close();
  await new Promise((resolve) => void hostile.server.close(resolve));
});
beforeEach(async () => {
  await gateway.owner.pool.query('delete from auth_rate_limit');
});

interface HostileProvider {
  server: Server;
  issuer: string;
  /** codes that the service sent here */
  codes: (string | null)[];
}

/** A provider that the attacker runs. It signs nobody in; its token endpoint keeps the codes that it gets. */
async function openHostileProvider(): Promise<HostileProvider> {
  const codes: HostileProvider['codes'] = [];
  const respond = async (request: IncomingMessage) => {
    if (request.url?.includes('openid-configuration') === true)
      return {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      };
    if (request.url === '/token') codes.push(new URLSearchParams(await text(request)).get('code'));
    return { error: 'invalid_grant' };
  };
  const server = createServer((request, response) => {
    void respond(request).then((body) => {
      response.writeHead('error' in body ? 400 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { server, issuer, codes };
}

/** A workspace with a verified domain and single sign-on. */
async function openCompany(given: { issuer: string; clientId: string; clientSecret: string }) {
  const domain = `company${companies++}.test`;
  const { workspaceId } = await gateway.mailbox({ domain });
  await gateway.owner.pool.query(
    `insert into sign_in_provider (workspace_id, issuer, client_id, secret_ciphertext, default_role) values ($1, $2, $3, $4, 'agent')`,
    [
      workspaceId,
      given.issuer,
      given.clientId,
      encryptSecret(secretKey, 'provider-secret', given.clientSecret, randomBytes(12)),
    ],
  );
  return { domain, workspaceId };
}

async function start(browser: BrowserSession, email: string): Promise<URL> {
  const response = await browser.auth('POST', '/provider/start', { email });
  expect(response.statusCode, response.body).toBe(200);
  return new URL(response.json().url);
}
const comeBack = (browser: BrowserSession, back: URL) =>
  browser.auth('GET', back.pathname.replace('/api/auth', '') + back.search);

describe('a provider of the attacker, which leads persons on to the provider of another workspace', () => {
  // Most providers name no issuer in their responses (RFC 9207): Microsoft Entra and Okta do not.
  test.each(['and names no issuer', 'and names its own issuer'])(
    'gets no code of theirs, %s in the response',
    async (how) => {
      const company = await openCompany(honest);
      const trap = await openCompany({ issuer: hostile.issuer, clientId: 'postroom', clientSecret: 'x' });
      honest.changeDiscovery = (document) => ({
        ...document,
        authorization_response_iss_parameter_supported: undefined,
      });
      // The attacker starts a sign-in as the victim, and lets the victim finish the part at the provider.
      const attacker = openBrowser(gateway.app);
      const begun = await start(attacker, `victim@${company.domain}`);
      const victim = openBrowser(gateway.app);
      const trapped = await start(victim, `victim@${trap.domain}`);
      expect(trapped.origin).toBe(hostile.issuer);
      const onward = new URL(begun);
      onward.searchParams.set('state', trapped.searchParams.get('state') ?? '');
      honest.person = { sub: 'victim', email: `victim@${company.domain}`, email_verified: true };
      const back = await honest.visit(onward.href);
      back.searchParams.delete('iss');
      if (how.includes('own')) back.searchParams.set('iss', hostile.issuer);
      const refused = await comeBack(victim, back);
      expect(refused.headers.location).toContain('STATE_MISMATCH');
      expect(hostile.codes).toEqual([]);
      // With the code, the attacker would finish their own sign-in.
      const stolen = new URL(begun.searchParams.get('redirect_uri') ?? '');
      stolen.searchParams.set('code', hostile.codes.at(-1) ?? 'none');
      stolen.searchParams.set('state', begun.searchParams.get('state') ?? '');
      await comeBack(attacker, stolen);
      expect((await attacker.graphql(VIEWER)).statusCode).toBe(401);
    },
  );

  test('has a redirect URI that is not that of another workspace, nor that of the service', async () => {
    const company = await openCompany(honest);
    const trap = await openCompany({ issuer: hostile.issuer, clientId: 'postroom', clientSecret: 'x' });
    const browser = openBrowser(gateway.app);
    const uris = [
      (await start(browser, `a@${company.domain}`)).searchParams.get('redirect_uri'),
      (await start(browser, `a@${trap.domain}`)).searchParams.get('redirect_uri'),
    ];
    expect(uris).toEqual([`${CALLBACK}/${company.workspaceId}`, `${CALLBACK}/${trap.workspaceId}`]);
    honest.person = { sub: 'a', email: `a@${company.domain}`, email_verified: true };
    for (const path of ['', `/${trap.workspaceId}`, '/service', `/${company.workspaceId}%20`]) {
      const back = await honest.visit((await start(browser, `a@${company.domain}`)).href);
      const refused = await comeBack(browser, new URL(`${CALLBACK}${path}${back.search}`));
      expect([path, refused.headers.location]).toEqual([path, expect.stringContaining('STATE_MISMATCH')]);
    }
  });
});
