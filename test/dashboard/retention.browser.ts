import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('the card that says how long mail is kept', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  test('shows and changes the days, and says why some are invalid', async () => {
    const account = await stage.account();
    const tab = await stage.open(account);
    const { page } = tab;
    await page.goto(`${stage.url}/settings?tab=service`);
    const card = page.getByRole('region', { name: 'Retention' });
    const [raw, bodies] = [card.getByLabel('Raw messages and attachments (days)'), card.getByLabel('Bodies (days)')];
    await raw.fill('40');
    await bodies.fill('30');
    await card.getByRole('button', { name: 'Save' }).click();
    await card.getByText('Raw messages cannot be kept longer than bodies').waitFor();
    await stage.mail({ to: account.address, subject: 'Old', text: 'Hello' });
    const aged = async () =>
      (
        await stage.database.pool.query(
          `update email set created_at = now() - interval '25 days' where workspace_id = $1 and thread_id is not null`,
          [account.workspaceId],
        )
      ).rowCount;
    await expect.poll(aged).toBe(1);
    await raw.fill('20');
    await card.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: 'Shorten the retention?' });
    await dialog.getByText('the raw message and attachments of 1 email').waitFor();
    await dialog.getByText('the text of 0 emails').waitFor();
    expect(await findViolations(page)).toEqual([]);
    const shorten = dialog.getByRole('button', { name: 'Shorten retention' });
    expect(await shorten.isDisabled()).toBe(true);
    await dialog.getByLabel('Type erase to confirm').fill('erase');
    await shorten.click();
    await page.getByText('The retention settings were saved.').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.reload();
    await expect.poll(() => raw.inputValue()).toBe('20');
    const { body } = await account.graphql('{ viewer { retention { rawDays bodyDays metadataDays } } }');
    expect(body.data.viewer.retention).toEqual({ rawDays: 20, bodyDays: 30, metadataDays: null });
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });
});
