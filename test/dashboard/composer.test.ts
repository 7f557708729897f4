import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { refusalOfMailboxes } from '../../gateway/dashboard/composer/address-text.ts';
import { markFor } from '../../gateway/dashboard/composer/draft.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

test('the same content is sent with the same key, and other content with another', () => {
  const first = markFor('a', null);
  expect(markFor('a', first)).toEqual(first);
  expect(markFor('b', first).key).not.toBe(first.key);
});

test.each([
  ['ann@example.com', null],
  ['"Lee, Ann" <ann@example.com>', null],
  ['ann@', '"ann@" is not a valid address'],
  ['ann@localhost', '"ann@localhost" is not a valid address'],
])('of the address %s is said: %s', (text, refusal) => {
  expect(refusalOfMailboxes([text])).toBe(refusal);
});

let stage: BrowserStage;

describe.skipIf(chromiumPath === undefined)('the composer', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  test('answers with a file, sends on, keeps drafts, schedules and takes back', async () => {
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

    // An answer; a slip is told at its field, and what is written outlives a reload.
    await page.keyboard.press('r');
    const text = page.getByRole('textbox', { name: 'Message', exact: true });
    await text.fill('Forty-two.');
    await expect.poll(() => page.evaluate(() => JSON.stringify(sessionStorage))).toContain('Forty-two.');
    await page.reload();
    await expect.poll(() => text.inputValue()).toBe('Forty-two.');
    const subject = page.getByRole('textbox', { name: 'Subject' });
    await expect.poll(() => subject.inputValue()).toBe('Re: Question');
    await page.getByLabel('Files to attach').setInputFiles({
      name: 'answer.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('42'),
    });
    await page.getByText('answer.txt').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Send', exact: true }).dblclick();
    await page.getByText('The email is being sent.').waitFor();
    await expect.poll(async () => (await received(friend)).map((mail) => mail.subject)).toEqual(['Re: Question']);
    const [answer] = await received(friend);
    expect(answer).toMatchObject({ attachments: [{ filename: 'answer.txt', size: 2 }] });
    expect(answer?.content.text).toMatch(/^Forty-two\.\s+On .* wrote:\s+> What is the answer\?/);

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

    // A new one for later, taken back; nothing of it is sent.
    await page.goto(`${stage.url}/inbox?compose=new`);
    const dialog = page.getByRole('dialog');
    await toField(page).fill(friend.address);
    await page.keyboard.press('Enter');
    await dialog.getByRole('textbox', { name: 'Subject' }).fill('Later');
    await dialog.getByRole('textbox', { name: 'Message', exact: true }).fill('Not now.');
    await dialog.getByRole('button', { name: 'Send later' }).click();
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
    expect(body.data.emails.edges).toEqual([{ node: { status: 'CANCELLED' } }]);

    // Where nothing may be sent any more is said above the fields.
    await account.graphql(
      'mutation ($input: SuppressAddressInput!) { suppressAddress(input: $input) { __typename } }',
      { input: { address: friend.address } },
    );
    await page.goto(`${stage.url}/inbox?compose=new`);
    await dialog.getByRole('button', { name: 'Schedule' }).click();
    await dialog.getByRole('link', { name: 'remove the suppression' }).waitFor();
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });
});

function toField(page: Page) {
  return page.getByLabel('To', { exact: true }).and(page.locator('input:visible'));
}

interface ReceivedMail {
  subject: string;
  attachments: { filename: string; size: number }[];
  content: { text: string | null };
}

async function received(account: Awaited<ReturnType<BrowserStage['account']>>): Promise<ReceivedMail[]> {
  const { body } = await account.graphql(
    '{ emails(filter: { type: RECEIVED }) { edges { node { subject attachments { filename size } content { text } } } } }',
  );
  return body.data.emails.edges.map(({ node }: { node: ReceivedMail }) => node);
}
