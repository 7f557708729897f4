import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('the composer', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  test('replies with a file, forwards, keeps drafts, schedules and undoes', async () => {
    const account = await stage.account();
    const friend = await stage.account();
    await stage.mail({
      to: account.address,
      from: `Friend <${friend.address}>`,
      subject: 'Question',
      text: 'What is the answer?',
      attachments: [{ filename: 'question.txt', content: 'what' }],
    });
    const tab = await stage.open(account);
    const { page } = tab;
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('grid').getByRole('row').filter({ hasText: 'Question' }).first().click();
    await page.getByRole('article').getByText('What is the answer?').last().waitFor();

    await page.evaluate(() => localStorage.setItem('postroom-undo-seconds', '0'));

    // A reply; a slip is told at its field, and what is written outlives a reload.
    await page.keyboard.press('r');
    const text = page.getByRole('textbox', { name: 'Message', exact: true });
    await text.fill('Forty-two.');
    await page.getByText('Draft saved').waitFor();
    await page.reload();
    await expect.poll(() => text.innerText()).toBe('Forty-two.');

    // Another tab changes it: nothing is lost before the user decides.
    const other = await stage.open(account);
    await other.page.goto(page.url());
    const otherText = other.page.getByRole('textbox', { name: 'Message', exact: true });
    await expect.poll(() => otherText.innerText()).toBe('Forty-two.');
    await otherText.fill('Forty-three.');
    await expect.poll(() => readDrafts(account)).toMatchObject([{ text: expect.stringContaining('Forty-three.') }]);
    await text.fill('Forty-four.');
    await page.getByText('This draft was changed elsewhere').waitFor();
    await page.getByRole('button', { name: 'Load other version' }).click();
    await expect.poll(() => text.innerText()).toBe('Forty-three.');
    await otherText.fill('Forty-five.');
    await expect.poll(() => readDrafts(account)).toMatchObject([{ text: expect.stringContaining('Forty-five.') }]);
    await text.fill('Forty-two.');
    await page.getByRole('button', { name: 'Keep my version' }).click();
    await page.getByText('Draft saved').waitFor();
    await other.close();
    // The list and the conversation show it.
    await page.goto(`${stage.url}/drafts`);
    await page.getByLabel('1 draft').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'Re: Question' }).click();
    await page.getByRole('button', { name: 'Close and keep draft' }).click();
    await page.getByRole('button', { name: 'Open draft' }).click();
    await expect.poll(() => text.innerText()).toBe('Forty-two.');
    const subject = page.getByRole('textbox', { name: 'Subject' });
    await expect.poll(() => subject.inputValue()).toBe('Re: Question');
    await page.getByLabel('Files to attach').setInputFiles({
      name: 'answer.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('42'),
    });
    await page.getByText('answer.txt').waitFor();
    await expect.poll(() => readDrafts(account)).toMatchObject([{ attachments: [{ filename: 'answer.txt' }] }]);
    await page.reload();
    await page.getByText('answer.txt').waitFor();
    await expect.poll(() => text.evaluate((field) => field === document.activeElement)).toBe(true);
    await text.press('ControlOrMeta+End');
    await text.press('Enter');
    await page.getByRole('button', { name: 'Ordered list' }).click();
    await text.press('ControlOrMeta+b');
    await page.keyboard.type('Surely.');
    await page.getByRole('button', { name: 'Bold', exact: true }).and(page.locator('[data-active]')).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Send', exact: true }).dblclick();
    await page.getByText('The email is being sent.').waitFor();
    await expect.poll(async () => (await received(friend)).map((mail) => mail.subject)).toEqual(['Re: Question']);
    const [response] = await received(friend);
    expect(response).toMatchObject({ attachments: [{ filename: 'answer.txt', size: 2 }] });
    expect(response?.content.text).toMatch(/^Forty-two\.\s+1\. Surely\.\s+On .* wrote:\s+> What is the answer\?/);
    const quoted = /<p>Forty-two\.<\/p><ol><li><strong>Surely\.<\/strong><\/li><\/ol><p>On .* wrote:<\/p><blockquote/;
    expect(response?.content.html).toMatch(quoted);

    // Sent on, with its file.
    await page.keyboard.press('f');
    await page.getByRole('textbox', { name: 'Message above' }).fill('Do you know?');
    await page.getByRole('checkbox', { name: /question\.txt/ }).waitFor();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('Enter at least one recipient').waitFor();
    await toField(page).fill(friend.address);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await expect
      .poll(async () => (await received(friend)).find((mail) => mail.subject === 'Fwd: Question')?.attachments)
      .toEqual([{ filename: 'question.txt', size: 4 }]);

    // A new one, with what is pasted: without scripts, styles and images from elsewhere, and with its own image.
    await page.goto(`${stage.url}/inbox?compose=new`);
    const dialog = page.getByRole('dialog');
    const message = dialog.getByRole('textbox', { name: 'Message', exact: true });
    await page.evaluate(() => localStorage.setItem('postroom-undo-seconds', '30'));
    await toField(page).fill(friend.address);
    await page.keyboard.press('Enter');
    await dialog.getByRole('textbox', { name: 'Subject' }).fill('Map');
    await message.focus();
    await paste(page, { html: HOSTILE, files: [] });
    await page.getByText('1 pasted image was left out, because only the address was copied.').waitFor();
    await paste(page, { html: '', files: [PIXEL] });
    const image = message.getByRole('img', { name: 'pixel.png' });
    await expect.poll(() => image.evaluate((shown: HTMLImageElement) => shown.naturalWidth)).toBe(1);
    await dialog.getByLabel('Files to attach').setInputFiles({
      name: 'route.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('north'),
    });
    const hasFiles = [{ attachments: [{ filename: 'pixel.png' }, { filename: 'route.txt' }] }];
    await expect.poll(() => readDrafts(account)).toMatchObject(hasFiles);
    await page.waitForURL(/[?&]draft=/);
    await page.reload();
    await expect.poll(() => image.evaluate((shown: HTMLImageElement) => shown.naturalWidth)).toBe(1);

    // Sent and taken back: all of it is in a draft again, which is opened.
    await dialog.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('Sent.', { exact: true }).waitFor();
    expect(await readDrafts(account)).toEqual([]);
    await page.getByRole('button', { name: 'Undo' }).last().click();
    await page.getByText('Sending was stopped.').waitFor();
    await dialog.getByText('route.txt').waitFor();
    await expect.poll(() => image.evaluate((shown: HTMLImageElement) => shown.naturalWidth)).toBe(1);
    await page.evaluate(() => localStorage.setItem('postroom-undo-seconds', '0'));
    await message.press('ControlOrMeta+Enter');
    await expect.poll(async () => (await received(friend)).find((mail) => mail.subject === 'Map')).toBeDefined();
    const map = (await received(friend)).find((mail) => mail.subject === 'Map');
    expect(map?.content.html).toMatch(
      /^<p>Go <strong>north<\/strong>\. <a href="https:\/\/elsewhere\.test\/">Here<\/a><img src="cid:[0-9a-f]+@inline" alt="pixel\.png"><\/p>$/,
    );
    expect(map?.content.text?.trim()).toBe('Go north. Here (https://elsewhere.test/)[pixel.png]');
    expect(map?.attachments.map(({ filename }) => filename).toSorted()).toEqual(['pixel.png', 'route.txt']);

    // Images that are part of pasted HTML become inline images, once, though the clipboard has them as a file, too; up to the limits of an email.
    await page.goto(`${stage.url}/inbox?compose=new`);
    await toField(page).fill(friend.address);
    await page.keyboard.press('Enter');
    await dialog.getByRole('textbox', { name: 'Subject' }).fill('Chart');
    await message.focus();
    const chart = `<p>Sales<img alt="chart" src="data:image/png;base64,${PIXEL}"></p>`;
    const word = '<img src="file:///C:/Temp/image001.png"><img src="data:image/svg+xml;base64,PHN2Zy8+">';
    await paste(page, { html: chart + word, files: [PIXEL] });
    await page.getByText('2 pasted images were left out, because only the address was copied.').waitFor();
    const pastedImage = message.getByRole('img', { name: 'chart' });
    await expect.poll(() => pastedImage.evaluate((shown: HTMLImageElement) => shown.naturalWidth)).toBe(1);
    await paste(page, { html: `<img src="data:image/png;base64,${PIXEL}">`.repeat(21), files: [] });
    await page.getByText('2 pasted images were left out, because an email can have at most 20 files').waitFor();
    await paste(page, { html: `<img src="data:image/png;base64,${'A'.repeat(14_000_000)}">`, files: [] });
    await page
      .getByText('1 pasted image was left out, because an email can have at most 20 files and 10.0 MB')
      .waitFor();
    expect(await findViolations(page)).toEqual([]);
    await message.press('ControlOrMeta+Enter');
    await expect.poll(async () => (await received(friend)).find((mail) => mail.subject === 'Chart')).toBeDefined();
    const sold = (await received(friend)).find((mail) => mail.subject === 'Chart');
    expect(sold?.content.html).toMatch(
      /^<p>Sales<img src="cid:[0-9a-f]+@inline" alt="chart">(?:<img src="cid:[0-9a-f]+@inline" alt="image\.png">){19}<\/p>$/,
    );
    expect(sold?.attachments).toHaveLength(20);

    // The signature of the sender is below it, and goes with the sender.
    const [own] = (await account.call('GET', '/email-addresses')).body.data;
    await account.call('PUT', `/email-addresses/${own.id}`, { signature: 'Ann <Lee>\nPostroom' });

    // In plain text, for later, and taken back; nothing of it is sent.
    await page.goto(`${stage.url}/inbox?compose=new`);
    await toField(page).fill(friend.address);
    await page.keyboard.press('Enter');
    await dialog.getByRole('textbox', { name: 'Subject' }).fill('Later');
    await message.press('ControlOrMeta+b');
    await page.keyboard.type('Not now.');
    await dialog.getByRole('button', { name: 'Use plain text' }).click();
    await dialog.getByRole('button', { name: 'Remove formatting' }).click();
    const plain = () => dialog.locator('textarea:visible').inputValue();
    await expect.poll(plain).toBe('Not now.\n\n-- \nAnn <Lee>\nPostroom');
    const sender = dialog
      .getByRole('combobox', { name: 'From' })
      .or(dialog.getByLabel('From', { exact: true }))
      .first();
    await sender.fill(`other@${account.domain}`);
    await expect.poll(plain).toBe('Not now.');
    await sender.fill(account.address);
    await expect.poll(plain).toBe('Not now.\n\n-- \nAnn <Lee>\nPostroom');
    await dialog.getByRole('button', { name: 'Send later' }).click();
    await page.getByRole('menuitem', { name: 'Tomorrow morning' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('menuitem', { name: 'Pick a date' }).click();
    await dialog.getByLabel('Date and time').fill('2020-01-01T09:00');
    await dialog.getByText('Choose a time at least one minute from now.').waitFor();
    await dialog.getByRole('textbox', { name: 'Send at' }).fill('in the blue');
    await dialog.getByText('This is not a valid time').waitFor();
    await dialog.getByRole('textbox', { name: 'Send at' }).fill('tomorrow at 9am');
    await dialog.getByText(/Will be sent .*9:00:00/).waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Schedule' }).click();
    await page.getByText(/Scheduled for .*9:00:00/).waitFor();
    await page.getByRole('button', { name: 'Undo' }).last().click();
    await page.getByText('Sending was stopped.').waitFor();
    const { body } = await account.graphql('{ emails(filter: { type: SCHEDULED }) { edges { node { status } } } }');
    expect(body.data.emails.edges).toEqual([{ node: { status: 'CANCELLED' } }, { node: { status: 'CANCELLED' } }]);
    expect(await readDrafts(account)).toMatchObject([{ text: 'Not now.\n\n-- \nAnn <Lee>\nPostroom', html: null }]);

    // Where nothing may be sent any more is said above the fields.
    await account.graphql(
      'mutation ($input: SuppressAddressInput!) { suppressAddress(input: $input) { __typename } }',
      { input: { address: friend.address } },
    );
    await dialog.getByRole('button', { name: 'Schedule' }).click();
    await dialog.getByRole('link', { name: 'remove the suppression' }).waitFor();
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });
});

