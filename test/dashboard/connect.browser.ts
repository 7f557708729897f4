import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';
import { settle } from '../support/stages/dashboard-pages.ts';

const LIMIT = { timeout: 300_000 };
let stage: BrowserStage;
let issuer: string;
/** The program: its redirect URI, and the query of the last request there. */
let program: { callback: string; received: () => URLSearchParams | null; close: () => void };

describe.skipIf(chromiumPath === undefined)('the consent page', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
    const metadata = await fetch(`${stage.url}/.well-known/oauth-authorization-server`);
    issuer = ((await metadata.json()) as { issuer: string }).issuer;
    program = await openProgram();
  });
  afterAll(async () => {
    program?.close();
    await stage?.close();
  });

  async function register(name: string): Promise<string> {
    const response = await fetch(`${stage.url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: name,
        redirect_uris: [program.callback],
        logo_uri: 'javascript:alert(1)',
        client_uri: 'javascript:alert(1)',
      }),
    });
    return ((await response.json()) as { client_id: string }).client_id;
  }
  const verifier = randomBytes(32).toString('base64url');
  const makeLink = (clientId: string) =>
    `${stage.url}/oauth/authorize?${new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: program.callback,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      resource: `${issuer}/mcp`,
      scope: 'send',
      state: 'abc',
    }).toString()}`;

  test('signs a person in, shows the program, and sends a code for the chosen level and address', LIMIT, async () => {
    const account = await stage.account();
    const { page, complaints } = await stage.open(account);
    const clientId = await register('Mail assistant');
    await page.goto(makeLink(clientId));
    await page.getByRole('heading', { name: 'Connect Mail assistant?' }).waitFor();
    await page.getByText('the name is not verified').waitFor();
    await page.getByText('a program on this computer').waitFor();
    const chosen = page.getByRole('radio', { name: 'Read, draft and send with approval' });
    expect(await chosen.isChecked()).toBe(true);
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('radio', { name: 'Read', exact: true }).check();
    await page.getByRole('radio', { name: 'Only some addresses' }).check();
    await page.getByRole('combobox', { name: 'Addresses' }).click();
    await page.getByRole('option', { name: account.address }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('The program has the code').waitFor();
    const query = program.received();
    expect([query?.get('state'), query?.get('iss')]).toEqual(['abc', issuer]);
    const response = await fetch(`${stage.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: clientId,
        code: query?.get('code') ?? '',
        redirect_uri: program.callback,
        code_verifier: verifier,
      }),
    });
    const { access_token: token, scope } = (await response.json()) as { access_token: string; scope: string };
    expect(scope).toBe('read');
    const call = async () =>
      (
        await fetch(`${stage.url}/mcp`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${token}`,
            accept: 'application/json, text/event-stream',
            'content-type': 'application/json',
          },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
        })
      ).status;
    expect(await call()).toBe(200);

    await page.goto(`${stage.url}/settings?tab=security`);
    const programs = page.getByRole('list', { name: 'Programs with access' });
    await programs.getByText('Mail assistant').waitFor();
    await programs.getByText(`Read · only ${account.address}`).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await programs.getByRole('button', { name: 'End access of Mail assistant' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End access' }).click();
    await page.getByText('No programs yet.').waitFor();
    expect(await call()).toBe(401);
    expect(complaints).toEqual([]);
  });

  test('leads through the sign-in page and back, and sends a denial to the program', LIMIT, async () => {
    const { page } = await stage.open(null);
    await page.goto(makeLink(await register('Mail assistant')));
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(new URL(page.url()).searchParams.get('next')).toContain('/oauth/consent?response_type=code');
    const account = await stage.account();
    const signedIn = await stage.open(account);
    await signedIn.page.goto(makeLink(await register('Mail assistant')));
    await signedIn.page.getByRole('button', { name: 'Deny' }).click();
    await signedIn.page.getByText('The program has no code').waitFor();
    expect(program.received()?.get('error')).toBe('access_denied');
  });

  test(
    'asks for the code of a terminal, warns of codes that others send, and connects the terminal',
    LIMIT,
    async () => {
      const post = async (path: string, form: Record<string, string>) =>
        (await fetch(`${stage.url}${path}`, { method: 'POST', body: new URLSearchParams(form) })).json();
      const device = (await post('/oauth/device_authorization', { client_id: 'postroom-cli', scope: 'send' })) as {
        device_code: string;
        user_code: string;
      };
      const link = `${stage.url}/oauth/device?code=${device.user_code}`;
      const stranger = await stage.open(null);
      await stranger.page.goto(link);
      await stranger.page.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(new URL(stranger.page.url()).searchParams.get('next')).toBe(`/oauth/device?code=${device.user_code}`);

      const { page, complaints } = await stage.open(await stage.account());
      // The session of the page is answered last.
      const late = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      let sessions = 0;
      await page.route('**/api/auth/get-session', async (route) => {
        sessions += 1;
        if (sessions === 1) await late.promise;
        await route.continue();
      });
      await page.route('**/api/auth/oauth/request', async (route) => {
        await held.promise;
        await route.continue();
      });
      await page.goto(link);
      const code = page.getByLabel('Code', { exact: true });
      expect(await code.inputValue()).toBe(device.user_code);
      // The link enters nothing by itself.
      expect(await page.getByRole('button', { name: 'Allow' }).count()).toBe(0);
      await code.fill('BBBB-BBBB');
      await code.press('Enter');
      const refusal = page.getByText('No terminal waits for this code');
      await page.locator('button[type=submit][data-loading]').waitFor();
      held.resolve();
      await refusal.waitFor();
      const responded = page.waitForResponse('**/api/auth/get-session');
      late.resolve();
      await (await responded).finished();
      await settle(page);
      expect(await refusal.isVisible()).toBe(true);
      await code.fill(device.user_code);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('heading', { name: 'Connect the command line?' }).waitFor();
      await page.getByText('entered at a terminal at').waitFor();
      await page.getByText('Anyone who sent it to you gets access.').waitFor();
      expect(await findViolations(page)).toEqual([]);
      await page.getByRole('radio', { name: 'Read', exact: true }).check();
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.getByRole('heading', { name: 'The terminal is connected' }).waitFor();
      const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', client_id: 'postroom-cli' };
      const tokens = (await post('/oauth/token', { ...grant, device_code: device.device_code })) as { scope: string };
      expect(tokens.scope).toBe('read');
      expect(complaints.filter((complaint) => !complaint.includes('404'))).toEqual([]);
    },
  );

  test('shows a hostile name as plain text, and loads neither its logo nor its links', LIMIT, async () => {
    const { page, requested, complaints } = await stage.open(await stage.account());
    await page.goto(makeLink(await register('<img src=x onerror=alert(1)>\u202eknaB')));
    await page.getByRole('heading', { name: 'Connect <img src=x onerror=alert(1)> knaB?' }).waitFor();
    expect(await page.locator('[href^="javascript:"], [src^="javascript:"], img[src="x"]').count()).toBe(0);
    expect(requested.filter((url) => !url.startsWith(stage.url))).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

async function openProgram(): Promise<typeof program> {
  let received: URLSearchParams | null = null;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (url.pathname === '/callback') received = url.searchParams;
    response.setHeader('content-type', 'text/html');
    response.end(
      `<link rel="icon" href="data:,"><p>The program has ${url.searchParams.has('code') ? 'the' : 'no'} code`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { callback: `http://127.0.0.1:${port}/callback`, received: () => received, close: () => void server.close() };
}
