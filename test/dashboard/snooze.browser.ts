import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

const LIMIT = { timeout: 300_000 };
let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('snoozed conversations in the dashboard', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  const rows = (page: Page) => page.getByRole('row').getByRole('link');
  /** Lets the times of snoozes and reminders of the account pass. */
  const pass = (workspaceId: string) =>
    stage.database.pool.query(
      `update thread set snoozed_until = now() - interval '1 second' where workspace_id = $1 and snoozed_until is not null`,
      [workspaceId],
    );
  const passReminders = (workspaceId: string) =>
    stage.database.pool.query(
      `update thread set remind_at = now() - interval '1 second' where workspace_id = $1 and remind_at is not null`,
      [workspaceId],
    );

  test('leave the inbox by key, come back on top with a mark, and at once when a reply comes', LIMIT, async () => {
    const account = await stage.account();
    await stage.mail({
      to: account.address,
      subject: 'First question',
      text: 'Hello',
      messageId: '<first@sender.test>',
    });
    await stage.mail({ to: account.address, subject: 'Second question', text: 'Hello' });
    const { page, complaints } = await stage.open(account);
    await page.goto(`${stage.url}/inbox`);
    await rows(page).filter({ hasText: 'First question' }).click();
    await page.getByRole('heading', { name: 'First question' }).waitFor();
    // Typed without waiting: the key and the time.
    await page.keyboard.type('bin 3 days\n');
    await page.getByText('Conversation snoozed').waitFor();
    await expect.poll(() => rows(page).allTextContents()).toEqual([expect.stringContaining('Second question')]);

    await page.getByRole('radiogroup', { name: 'Folder' }).getByText('Snoozed').click();
    await page.getByRole('row').filter({ hasText: 'First question' }).getByText('Until').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('radiogroup', { name: 'Folder' }).getByText('Inbox').click();
    await rows(page).filter({ hasText: 'Second question' }).waitFor();
    await pass(account.workspaceId);
    await page.getByRole('row').filter({ hasText: 'First question' }).getByText('Snooze over').waitFor();
    await expect.poll(async () => (await rows(page).allTextContents())[0]).toContain('First question');

    // Again, from the list with the menu, and a reply.
    await rows(page).filter({ hasText: 'First question' }).focus();
    await page.keyboard.press('b');
    await page.getByRole('button', { name: 'Tomorrow morning' }).click();
    await rows(page).filter({ hasText: 'First question' }).waitFor({ state: 'detached' });
    await stage.mail({
      to: account.address,
      subject: 'Re: First question',
      text: 'Still there?',
      inReplyTo: '<first@sender.test>',
      references: '<first@sender.test>',
    });
    await page.getByRole('row').filter({ hasText: 'First question' }).getByText('Reply', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('are brought back with undo', LIMIT, async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'Only question', text: 'Hello' });
    const { page } = await stage.open(account);
    await page.goto(`${stage.url}/inbox`);
    await rows(page).first().click();
    await page.getByRole('heading', { name: 'Only question' }).waitFor();
    await page.getByRole('button', { name: 'Snooze', exact: true }).click();
    await page.getByRole('button', { name: 'In a week', exact: true }).click();
    await page.getByText('Conversation snoozed').waitFor();
    await page.keyboard.press('z');
    await rows(page).filter({ hasText: 'Only question' }).waitFor();
  });

  test('what an action could not change stays selected', LIMIT, async () => {
    const account = await stage.account();
    const names = ['One', 'Two', 'Three', 'Four'];
    for (const subject of names) await stage.mail({ to: account.address, subject, text: 'Hello' });
    const { page } = await stage.open(account);
    await page.goto(`${stage.url}/inbox`);
    for (const name of names) await page.getByRole('checkbox', { name: `Select ${name}`, exact: true }).click();
    let [snoozes, archives] = [0, 0];
    await page.route('**/graphql', async (route) => {
      const sent = route.request().postData() ?? '';
      const isRefused =
        (sent.includes('snoozeThread(') && ++snoozes === 3) || (sent.includes('updateThreads(') && ++archives === 1);
      await (isRefused ? route.abort() : route.continue());
    });
    const bar = page.getByRole('toolbar', { name: 'Selected conversations' });
    const snooze = async () => {
      await bar.getByRole('button', { name: 'Snooze', exact: false }).click();
      await page.getByRole('button', { name: 'In a week', exact: true }).click();
    };
    await bar.getByText('4 selected').waitFor();
    await snooze();
    await page.getByText('2 of 4 conversations snoozed').waitFor();
    await bar.getByText('2 selected').waitFor();
    await bar.getByRole('button', { name: 'Archive (e)' }).click();
    await expect.poll(() => page.getByText('The action failed').count()).toBe(2);
    await bar.getByText('2 selected').waitFor();
    await snooze();
    await page.getByText('2 conversations snoozed', { exact: true }).waitFor();
    await bar.waitFor({ state: 'hidden' });
  });

  test('a sent email comes back to the inbox when no one replies', LIMIT, async () => {
    const account = await stage.account();
    const { page } = await stage.open(account);
    await page.goto(`${stage.url}/inbox?compose=new`);
    await page.getByRole('combobox', { name: 'To' }).fill(`someone@${account.domain}`);
    await page.keyboard.press('Enter');
    await page.getByLabel('Subject').fill('An offer');
    await page.getByRole('textbox', { name: 'Message' }).fill('What do you think?');
    await page.getByRole('button', { name: 'Send later' }).click();
    await page.getByRole('menuitem', { name: 'In 2 days' }).click();
    await page.getByRole('button', { name: 'Remove reminder' }).waitFor();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await expect
      .poll(
        async () =>
          (
            await stage.database.pool.query(`select 1 from thread where workspace_id = $1 and remind_at is not null`, [
              account.workspaceId,
            ])
          ).rowCount,
        { timeout: 60_000 },
      )
      .toBe(1);
    await page.goto(`${stage.url}/inbox`);
    await passReminders(account.workspaceId);
    await page.getByRole('row').filter({ hasText: 'An offer' }).getByText('No reply').waitFor();
    expect(await findViolations(page)).toEqual([]);
  });
});