async function readDrafts(account: Awaited<ReturnType<BrowserStage['account']>>) {
  const { body } = await account.graphql('{ drafts { edges { node { text html attachments { filename } } } } }');
  return body.data.drafts.edges.map(({ node }: { node: object }) => node);
}

const HOSTILE = `<style>p{color:red}</style><script>window.isHacked=1</script><p style="position:fixed" onclick="x()">Go <b>north</b>.
  <a href="https://elsewhere.test/" onmouseover="x()">Here</a><img src="https://elsewhere.test/pixel.gif" onerror="x()"></p>`;
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Pastes HTML and PNG files, given in base64, where the focus is. */
async function paste(page: Page, pasted: { html: string; files: string[] }): Promise<void> {
  await page.evaluate(({ html, files }) => {
    const data = new DataTransfer();
    if (html !== '') data.setData('text/html', html);
    for (const file of files) {
      const bytes = Uint8Array.from(atob(file), (letter) => letter.codePointAt(0) ?? 0);
      data.items.add(new File([bytes], 'pixel.png', { type: 'image/png' }));
    }
    const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
    document.activeElement?.dispatchEvent(event);
  }, pasted);
}

function toField(page: Page) {
  return page.getByLabel('To', { exact: true }).and(page.locator('input:visible'));
}

interface ReceivedMail {
  subject: string;
  attachments: { filename: string; size: number }[];
  content: { text: string | null; html: string | null };
}

async function received(account: Awaited<ReturnType<BrowserStage['account']>>): Promise<ReceivedMail[]> {
  const { body } = await account.graphql(
    '{ emails(filter: { type: RECEIVED }) { edges { node { subject attachments { filename size } content { text html } } } } }',
  );
  return body.data.emails.edges.map(({ node }: { node: ReceivedMail }) => node);
}
