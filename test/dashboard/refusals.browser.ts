import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { SmtpClient } from '../support/servers/smtp-client.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('the page of refused mail', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  test('shows why mail was refused, finds it by its recipient, and shows hostile names as text', async () => {
    const account = await stage.account();
    const client = await SmtpClient.connect(stage.service.smtpPort, { localAddress: '127.0.0.21' });
    await client.reply();
    await client.say('EHLO <img/src=x/onerror=alert(1)>');
    await client.say(`MAIL FROM:<"<script>alert(2)</script>"@elsewhere.test>`);
    const hostile = Buffer.from(`RCPT TO:<"<b>\u202egnp.exe</b>"@${account.domain}>\r\n`);
    client.send(hostile);
    expect((await client.reply()).code).toBe(550);
    expect((await client.say(`RCPT TO:<missing@${account.domain}>`)).text).toBe('550 5.1.1 No such mailbox');
    client.destroy();

    const tab = await stage.open(account);
    const { page } = tab;
    await expect
      .poll(async () => (await account.call('GET', '/refusals')).body.data.length, { timeout: 60_000 })
      .toBe(2);
    await page.goto(`${stage.url}/refused`);
    const list = page.getByRole('list', { name: 'Refusals' });
    await list.getByText('<b>\ufffdgnp.exe</b>').waitFor();
    await list.getByText('<script>alert(2)</script>').first().waitFor();
    await list.getByText('<img/src=x/onerror=alert(1)>').first().waitFor();
    await list.getByText('550 5.1.1 No such mailbox').first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByLabel('Recipient, sender or client').fill('missing@');
    await expect.poll(() => list.getByRole('listitem').count()).toBe(1);
    await list.getByText(`missing@${account.domain}`).waitFor();
    await page.getByLabel('Recipient, sender or client').fill('no-such-text');
    await page.getByText('No matching refusals').waitFor();
    await page.getByRole('button', { name: 'Show all refusals' }).click();
    await expect.poll(() => list.getByRole('listitem').count()).toBe(2);
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });
});
