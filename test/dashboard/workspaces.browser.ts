import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { totpCode } from '../../core/accounts/totp.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';
import { readTotpSecret } from '../support/stages/totp-secret.ts';

type Account = Awaited<ReturnType<BrowserStage['account']>>;

const PASSWORD = 'correct horse battery staple';
const DRAFTS = '{ drafts(first: 5) { edges { node { text subject } } } }';
let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('a page whose session changes', { timeout: 300_000 }, () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  /** Opens a tab of a person with a workspace of their own, who is a member of a team's, and is there. */
  async function openMember(role: string) {
    const [team, own] = [await stage.account(), await stage.account()];
    await stage.database.pool.query(
      `insert into workspace_member (workspace_id, person_id, role) values ($1, $2, $3)`,
      [team.workspaceId, own.workspaceId, role],
    );
    const tab = await stage.open(own);
    await switchTo(tab.context, team);
    return { ...tab, team, own };
  }

  test('in another workspace keeps what is written, and lets nothing of it get there', async () => {
    const { page, context, team, own, close } = await openMember('agent');
    await page.goto(`${stage.url}/inbox?compose=new`);
    await write(page, 'The plan of the team');
    // Without a word to the page, as after a restart of the browser.
    await switchTo(context, own);
    const dialog = page.getByRole('dialog', { name: 'This browser is in another workspace' });
    await dialog.waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await readDrafts(own)).toEqual([]);
    await dialog.getByRole('button', { name: /^Back to / }).click();
    await dialog.waitFor({ state: 'hidden' });
    // The focus returns to where it was.
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('role'));
    await expect.poll(focused).toBe('textbox');
    await page.keyboard.type(' goes on');
    await expect.poll(() => readDrafts(team)).toEqual(['The plan of the team goes on']);
    expect(await readDrafts(own)).toEqual([]);

    // Another tab says that it has switched.
    const other = await context.newPage();
    await other.goto(stage.url);
    await chooseWorkspace(other, /· owner$/);
    await dialog.waitFor();
    await dialog.getByRole('button', { name: 'Open the other workspace' }).click();
    await page.getByRole('link', { name: 'API keys' }).waitFor();
    await close();
  });

  test('stores what was written a moment before the workspace is switched or the person signs out', async () => {
    for (const leave of [
      (page: Page) => chooseWorkspace(page, /· owner$/),
      async (page: Page) => {
        await page.getByRole('button', { name: /^Account / }).click();
        await page.getByRole('menuitem', { name: 'Sign out' }).click();
      },
    ]) {
      const { page, team, own, close } = await openMember('agent');
      await stage.mail({ to: team.address, subject: 'A question', text: 'Hello' });
      await page.goto(`${stage.url}/inbox`);
      await page.getByRole('row').filter({ hasText: 'A question' }).getByRole('link').click();
      await page.getByRole('heading', { name: 'A question', level: 2 }).waitFor();
      await page.keyboard.press('r');
      await write(page, 'First');
      await expect.poll(() => readDrafts(team)).toEqual(['First']);
      await page.keyboard.type(' and last words');
      await leave(page);
      await expect.poll(() => readDrafts(team)).toEqual(['First and last words']);
      expect(await readDrafts(own)).toEqual([]);
      await close();
    }
  });

  test('signs out at the provider, too, from a tab that shows another workspace than the session is in', async () => {
    const { page, context, own, close } = await openMember('agent');
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('button', { name: /^Account / }).click();
    // The page has not heard of the switch yet.
    await page.route('**/graphql**', () => undefined);
    await switchTo(context, own);
    const asked = page.waitForResponse((response) => response.url().endsWith('/api/auth/provider/sign-out'));
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    const response = await asked;
    expect([response.status(), await response.json()]).toEqual([200, { url: null }]);
    await page.waitForURL('**/sign-in');
    await close();
  });

  test('offers the other workspaces for a link that is not of this one', async () => {
    const { page, context, team, own, close } = await openMember('viewer');
    await stage.mail({ to: team.address, subject: 'Of the team', text: 'Hello' });
    const threads = async () => (await team.call('GET', '/mail/threads')).body.threads;
    await expect.poll(async () => (await threads()).length).toBe(1);
    const [{ id }] = await threads();
    await switchTo(context, own);
    await page.goto(`${stage.url}/inbox/${id}`);
    await page.getByRole('heading', { name: 'Conversation not found' }).waitFor();
    const others = page.getByRole('group', { name: 'Other workspaces' });
    await others.waitFor();
    expect(await findViolations(page)).toEqual([]);
    await others.getByRole('button').click();
    await page.getByRole('heading', { name: 'Of the team', level: 2 }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/inbox/${id}`);
    await close();
  });

  test('takes the controls of a right away when the role is lowered, also while a dialog is open', async () => {
    const { page, team, own, close } = await openMember('admin');
    await page.goto(`${stage.url}/suppressions`);
    await page.locator('[data-live=live]').waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Suppress address' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Address').fill('ann@elsewhere.test');
    expect(await team.call('PATCH', `/members/${own.workspaceId}`, { role: 'viewer' })).toMatchObject({ status: 200 });
    await page.getByText('your role is viewer').waitFor();
    await dialog.getByRole('button', { name: 'Suppress address' }).click();
    await dialog.getByText(/Your role is viewer/).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('button', { name: 'Suppress address' }).count()).toBe(0);
    await close();
  });

  test('asks for the second factor that the workspace requires now, and goes on with what is written', async () => {
    const { page, team, own, close } = await openMember('agent');
    await page.goto(`${stage.url}/inbox?compose=new`);
    await page.locator('[data-live=live]').waitFor({ state: 'attached' });
    await write(page, 'Half a sentence');
    await expect.poll(() => readDrafts(team)).toEqual(['Half a sentence']);
    const owner = await stage.open(team);
    await requireSecondFactor(owner.context);
    const dialog = page.getByRole('dialog', { name: 'Set up a second factor' });
    await dialog.getByRole('button', { name: 'Set up authenticator app' }).click();
    const secret = readTotpSecret((await dialog.locator('code').textContent()) ?? '');
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByLabel('2. Enter the code').fill(await totpCode(secret, new Date()));
    await dialog.getByRole('button', { name: 'Turn on' }).click();
    await dialog.getByRole('list', { name: 'Recovery codes' }).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('textbox', { name: 'Message', exact: true }).click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type(', and its end');
    await expect.poll(() => readDrafts(team)).toEqual(['Half a sentence, and its end']);
    expect(await readDrafts(own)).toEqual([]);
    await Promise.all([close(), owner.close()]);
  });

  test('tells a member who was removed, and goes on in the own workspace', async () => {
    const { page, context, team, own, close } = await openMember('agent');
    const set = { data: { newPassword: PASSWORD }, headers: { origin: stage.url } };
    expect((await context.request.post(`${stage.url}/api/auth/set-password`, set)).status()).toBe(200);
    await page.goto(`${stage.url}/inbox`);
    await page.locator('[data-live=live]').waitFor({ state: 'attached' });
    expect(await team.call('DELETE', `/members/${own.workspaceId}`)).toMatchObject({ status: 200 });
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
    await dialog.getByText('You are no longer a member of').waitFor();
    await dialog.getByRole('button', { name: 'Continue there' }).click();
    await page.getByRole('link', { name: 'API keys' }).waitFor();
    await close();
  });
});

async function switchTo(context: BrowserContext, { workspaceId }: { workspaceId: string }): Promise<void> {
  const response = await context.request.post(`${stage.url}/api/auth/switch-workspace`, {
    data: { workspaceId },
    headers: { origin: stage.url },
  });
  expect(response.status()).toBe(200);
}

async function chooseWorkspace(page: Page, name: RegExp): Promise<void> {
  await page.getByRole('button', { name: /^Account / }).click();
  await page.getByRole('menuitem', { name }).click();
}

/** Writes the text of a new email. */
async function write(page: Page, text: string): Promise<void> {
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  await field.click();
  await page.keyboard.type(text);
}

/** Returns what is written in the drafts, without what they quote. */
async function readDrafts(account: Account): Promise<string[]> {
  const { body } = await account.graphql(DRAFTS);
  return body.data.drafts.edges.map(({ node }: { node: { text: string } }) => node.text.split('\n')[0]?.trim() ?? '');
}

/** Sets up the second factor of the owner, and requires one of all members. */
async function requireSecondFactor(context: BrowserContext): Promise<void> {
  const post = async (path: string, data: object) => {
    const response = await context.request.post(`${stage.url}/api/auth/second-factor/${path}`, {
      data,
      headers: { origin: stage.url },
    });
    expect([path, response.status()]).toEqual([path, 200]);
    return response.json();
  };
  const { secret } = await post('set-up', {});
  await post('turn-on', { code: await totpCode(readTotpSecret(secret), new Date()) });
  await post('require', { isRequired: true });
}
