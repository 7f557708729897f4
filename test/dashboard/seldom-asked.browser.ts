import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeSignInLink } from '../../db/queries/accounts/sign-in-link.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';
import { readServiceMail } from '../support/stages/service-mail.ts';

const PASSWORD = 'correct horse battery staple';
/** Of one test on a loaded machine. Milliseconds. */
const JOURNEY_MS = 180_000;

let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('what the dashboard asks for', { timeout: JOURNEY_MS }, () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  }, 300_000);
  afterAll(() => stage?.close());

  test('a team reads the list once as the inbox loads, and then its rows for marks that may have been missed', async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'For the team', text: 'Said to everyone' });
    const { page, close } = await join(account, 'Ann');
    await page.goto(`${stage.url}/domains`);
    const asked = watchQueries(page);
    await page.goto(`${stage.url}/inbox`);
    const row = page.getByRole('grid').getByRole('row').filter({ hasText: 'For the team' });
    await row.waitFor();
    await expect.poll(() => asked).toContain('DashboardMarks');
    // The marks that may have been missed: rows by their ids.
    await expect.poll(() => asked).toContain('InboxThreadsById');
    expect(asked.filter((name) => name === 'InboxThreads' || name === 'InboxFrame').toSorted()).toEqual([
      'InboxFrame',
      'InboxThreads',
    ]);
    await close();
  });

  test('a sign-in link shows its own person where another one was signed in', async () => {
    const [first, second] = [await stage.account(), await stage.account()];
    const { page, close } = await stage.open(first);
    await page.goto(`${stage.url}/inbox`);
    const [mine, other] = await Promise.all([readEmail(first), readEmail(second)]);
    await page.getByRole('button', { name: `Account ${mine}` }).waitFor();
    const token = await makeSignInLink(stage.database, other);
    await page.goto('about:blank');
    await page.goto(`${stage.url}/sign-in/link#${token}`);
    await page.getByRole('button', { name: `Account ${other}` }).waitFor();
    expect(await page.getByRole('button', { name: `Account ${mine}` }).count()).toBe(0);
    await close();
  });
});

type Account = Awaited<ReturnType<BrowserStage['account']>>;

async function readEmail(account: Account): Promise<string> {
  const { body } = await account.graphql('{ viewer { email } }');
  return body.data.viewer.email;
}

/** Invites a person, who then signs up in the browser. */
async function join(account: Account, name: string) {
  const email = `${name.toLowerCase()}-${account.domain}@elsewhere.test`;
  await account.call('POST', '/invitations', { email, role: 'agent' });
  const link = /\/invitation#[\w-]{43}/.exec((await readServiceMail(stage.database, email)).at(-1) ?? '')?.[0] ?? '';
  const opened = await stage.open(null);
  await opened.page.goto(`${stage.url}${link}`);
  await opened.page.getByLabel('Your name').fill(name);
  await opened.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await opened.page.getByRole('button', { name: 'Accept invitation' }).click();
  await opened.page.getByRole('button', { name: `Account ${email}` }).waitFor();
  return opened;
}

/** Returns the names of the operations that the page sends from now on. */
function watchQueries(page: Page): string[] {
  const names: string[] = [];
  page.on('request', (request) => {
    const name = /(?:"operationName":"|subscription )(\w+)/.exec(request.postData() ?? '')?.[1];
    if (name !== undefined) names.push(name);
  });
  return names;
}
