import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../../../db/queries/accounts/account.ts';
import { freePort } from '../../support/cluster/cluster.ts';
import { chromiumPath } from '../../support/servers/chromium.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectBrowser } from '../../support/servers/shared-browser.ts';

const account = { email: 'ada@example.com', password: 'correct horse', apiKey: null, mailbox: null };

/** What the gateway answered to a page. */
interface PageResponse {
  status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read into the responses of many routes
  body: any;
}

describe.skipIf(chromiumPath === undefined)('in Chromium, with a virtual authenticator', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let cdp: CDPSession;
  let authenticatorId: string;
  let url: string;

  beforeAll(async () => {
    const port = await freePort();
    url = `http://localhost:${port}`;
    gateway = await openTestGateway({ config: { publicUrl: url } });
    await createAccount(gateway.owner, account);
    await gateway.app.listen({ port, host: '127.0.0.1' });
    browser = await connectBrowser();
    context = await browser.newContext();
    page = await context.newPage();
    // For hangs, not for slowness.
    page.setDefaultTimeout(120_000);
    cdp = await context.newCDPSession(page);
    await cdp.send('WebAuthn.enable');
    const made = await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    ({ authenticatorId } = made);
    await page.goto(`${url}/health`);
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
  });

  const call = (method: 'GET' | 'POST', path: string, body?: unknown): Promise<PageResponse> =>
    page.evaluate(
      async ([verb, target, text]) => {
        const headers = text === null ? {} : { 'content-type': 'application/json' };
        const response = await fetch(target, { method: verb, headers, ...(text === null ? {} : { body: text }) });
        return { status: response.status, body: await response.json() };
      },
      [method, `/api/auth${path}`, body === undefined ? null : JSON.stringify(body)] as const,
    );

  /** As the pages do it: with the browser's own forms of options and responses. */
  const register = (options: unknown): Promise<unknown> =>
    page.evaluate(async (json) => {
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
        json as PublicKeyCredentialCreationOptionsJSON,
      );
      const credential = await navigator.credentials.create({ publicKey });
      return (credential as PublicKeyCredential).toJSON() as unknown;
    }, options);
  const assert = (options: unknown): Promise<unknown> =>
    page.evaluate(async (json) => {
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(json as PublicKeyCredentialRequestOptionsJSON);
      const credential = await navigator.credentials.get({ publicKey });
      return (credential as PublicKeyCredential).toJSON() as unknown;
    }, options);

  test('a signed-in user creates a passkey, signs in without a password, renames it, and deletes it', async () => {
    expect((await call('GET', '/passkey/generate-register-options')).status).toBe(401);
    expect((await call('POST', '/sign-in/email', { email: account.email, password: account.password })).status).toBe(
      200,
    );
    const options = await call('GET', '/passkey/generate-register-options');
    expect(options.body).toMatchObject({ rp: { id: 'localhost', name: 'Postroom' }, user: { name: account.email } });
    const made = await call('POST', '/passkey/verify-registration', {
      response: await register(options.body),
      name: 'Laptop',
    });
    expect([made.status, made.body]).toEqual([
      200,
      {
        id: expect.stringMatching(/^psk_/),
        name: 'Laptop',
        createdAt: expect.any(String),
        deviceType: 'singleDevice',
        backedUp: false,
      },
    ]);
    expect((await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials).toHaveLength(1);

    await call('POST', '/sign-out', {});
    expect((await call('GET', '/get-session')).body).toBeNull();
    const request = await call('GET', '/passkey/generate-authenticate-options');
    const response = await assert(request.body);
    const signedIn = await call('POST', '/passkey/verify-authentication', { response });
    expect([signedIn.status, signedIn.body]).toEqual([
      200,
      { user: expect.objectContaining({ email: account.email }) },
    ]);
    // The response to a challenge serves once.
    const replayed = await call('POST', '/passkey/verify-authentication', { response });
    expect([replayed.status, replayed.body.code]).toEqual([400, 'CHALLENGE_NOT_FOUND']);

    const { id } = made.body as { id: string };
    const renamed = await call('POST', '/passkey/update-passkey', { id, name: 'Old laptop' });
    expect([renamed.status, renamed.body.passkey.name]).toEqual([200, 'Old laptop']);
    expect((await call('GET', '/passkey/list-user-passkeys')).body).toMatchObject([{ id, name: 'Old laptop' }]);
    expect(await call('POST', '/passkey/delete-passkey', { id })).toEqual({ status: 200, body: { status: true } });
    expect((await call('GET', '/passkey/list-user-passkeys')).body).toEqual([]);
    await call('POST', '/sign-out', {});
    const late = await call('GET', '/passkey/generate-authenticate-options');
    const unknown = await call('POST', '/passkey/verify-authentication', { response: await assert(late.body) });
    expect([unknown.status, unknown.body.code]).toEqual([401, 'PASSKEY_NOT_FOUND']);
  });

  test('a passkey of another account can neither be renamed nor removed', async () => {
    await call('POST', '/sign-in/email', { email: account.email, password: account.password });
    const options = await call('GET', '/passkey/generate-register-options');
    const made = await call('POST', '/passkey/verify-registration', { response: await register(options.body) });
    const { id } = made.body as { id: string };
    await call('POST', '/sign-out', {});
    await call('POST', '/sign-up/email', { name: 'Eve', email: 'eve@example.com', password: 'another horse' });
    expect((await call('POST', '/passkey/update-passkey', { id, name: 'Mine' })).status).toBe(401);
    expect((await call('POST', '/passkey/delete-passkey', { id })).status).toBe(401);
    expect((await call('GET', '/passkey/list-user-passkeys')).body).toEqual([]);
    await call('POST', '/sign-in/email', { email: account.email, password: account.password });
    expect((await call('GET', '/passkey/list-user-passkeys')).body).toHaveLength(1);
  });
});
