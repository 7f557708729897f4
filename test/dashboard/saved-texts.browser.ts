import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

const LIMIT = { timeout: 300_000 };
let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('what users keep under a name', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  test('a view is saved, opened from the navigation, renamed and deleted', LIMIT, async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'Invoice 1', text: 'Hello' });
    await stage.mail({ to: account.address, subject: 'Something else', text: 'Hello' });
    const { page, complaints } = await stage.open(account);
    await page.goto(`${stage.url}/inbox?q=subject%3Ainvoice`);
    await page.getByRole('row').filter({ hasText: 'Invoice 1' }).waitFor();
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.keyboard.type('Invoices\n');
    const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Invoices' });
    await link.waitFor();
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Inbox' }).click();
    await page.getByRole('row').filter({ hasText: 'Something else' }).waitFor();
    await link.click();
    await page.getByRole('row').filter({ hasText: 'Something else' }).waitFor({ state: 'detached' });
    expect(await link.getAttribute('aria-current')).toBe('page');
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Saved as Invoices' }).click();
    await page.getByLabel('Name of the view').fill('Bills');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('link', { name: 'Bills' }).waitFor();
    await page.getByRole('button', { name: 'Saved as Bills' }).click();
    await page.getByRole('button', { name: 'Delete view' }).click();
    await page.getByRole('link', { name: 'Bills' }).waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });

  test('a snippet is created in the settings, and inserted by a slash without waiting', LIMIT, async () => {
    const account = await stage.account();
    const { page, complaints } = await stage.open(account);
    page.setDefaultTimeout(20_000);
    await page.goto(`${stage.url}/settings?tab=snippets`);
    await page.getByRole('button', { name: 'Create snippet' }).click();
    await page.keyboard.type('Thanks');
    await page.getByRole('textbox', { name: 'Text' }).fill('Dear {{recipient.age}}');
    await page.getByRole('form', { name: 'New snippet' }).getByRole('button', { name: 'Create snippet' }).click();
    await page.getByText('{{recipient.age}} is not a placeholder').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page
      .getByRole('textbox', { name: 'Text' })
      .fill('Dear {{recipient.first_name}},\n\nthank you for your mail.');
    await page.getByRole('form', { name: 'New snippet' }).getByRole('button', { name: 'Create snippet' }).click();
    await page.getByRole('list', { name: 'Snippets' }).getByText('Thanks', { exact: true }).waitFor();

    await page.goto(`${stage.url}/inbox?compose=new`);
    await page.getByRole('combobox', { name: 'To' }).fill('Ada Lovelace <ada@elsewhere.test>');
    await page.keyboard.press('Enter');
    const message = page.getByRole('textbox', { name: 'Message' });
    await message.click();
    await page.getByRole('button', { name: 'Snippet', exact: true }).waitFor();
    await page.keyboard.type('/than\n');
    await expect.poll(() => message.innerText()).toContain('Dear Ada,');
    expect(await message.innerText()).not.toContain('/');
    await page.keyboard.type(' More. and/or');
    expect(await message.innerText()).toContain('for your mail. More. and/or');
    expect(await page.getByLabel('Find snippet').count()).toBe(0);
    // What is no snippet stays as it was typed.
    await page.keyboard.type('\n/etc');
    await page.getByText('No snippet matches.').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await expect.poll(() => message.innerText()).toContain('/etc');
    await page.getByRole('button', { name: 'Use plain text' }).click();
    await page.getByRole('button', { name: 'Snippet', exact: true }).click();
    await page.getByRole('button', { name: 'Thanks', exact: true }).click();
    await expect
      .poll(() => page.getByRole('textbox', { name: 'Message' }).inputValue())
      .toMatch(/Dear Ada,[\s\S]*Dear Ada,/);
    expect(complaints).toEqual([]);
  });
});
