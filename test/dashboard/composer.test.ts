import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { refusalOfMailboxes } from '../../gateway/dashboard/composer/address-text.ts';
import { draftInput, valuesOf } from '../../gateway/dashboard/composer/draft.ts';
import { chromiumPath } from '../support/servers/chromium.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

const values = {
  from: 'hello@box.test',
  to: ['ann@example.com', 'bob@'],
  cc: [],
  bcc: [],
  subject: 'Re: x',
  text: 'Yes.\n',
  scheduledAt: '',
  hasQuote: true,
  hasOriginalFiles: true,
};
const stored = {
  id: 'drf_1',
  version: 1,
  kind: 'REPLY' as const,
  html: null,
  originalEmail: null,
  withAttachments: true,
  attachments: [],
};

test('a draft is stored as it will be sent, and opened as it was written', () => {
  const input = draftInput(values, 'reply', 'On Monday, Ann wrote:\n> x');
  expect(input).toMatchObject({ to: ['ann@example.com'], text: 'Yes.\n\nOn Monday, Ann wrote:\n> x\n' });
  const opened = valuesOf({ ...stored, ...input }, values, 'On Monday, Ann wrote:\n> x');
  expect(opened).toEqual({ ...values, to: ['ann@example.com'], text: 'Yes.' });
  expect(valuesOf({ ...stored, ...input }, values, 'Other')).toMatchObject({ hasQuote: false, text: input.text });
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
    await page.getByText('Draft saved').waitFor();
    await page.reload();
    await expect.poll(() => text.inputValue()).toBe('Forty-two.');

    // Another tab changes it: nothing is lost before the user decides.
    const other = await stage.open(account);
    await other.page.goto(page.url());
    const otherText = other.page.getByRole('textbox', { name: 'Message', exact: true });
    await expect.poll(() => otherText.inputValue()).toBe('Forty-two.');
    await otherText.fill('Forty-three.');
    await expect.poll(() => draftsOf(account)).toMatchObject([{ text: expect.stringContaining('Forty-three.') }]);
    await text.fill('Forty-four.');
    await page.getByText('This draft was changed elsewhere').waitFor();
    await page.getByRole('button', { name: 'Load other version' }).click();
    await expect.poll(() => text.inputValue()).toBe('Forty-three.');
    await otherText.fill('Forty-five.');
    await expect.poll(() => draftsOf(account)).toMatchObject([{ text: expect.stringContaining('Forty-five.') }]);
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
    await expect.poll(() => text.inputValue()).toBe('Forty-two.');
    const subject = page.getByRole('textbox', { name: 'Subject' });
    await expect.poll(() => subject.inputValue()).toBe('Re: Question');
    await page.getByLabel('Files to attach').setInputFiles({
      name: 'answer.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('42'),
    });
    await page.getByText('answer.txt').waitFor();
    await expect.poll(() => draftsOf(account)).toMatchObject([{ attachments: [{ filename: 'answer.txt' }] }]);
    await page.reload();
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
    await page.goto(`${stage.url}/drafts`);
    await page.getByRole('link', { name: 'Later' }).click();
    await dialog.getByRole('button', { name: 'Schedule' }).click();
    await dialog.getByRole('link', { name: 'remove the suppression' }).waitFor();
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });
});

async function draftsOf(account: Awaited<ReturnType<BrowserStage['account']>>) {
  const { body } = await account.graphql('{ drafts { edges { node { text attachments { filename } } } } }');
  return body.data.drafts.edges.map(({ node }: { node: object }) => node);
}

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
