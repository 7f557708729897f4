import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InvitedRole } from '../../../core/accounts/roles.ts';
import { createAccount } from '../../../db/queries/accounts/account.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';
import { readServiceMail } from '../../support/stages/service-mail.ts';

const PASSWORD = 'correct horse battery';
let gateway: TestGateway;
/** of the owner */
let box: TestMailbox;
let owner: BrowserSession;
let persons = 0;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { isSignUpOpen: false } });
  const email = 'owner@team.test';
  const made = await createAccount(gateway.owner, { email, password: PASSWORD, apiKey: null, mailbox: null });
  if (!('userId' in made)) throw new Error(made.outcome);
  box = await gateway.mailbox({ userId: made.userId });
  owner = await signIn(email);
});
afterAll(() => gateway.close());

async function signIn(email: string, password = PASSWORD): Promise<BrowserSession> {
  const browser = openBrowser(gateway.app);
  const response = await browser.auth('POST', '/sign-in/email', { email, password });
  expect(response.statusCode, response.body).toBe(200);
  return browser;
}

/** Returns a person with a workspace of their own. */
async function makePerson(): Promise<{ email: string; browser: BrowserSession; personId: string }> {
  const email = `person${persons++}@team.test`;
  const made = await createAccount(gateway.owner, { email, password: PASSWORD, apiKey: null, mailbox: null });
  if (!('userId' in made)) throw new Error(made.outcome);
  return { email, personId: made.userId, browser: await signIn(email) };
}

const invite = (body: Record<string, unknown>, by = owner) => by.rest('POST', '/invitations', {}, body);

async function readToken(email: string): Promise<string> {
  const mail = (await readServiceMail(gateway.owner, email)).at(-1) ?? '';
  return /http:\/\/postroom\.test\/invitation#([\w-]{43})/.exec(mail)?.[1] ?? '';
}

const accept = (browser: BrowserSession, token: string) => browser.auth('POST', '/accept-invitation', { token });

/** Returns a member of the owner's workspace, in a session there. */
async function makeMember(role: InvitedRole, more: Record<string, unknown> = {}) {
  const person = await makePerson();
  expect((await invite({ email: person.email, role, ...more })).statusCode).toBe(200);
  const accepted = await accept(person.browser, await readToken(person.email));
  expect(accepted.statusCode, accepted.body).toBe(200);
  return person;
}

describe('an invitation', () => {
  test('makes a second person a viewer, who then reads the inbox and changes nothing', async () => {
    await insertMail(gateway.owner, [{ userId: box.userId, ownAddress: box.address, subject: 'For the team' }]);
    const { email, browser } = await makePerson();
    expect((await browser.rest('GET', '/emails')).json().data).toEqual([]);
    const invited = await invite({ email: email.toUpperCase(), role: 'viewer' });
    expect([invited.statusCode, invited.json()]).toEqual([
      200,
      expect.objectContaining({ object: 'invitation', email, role: 'viewer', status: 'open' }),
    ]);
    const token = await readToken(email);
    const shown = (await openBrowser(gateway.app).auth('POST', '/invitation', { token })).json();
    expect(shown).toMatchObject({ email, role: 'viewer', state: 'open', hasAccount: true, workspaceName: 'owner' });
    expect((await accept(browser, token)).json()).toEqual({ status: true, workspaceId: box.userId });
    const emails = (await browser.rest('GET', '/emails')).json().data;
    expect(emails.map(({ subject }: { subject: string }) => subject)).toEqual(['For the team']);
    const marked = await browser.rest('POST', '/emails/bulk', {}, { ids: [emails[0].id], is_read: true });
    expect([marked.statusCode, marked.json()]).toEqual([403, expect.objectContaining({ code: 'insufficient_role' })]);
    const members = (await browser.rest('GET', '/members')).json().data;
    expect(members).toMatchObject([
      { role: 'owner', is_you: false },
      { role: 'viewer', is_you: true, email },
    ]);
  });
});
void makeMember;
