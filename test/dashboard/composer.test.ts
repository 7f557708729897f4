import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { refusalOfMailboxes } from '../../gateway/dashboard/composer/address-text.ts';
import { type DocumentNode, textOfDocument } from '../../gateway/dashboard/composer/document-text.ts';
import { draftInput, valuesOf } from '../../gateway/dashboard/composer/draft.ts';
import { isEditable, sentHtml } from '../../gateway/dashboard/composer/mail-html.ts';
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
  html: '<p>Yes.</p>',
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

const quote = { text: 'On Monday, Ann wrote:\n> x', html: '<p>On Monday, Ann wrote:</p><blockquote>x</blockquote>' };

test('a draft is stored as it will be sent, and opened as it was written', () => {
  const input = draftInput(values, 'reply', quote);
  expect(input).toMatchObject({
    to: ['ann@example.com'],
    text: `Yes.\n\n${quote.text}\n`,
    html: `<p>Yes.</p>${quote.html}`,
  });
  const opened = valuesOf({ ...stored, ...input }, values, quote);
  expect(opened).toEqual({ ...values, to: ['ann@example.com'], text: 'Yes.' });
  const other = { text: 'Other', html: '<p>Other</p>' };
  expect(valuesOf({ ...stored, ...input }, values, other)).toMatchObject({ hasQuote: false, html: input.html });
});

test('a draft in plain text is stored without HTML', () => {
  const input = draftInput({ ...values, html: null }, 'reply', quote);
  expect(input).toMatchObject({ text: `Yes.\n\n${quote.text}\n`, html: null });
  expect(valuesOf({ ...stored, ...input }, values, quote)).toMatchObject({ html: null, text: 'Yes.', hasQuote: true });
});

const paragraph = (...content: DocumentNode[]): DocumentNode => ({ type: 'paragraph', content });
const written = (text: string, href?: string): DocumentNode => ({
  type: 'text',
  text,
  ...(href === undefined ? {} : { marks: [{ type: 'link', attrs: { href } }] }),
});
const list = (type: string, ...items: DocumentNode[][]): DocumentNode => ({
  type,
  content: items.map((content) => ({ type: 'listItem', content })),
});

test.each<[string, DocumentNode[], string]>([
  [
    'paragraphs and lines',
    [paragraph(written('a'), { type: 'hardBreak' }, written('b')), paragraph(written('c'))],
    'a\nb\n\nc',
  ],
  [
    'empty paragraphs',
    [paragraph(written('a')), paragraph(), paragraph(), paragraph(written('b')), paragraph()],
    'a\n\nb',
  ],
  [
    'lists in lists',
    [
      list(
        'orderedList',
        [paragraph(written('a')), list('bulletList', [paragraph(written('b'))])],
        [paragraph(written('c'))],
      ),
    ],
    '1. a\n   - b\n2. c',
  ],
  [
    'quotations',
    [
      {
        type: 'blockquote',
        content: [paragraph(written('a')), { type: 'blockquote', content: [paragraph(written('b'))] }],
      },
    ],
    '> a\n>\n> > b',
  ],
  [
    'links',
    [
      paragraph(
        written('here', 'https://a.test'),
        written(', '),
        written('https://b.test', 'https://b.test'),
        written(' x@y.test', 'mailto:x@y.test'),
      ),
    ],
    'here (https://a.test), https://b.test x@y.test',
  ],
  [
    'images and signatures',
    [
      paragraph({ type: 'inlineImage', attrs: { alt: 'map.png' } }),
      { type: 'signature', content: [paragraph(written('--'), { type: 'hardBreak' }, written('Ann'))] },
    ],
    '[map.png]\n\n-- \nAnn',
  ],
])('the plain text of %s', (_, content, text) => {
  expect(textOfDocument({ type: 'doc', content })).toBe(text);
});

test.each([
  [
    '<p>a<br><strong>b</strong> <a href="https://x.test">c</a></p><ul><li>d</li></ul><img src="cid:x@y" alt="a > b">',
    true,
  ],
  ['<div data-signature=""><p>--<br>Ann</p></div>', true],
  ['<p style="color:red">a</p>', false],
  ['<table><tr><td>a</td></tr></table>', false],
  ['<img src="https://x.test/pixel.gif">', false],
  ['<div>a</div>', false],
  ['<!-- a -->', false],
])('whether the editor shows all of %s: %s', (html, isShown) => {
  expect(isEditable(html)).toBe(isShown);
});

test('empty paragraphs are sent with a line, items of lists without a paragraph', () => {
  const html = '<p></p><ul><li><p>a</p><ul><li><p>b</p></li></ul></li><li><p>c</p><p>d</p></li></ul>';
  const sent = '<p><br></p><ul><li>a<ul><li>b</li></ul></li><li><p>c</p><p>d</p></li></ul>';
  expect(sentHtml(html)).toBe(sent);
  expect(isEditable(sent)).toBe(true);
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
    await expect.poll(() => text.innerText()).toBe('Forty-two.');

    // Another tab changes it: nothing is lost before the user decides.
    const other = await stage.open(account);
    await other.page.goto(page.url());
    const otherText = other.page.getByRole('textbox', { name: 'Message', exact: true });
    await expect.poll(() => otherText.innerText()).toBe('Forty-two.');
    await otherText.fill('Forty-three.');
    await expect.poll(() => draftsOf(account)).toMatchObject([{ text: expect.stringContaining('Forty-three.') }]);
    await text.fill('Forty-four.');
    await page.getByText('This draft was changed elsewhere').waitFor();
    await page.getByRole('button', { name: 'Load other version' }).click();
    await expect.poll(() => text.innerText()).toBe('Forty-three.');
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
    await expect.poll(() => text.innerText()).toBe('Forty-two.');
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
    const [answer] = await received(friend);
    expect(answer).toMatchObject({ attachments: [{ filename: 'answer.txt', size: 2 }] });
    expect(answer?.content.text).toMatch(/^Forty-two\.\s+1\. Surely\.\s+On .* wrote:\s+> What is the answer\?/);
    const quoted = /<p>Forty-two\.<\/p><ol><li><strong>Surely\.<\/strong><\/li><\/ol><p>On .* wrote:<\/p><blockquote/;
    expect(answer?.content.html).toMatch(quoted);

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
  content: { text: string | null; html: string | null };
}

async function received(account: Awaited<ReturnType<BrowserStage['account']>>): Promise<ReceivedMail[]> {
  const { body } = await account.graphql(
    '{ emails(filter: { type: RECEIVED }) { edges { node { subject attachments { filename size } content { text html } } } } }',
  );
  return body.data.emails.edges.map(({ node }: { node: ReceivedMail }) => node);
}
