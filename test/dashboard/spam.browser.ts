import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('spam in the dashboard', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  test('a message is marked as spam in its menu, and comes back with Not spam', async () => {
    const account = await stage.account();
    await stage.mail({ to: account.address, subject: 'Cheap pills', text: 'Buy now' });
    const list = async (query: string) =>
      (await account.call('GET', `/emails?type=received&${query}`)).body.data as { id: string; thread_id: string }[];
    await expect.poll(async () => (await list('')).length, { timeout: 60_000 }).toBe(1);
    const tab = await stage.open(account);
    const { page } = tab;
    await page.goto(`${stage.url}/inbox`);
    await page.getByText('Cheap pills').first().click();
    await page.getByRole('button', { name: 'Actions for the message from Ada Lovelace' }).click();
    await page.getByRole('menuitem', { name: 'Mark as spam' }).click();
    await expect.poll(async () => (await list('spam=only')).length, { timeout: 30_000 }).toBe(1);
    expect(await list('')).toEqual([]);
    await page.goto(`${stage.url}/held`);
    await page.getByRole('tab', { name: /Spam/ }).click();
    const row = page.getByRole('list', { name: 'Spam' }).getByRole('listitem');
    await row.getByText('A member marked it as spam.').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await row.getByRole('button', { name: '“Cheap pills” is not spam' }).click();
    await expect.poll(async () => (await list('')).length, { timeout: 30_000 }).toBe(1);
    await expect.poll(() => row.count(), { timeout: 30_000 }).toBe(0);
    await page.goto(`${stage.url}/inbox`);
    await page.getByText('Cheap pills').first().waitFor();
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });
});
