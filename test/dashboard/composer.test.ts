import { describe, expect, test } from 'vitest';
import { type DocumentNode, textOfDocument } from '../../gateway/dashboard/composer/document-text.ts';
import { draftInput, refusalOfMailboxes, toDraft } from '../../gateway/dashboard/composer/draft.ts';
import { harmlessTags, isEditable, sentHtml } from '../../gateway/dashboard/composer/mail-html.ts';
import { replaceSignature, withSignature } from '../../gateway/dashboard/composer/signature.ts';

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
  const opened = toDraft({ ...stored, ...input }, values, quote);
  expect(opened).toEqual({ ...values, to: ['ann@example.com'], text: 'Yes.' });
  const other = { text: 'Other', html: '<p>Other</p>' };
  expect(toDraft({ ...stored, ...input }, values, other)).toMatchObject({ hasQuote: false, html: input.html });
});

test('a draft in plain text is stored without HTML', () => {
  const input = draftInput({ ...values, html: null }, 'reply', quote);
  expect(input).toMatchObject({ text: `Yes.\n\n${quote.text}\n`, html: null });
  expect(toDraft({ ...stored, ...input }, values, quote)).toMatchObject({ html: null, text: 'Yes.', hasQuote: true });
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
])('the plain text has %s', (_, content, text) => {
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
  [
    '<table border="1" cellpadding="4" cellspacing="0"><tbody><tr><td colspan="2"><p>a</p></td></tr></tbody></table>',
    true,
  ],
  ['<table border="0" cellpadding="4" cellspacing="0"><tbody><tr><td>a</td></tr></tbody></table>', false],
  ['<img src="https://x.test/pixel.gif">', false],
  ['<div>a</div>', false],
  ['<!-- a -->', false],
])('the editor shows all of %s: %s', (html, isShown) => {
  expect(isEditable(html)).toBe(isShown);
});

test.each([
  ['<p style="color:red" onclick=x()>a</p>', '<p data-style="color:red">a</p>'],
  [`<img src=x ONERROR="x()" alt='a"b'>`, '<img alt="a&quot;b">'],
  ['<style>p{}</style><SCRIPT>x()</SCRIPT >b', 'b'],
  ['<svg/onload=x()>', '<svg>'],
  ['a < b', 'a < b'],
])('pasted %s is read as %s', (html, harmless) => {
  expect(harmlessTags(html)).toBe(harmless);
});

test('empty paragraphs are sent with a line, and items of lists without a paragraph', () => {
  const html = '<p></p><ul><li><p>a</p><ul><li><p>b</p></li></ul></li><li><p>c</p><p>d</p></li></ul>';
  const sent = '<p><br></p><ul><li>a<ul><li>b</li></ul></li><li><p>c</p><p>d</p></li></ul>';
  expect(sentHtml(html)).toBe(sent);
  expect(isEditable(sent)).toBe(true);
});

describe('the signature', () => {
  const ann = 'Ann <Lee>\nPostroom';
  const annHtml = '<div data-signature=""><p>-- <br>Ann &lt;Lee&gt;<br>Postroom</p></div>';
  const empty = { ...values, text: '', html: '' };

  test('is below the place to write, in both forms', () => {
    expect(withSignature(empty, ann)).toMatchObject({ text: `\n\n-- \n${ann}`, html: `<p><br></p>${annHtml}` });
    expect(withSignature({ ...empty, html: null }, ann).html).toBe(null);
    expect(withSignature(empty, null)).toEqual(empty);
    expect(isEditable(annHtml)).toBe(true);
  });

  test.each([
    ['another', 'Bob', 'Yes.\n\n-- \nBob', '<p>Yes.</p><div data-signature=""><p>-- <br>Bob</p></div>'],
    ['none', null, 'Yes.', '<p>Yes.</p>'],
  ])('goes with the sender: %s', (_, next, text, html) => {
    const message = { text: `Yes.\n\n-- \n${ann}`, html: `<p>Yes.</p>${annHtml}` };
    expect(replaceSignature(message, ann, next).html).toBe(html);
    expect(replaceSignature({ ...message, html: null }, ann, next)).toEqual({ text, html: null });
  });

  test('is added for a sender who has one, and not again where it was removed', () => {
    expect(replaceSignature({ text: 'Yes.', html: null }, null, 'Bob').text).toBe('Yes.\n\n-- \nBob');
    expect(replaceSignature({ text: 'Yes.', html: '<p>Yes.</p>' }, null, 'Bob').html).toContain('Bob');
    for (const html of [null, '<p>Yes.</p>'])
      expect(replaceSignature({ text: 'Yes.', html }, ann, 'Bob')).toEqual({ text: 'Yes.', html });
  });
});

test.each([
  ['ann@example.com', null],
  ['"Lee, Ann" <ann@example.com>', null],
  ['ann@', '"ann@" is not a valid address'],
  ['ann@localhost', '"ann@localhost" is not a valid address'],
])('the note about the address %s is: %s', (text, refusal) => {
  expect(refusalOfMailboxes([text])).toBe(refusal);
});
