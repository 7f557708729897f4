import { describe, expect, test } from 'vitest';
import { createAccount } from '../../../db/queries/accounts/account.ts';
import { makeSignInLink } from '../../../db/queries/accounts/sign-in-link.ts';
import { openForFile } from '../../support/open-for-file.ts';
import { openTestGateway } from '../../support/servers/gateway.ts';
import { openBrowser } from '../../support/stages/browser-session.ts';

const VIEWER = '{ viewer { id email } }';
const gateway = openForFile(() => openTestGateway());

describe('a new account', () => {
  test('is signed in at once, and the session opens GraphQL and REST', async () => {
    const browser = openBrowser(gateway.app);
    const made = await browser.auth('POST', '/sign-up/email', {
      name: 'Ada',
      email: 'Ada@Example.com',
      password: 'a good password',
    });
    expect([made.statusCode, made.json()]).toEqual([
      200,
      {
        user: {
          id: expect.stringMatching(/^usr_[0-9a-f]{32}$/),
          email: 'ada@example.com',
          name: 'Ada',
          createdAt: expect.any(String),
        },
      },
    ]);
    const viewer = await browser.graphql(VIEWER);
    expect(viewer.json()).toMatchObject({ data: { viewer: { id: made.json().user.id, email: 'ada@example.com' } } });
    expect((await browser.rest('GET', '/emails')).statusCode).toBe(200);
  });
});

describe('a link to sign in', () => {
  test('signs in once', async () => {
    await createAccount(gateway.owner, { email: 'linked@example.com', password: null, apiKey: null, mailbox: null });
    const token = await makeSignInLink(gateway.owner, 'linked@example.com');
    const browser = openBrowser(gateway.app);
    const response = await browser.auth('POST', '/sign-in/link', { token });
    expect([response.statusCode, response.json()]).toMatchObject([200, { user: { email: 'linked@example.com' } }]);
    expect((await browser.graphql(VIEWER)).json()).toMatchObject({ data: { viewer: { email: 'linked@example.com' } } });
    const again = await openBrowser(gateway.app).auth('POST', '/sign-in/link', { token });
    expect([again.statusCode, again.json()]).toMatchObject([400, { code: 'INVALID_TOKEN' }]);
  });
});
