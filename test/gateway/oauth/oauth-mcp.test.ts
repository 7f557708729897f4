import { spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount } from '../../../db/queries/accounts/account.ts';
import { freePort } from '../../support/cluster/cluster.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';
import { CALLBACK } from '../../support/stages/oauth-stage.ts';

/** A Python with the package mcp, such as that of a virtual environment. */
const python = process.env['MCP_PYTHON'] ?? 'python3';
const hasClient = spawnSync(python, ['-c', 'from mcp.client.auth import AuthorizationCodeResult']).status === 0;
const script = path.resolve(import.meta.dirname, '../../support/clients/check-mcp-oauth.py');

const PASSWORD = 'correct horse battery';
let gateway: TestGateway;
let issuer: string;
let person: { id: string; browser: BrowserSession };

beforeAll(async () => {
  const port = await freePort();
  issuer = `http://localhost:${port}`;
  gateway = await openTestGateway({ config: { publicUrl: issuer } });
  await gateway.app.listen({ port, host: '127.0.0.1' });
  const email = 'person@mcp-oauth.test';
  const made = await createAccount(gateway.owner, { email, password: PASSWORD, apiKey: null, mailbox: null });
  const browser = openBrowser(gateway.app, issuer);
  await browser.auth('POST', '/sign-in/email', { email, password: PASSWORD });
  person = { id: 'workspaceId' in made ? made.workspaceId : '', browser };
});
afterAll(() => gateway.close());

/** Opens the link of a client as the person, who allows it to read. Returns where the browser is sent. */
async function allow(link: URL, name: string): Promise<URL> {
  const page = await fetch(link, { redirect: 'manual' });
  expect([page.status, page.headers.get('location')]).toEqual([302, `/oauth/consent${link.search}`]);
  const asked = { parameters: Object.fromEntries(link.searchParams) };
  const shown = (await person.browser.auth('POST', '/oauth/request', asked)).json();
  expect(shown.question).toEqual({
    client: { name: name, verifiedHost: null },
    host: 'a program on this computer',
    workspaceId: person.id,
    levels: ['read', 'send', 'everything'],
    requested: 'read',
    isForMcp: true,
  });
  const decided = await person.browser.auth('POST', '/oauth/decision', {
    asked,
    workspaceId: person.id,
    level: 'read',
    addresses: null,
  });
  const back = new URL(decided.json().location);
  expect(back.href.startsWith(`${CALLBACK}?`)).toBe(true);
  expect(back.searchParams.get('iss')).toBe(issuer);
  return back;
}

test('the official client connects with the URL alone, signs in, lists tools and refreshes its token', async () => {
  const stored: Record<string, unknown> = {};
  let opened: URL | null = null;
  const provider = {
    redirectUrl: CALLBACK,
    clientMetadata: { client_name: 'Official client', redirect_uris: [CALLBACK], scope: 'read' },
    state: () => 'state-of-client',
    clientInformation: () => stored['client'] as never,
    saveClientInformation: (client: unknown) => void (stored['client'] = client),
    tokens: () => stored['tokens'] as never,
    saveTokens: (tokens: unknown) => void (stored['tokens'] = tokens),
    redirectToAuthorization: (url: URL) => void (opened = url),
    saveCodeVerifier: (verifier: string) => void (stored['verifier'] = verifier),
    codeVerifier: () => stored['verifier'] as string,
    saveDiscoveryState: (state: unknown) => void (stored['discovery'] = state),
    discoveryState: () => stored['discovery'] as never,
  };
  const connect = async () => {
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } });
    const transport = new StreamableHTTPClientTransport(new URL(`${issuer}/mcp`), { authProvider: provider });
    return { client, transport, done: client.connect(transport) };
  };
  const first = await connect();
  await expect(first.done).rejects.toThrow(UnauthorizedError);
  const link = new URL(String(opened));
  expect(`${link.origin}${link.pathname}`).toBe(`${issuer}/oauth/authorize`);
  expect(link.searchParams.get('resource')).toBe(`${issuer}/mcp`);

  const back = await allow(link, 'Official client');
  expect(back.searchParams.get('state')).toBe('state-of-client');
  await first.transport.finishAuth(back.searchParams);

  const second = await connect();
  await second.done;
  const { tools } = await second.client.listTools();
  expect(tools.map(({ name }) => name)).toContain('search_threads');
  await second.client.close();

  const former = stored['tokens'] as { access_token: string; refresh_token: string };
  stored['tokens'] = { ...former, access_token: 'pr_access_expired' };
  const third = await connect();
  await third.done;
  expect((await third.client.listTools()).tools.length).toBe(tools.length);
  await third.client.close();
  expect((stored['tokens'] as typeof former).refresh_token).not.toBe(former.refresh_token);
});

test.skipIf(!hasClient)(
  'the official client for Python connects with the URL alone, signs in, lists tools and refreshes its token',
  { timeout: 60_000 },
  async () => {
    const client = spawn(python, [script, `${issuer}/mcp`, CALLBACK], { stdio: ['pipe', 'pipe', 'pipe'] });
    const errors: string[] = [];
    client.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text));
    const lines = createInterface({ input: client.stdout })[Symbol.asyncIterator]();
    const next = async () => {
      const { value } = await lines.next();
      if (value === undefined) throw new Error(errors.join(''));
      return JSON.parse(value) as { link?: string; tools?: string[]; is_refreshed?: boolean };
    };
    try {
      const link = new URL((await next()).link ?? '');
      expect(link.searchParams.get('resource')).toBe(`${issuer}/mcp`);
      expect(link.searchParams.get('code_challenge_method')).toBe('S256');
      client.stdin.write(`${(await allow(link, 'Official client for Python')).href}\n`);
      const { tools } = await next();
      expect(tools).toContain('search_threads');
      expect(await next()).toEqual({ tools, is_refreshed: true });
    } finally {
      client.kill();
    }
  },
);
