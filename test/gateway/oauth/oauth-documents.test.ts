import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';
import { CALLBACK, openOauthStage } from '../../support/stages/oauth-stage.ts';
import { openTeam, type TeamStage } from '../../support/stages/team-stage.ts';

let host: WebhookReceiver;
let gateway: TestGateway;
let team: TeamStage;
let origin: string;

beforeAll(async () => {
  host = await startWebhookReceiver({ tlsName: 'localhost' });
  origin = `https://localhost:${host.port}`;
  gateway = await openTestGateway({ config: { trustedCertificates: [host.certificate ?? ''] } });
  team = await openTeam(gateway, 'documents');
});
afterAll(async () => {
  await gateway?.close();
  await host?.stop();
});

const makeSignIn = (clientId: string) => ({ clientId, verifier: openOauthStage(gateway).makeVerifier() });
/** What the consent page asks for. */
const ask = (browser: BrowserSession, clientId: string, headers = {}) =>
  browser.auth(
    'POST',
    '/oauth/request',
    { parameters: openOauthStage(gateway).makeParameters(makeSignIn(clientId)) },
    headers,
  );
const serve = (document: unknown, more: object = {}) =>
  host.respond([{ status: 200, body: JSON.stringify(document), ...more }]);

test('a client signs in by the URL of its document, whose host the page shows, and it is read once', async () => {
  const oauth = openOauthStage(gateway);
  const clientId = `${origin}/client.json`;
  serve({ client_id: clientId, client_name: 'Assistant', redirect_uris: [CALLBACK] });
  const before = host.requests.length;
  const signIn = makeSignIn(clientId);
  expect((await oauth.open(signIn)).statusCode).toBe(302);
  const asked = { parameters: oauth.makeParameters(signIn) };
  const { question } = (await team.owner.browser.auth('POST', '/oauth/request', asked)).json();
  expect(question.client).toEqual({ name: 'Assistant', verifiedHost: `localhost:${host.port}` });
  const code = await oauth.allow(team.owner.browser, signIn);
  expect((await oauth.exchange(signIn, code)).statusCode).toBe(200);
  expect(host.requests.length - before).toBe(1);
});

test.each([
  ['names another client', { client_id: 'https://other.test/client.json', redirect_uris: [CALLBACK] }, {}],
  ['has a script as its redirect URI', { redirect_uris: ['javascript:alert(1)'] }, {}],
  ['is a redirect', {}, { status: 302, headers: { location: 'https://other.test/' } }],
  ['is longer than 16 KB', {}, { body: 'x'.repeat(20_000) }],
  ['is no JSON', {}, { body: '<html>' }],
])('a document that %s is refused', async (name, document, more) => {
  const clientId = `${origin}/${encodeURIComponent(name)}.json`;
  serve({ client_id: clientId, redirect_uris: [CALLBACK], ...document }, more);
  const response = await ask(team.owner.browser, clientId);
  expect([response.statusCode, response.json().location]).toEqual([400, undefined]);
});

test('no document is read for a stranger, who would choose what the service connects to', async () => {
  const before = host.connectionCount();
  const oauth = openOauthStage(gateway);
  for (const path of ['/client.json', '/admin/restart?now=1']) {
    const opened = await oauth.open(makeSignIn(`${origin}${path}`));
    expect([opened.statusCode, String(opened.headers.location)]).toEqual([
      302,
      expect.stringMatching(/^\/oauth\/consent\?/),
    ]);
    expect((await ask(openBrowser(gateway.app), `${origin}${path}`)).statusCode).toBe(401);
  }
  expect(host.connectionCount()).toBe(before);
});

test('no document is read from a private address, or over plain HTTP', async () => {
  const closed = await openTestGateway({
    config: { allowedPrivateNetworks: [], trustedCertificates: [host.certificate ?? ''] },
  });
  try {
    const { browser } = (await openTeam(closed, 'closed-documents')).owner;
    const before = host.connectionCount();
    for (const clientId of [
      `${origin}/client.json`,
      `https://127.0.0.1:${host.port}/client.json`,
      `https://[::1]:${host.port}/client.json`,
      `https://169.254.169.254/latest/meta-data`,
      `http://localhost:${host.port}/client.json`,
      `https://user@localhost:${host.port}/client.json`,
    ])
      expect((await ask(browser, clientId)).statusCode, clientId).toBe(400);
    expect(host.connectionCount()).toBe(before);
  } finally {
    await closed.close();
  }
});

test('no document of a private address is read for a request that a proxy forwards to a service for its own machine', async () => {
  const local = await openTestGateway({
    config: { openForLocal: ['ALLOWED_PRIVATE_NETWORKS'], trustedCertificates: [host.certificate ?? ''] },
  });
  try {
    const { browser } = (await openTeam(local, 'local-documents')).owner;
    const clientId = `${origin}/local.json`;
    serve({ client_id: clientId, redirect_uris: [CALLBACK] });
    const before = host.connectionCount();
    expect((await ask(browser, clientId, { 'x-forwarded-for': '192.0.2.1' })).statusCode).toBe(400);
    expect(host.connectionCount()).toBe(before);
    expect((await ask(browser, clientId)).statusCode).toBe(200);
  } finally {
    await local.close();
  }
});
