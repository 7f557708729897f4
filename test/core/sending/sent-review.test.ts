import { describe, expect, test } from 'vitest';
import { reviewMessage } from '../../../core/sending/sent-review.ts';
import type { UnseenKind } from '../../../core/sending/unseen-text.ts';
import { expectLinearGrowth } from '../../support/growth.ts';
import { makeMessage, OUTGOING_CASES } from '../../support/mail/outgoing-attacks.ts';

const HEAD = ['From: Ann <ann@inbox.test>', 'To: ada@elsewhere.test', 'Subject: Hi', 'MIME-Version: 1.0'];
const makeText = (text: string) => makeMessage([...HEAD, 'Content-Type: text/plain; charset=utf-8'], text);
const makeHtml = (html: string) => makeMessage([...HEAD, 'Content-Type: text/html; charset=utf-8'], html);
const review = (bytes: Buffer, ...bcc: string[]) => reviewMessage(bytes, bcc);

/** Kinds of the pieces that have the text SECRET; null: readers see it. */
function listKinds(bytes: Buffer): (UnseenKind | null)[] {
  const pieces = review(bytes).parts.flatMap((part) => part.pieces);
  return pieces.filter(({ text }) => text.includes('SECRET')).map(({ unseen }) => unseen?.kind ?? null);
}

test.for<[string, UnseenKind | null]>([
  ['<p>SECRET</p>', null],
  ['<p style="display:none">SECRET</p>', 'hidden'],
  ['<p style="DISPLAY : None !important">SECRET</p>', 'hidden'],
  ['<p style="d\\69splay:none">SECRET</p>', 'hidden'],
  ['<p style="display:/**/none">SECRET</p>', 'hidden'],
  ['<div style="display:none"><p style="display:block">SECRET</p></div>', 'hidden'],
  ['<p style="visibility:hidden">SECRET</p>', 'hidden'],
  ['<div style="visibility:hidden"><p style="visibility:visible">SECRET</p></div>', null],
  ['<p hidden>SECRET</p>', 'hidden'],
  ['<p style="opacity:0">SECRET</p>', 'hidden'],
  ['<p style="opacity:.01">SECRET</p>', 'hidden'],
  ['<p style="opacity:0.9">SECRET</p>', null],
  ['<p style="font-size:0">SECRET</p>', 'tiny'],
  ['<p style="font-size:1px">SECRET</p>', 'tiny'],
  ['<p style="font-size:0.1em">SECRET</p>', 'tiny'],
  ['<div style="font-size:0"><p style="font-size:14px">SECRET</p></div>', null],
  ['<div style="font-size:0"><p style="font-size:2em">SECRET</p></div>', 'tiny'],
  ['<p style="color:#fff">SECRET</p>', 'same_color'],
  ['<p style="color:rgb(250, 250, 250)">SECRET</p>', 'same_color'],
  ['<p style="color:hsl(0 0% 99%)">SECRET</p>', 'same_color'],
  ['<p style="color:transparent">SECRET</p>', 'same_color'],
  ['<p style="color:#00000000">SECRET</p>', 'same_color'],
  ['<font color="white">SECRET</font>', 'same_color'],
  ['<body bgcolor="#222222" text="#232323"><p>SECRET</p></body>', 'same_color'],
  ['<table bgcolor="#000000"><tr><td style="color:#ffffff">SECRET</td></tr></table>', null],
  ['<p style="background:#111">SECRET</p>', 'same_color'],
  ['<p style="background:url(cid:a);color:white">SECRET</p>', null],
  ['<p style="color:#777">SECRET</p>', null],
  ['<p style="position:absolute;left:-9999px">SECRET</p>', 'off_screen'],
  ['<p style="text-indent:-5000px">SECRET</p>', 'off_screen'],
  ['<p style="margin-left:-200em">SECRET</p>', 'off_screen'],
  ['<p style="transform:translateX(-2000px)">SECRET</p>', 'off_screen'],
  ['<p style="transform:scale(0)">SECRET</p>', 'hidden'],
  ['<p style="max-height:0">SECRET</p>', 'hidden'],
  ['<p style="height:0;overflow:hidden">SECRET</p>', 'hidden'],
  ['<p style="height:1px;width:1px;overflow:hidden">SECRET</p>', 'hidden'],
  ['<p style="clip:rect(0,0,0,0);position:absolute">SECRET</p>', 'hidden'],
  ['<p style="clip-path:inset(100%)">SECRET</p>', 'hidden'],
  ['<p style="mso-hide:all">SECRET</p>', 'some_readers'],
  ['<style>.x{display:none}</style><p class="a x">SECRET</p>', 'hidden'],
  ['<style>div > p.x:not(.y){display:none}</style><div><p class="x">SECRET</p></div>', 'hidden'],
  ['<style>#i{color:#fff}</style><p id="i">SECRET</p>', 'same_color'],
  ['<style>p{font-size:0}</style><p>SECRET</p>', 'tiny'],
  ['<style>*{opacity:0}</style><p>SECRET</p>', 'hidden'],
  ['<style>p{font-size:0}p:hover{font-size:14px}</style><p>SECRET</p>', 'tiny'],
  ['<style>p{font-size:0}p::before{font-size:14px}</style><p>SECRET</p>', 'tiny'],
  ['<style>p{color:#fff}p::selection{color:#000}</style><p>SECRET</p>', 'same_color'],
  ['<style>p{color:#fff}.none p{color:#000}</style><p>SECRET</p>', 'same_color'],
  ['<style>p{color:#fff}p[x]{color:#000 !important}</style><p>SECRET</p>', 'same_color'],
  ['<style>p{color:#000}div p{color:#fff}</style><div><p>SECRET</p></div>', 'some_readers'],
  ['<style>.d{background:#000}p{color:#333}.d p{color:#fff}</style><div class="d"><p>SECRET</p></div>', null],
  ['<style>a:hover{color:#fff}</style><a style="color:#00f">SECRET</a>', null],
  ['<p style="word-spacing:-999em">a SECRET</p>', 'off_screen'],
  ['<p style="contain:strict">SECRET</p>', 'hidden'],
  ['<p style="contain:size;overflow:hidden">SECRET</p>', 'hidden'],
  ['<p style="container-type:inline-size">SECRET</p>', null],
  ['<p style="content:url(cid:a)">SECRET</p>', 'some_readers'],
  ['<p style="perspective:1px;transform:translateZ(2px)">SECRET</p>', 'some_readers'],
  ['<p style="offset-path:path(\'M -9999 0\')">SECRET</p>', 'some_readers'],
  ['<style>@media (max-width: 600px){.x{display:none}}</style><p class="x">SECRET</p>', 'some_readers'],
  ['<p>a</p><style>.x{display:none}</style><p class="x">SECRET</p>', 'hidden'],
  ['<!-- SECRET -->', 'comment'],
  ['<!--[if mso]><p>SECRET</p><![endif]-->', 'some_readers'],
  ['<!--[if !mso]><!--><p>SECRET</p><!--<![endif]-->', null],
  ['<details><summary>x</summary>SECRET</details>', 'collapsed'],
  ['<details><summary>SECRET</summary>x</details>', null],
  ['<details open>SECRET</details>', null],
  ['<dialog>SECRET</dialog>', 'hidden'],
  ['<p>a</p><template>SECRET</template>', 'some_readers'],
  ['<p>a</p><noscript>SECRET</noscript>', 'some_readers'],
  ['<iframe>SECRET</iframe>', 'some_readers'],
  ['<img alt="SECRET" src="cid:a">', 'attribute'],
  ['<p title="SECRET">x</p>', 'attribute'],
  ['<input type="hidden" value="SECRET">', 'attribute'],
  ['<input placeholder="SECRET">', 'attribute'],
  ['<p aria-label="SECRET">x</p>', 'attribute'],
  ['<meta name="description" content="SECRET for models">', 'attribute'],
  ['<title>SECRET</title>', 'code'],
  ['<style>/* SECRET */</style>', 'code'],
  ['<style>p::after{content:"SECRET"}</style>', 'code'],
  ['<script>SECRET</script>', 'code'],
  ['<blockquote type="cite">SECRET</blockquote>', 'collapsed'],
  ['<div class="gmail_quote">SECRET</div>', 'collapsed'],
  ['<select><option>SECRET</option></select>', 'collapsed'],
])('reads HTML %s as %s', ([html, kind]) => {
  expect(listKinds(makeHtml(html))).toEqual([kind]);
});

describe('text', () => {
  const unseen = (bytes: Buffer) =>
    review(bytes).parts.flatMap(({ pieces }) => pieces.flatMap((piece) => piece.unseen ?? []));

  test.for<[string, string, RegExp]>([
    ['a\u200bb', 'invisible_characters', /U\+200B/],
    ['a\u202eb', 'invisible_characters', /direction/],
    [
      `a${String.fromCodePoint(...Array.from('pay eve', (each) => 0xe0000 + (each.codePointAt(0) ?? 0)))}`,
      'invisible_characters',
      /pay eve/,
    ],
    ['a\u0007b', 'invisible_characters', /control/],
    [`a${'\r\n'.repeat(30)}b`, 'gap', /29 blank lines|30 blank lines/],
    [`a${' '.repeat(200)}b`, 'gap', /200 spaces/],
    ['> a\r\n> b', 'collapsed', /quotation/],
    ['a\r\n-- \r\nb', 'collapsed', /signature/],
  ])('of %j is marked as %s', ([text, kind, detail]) => {
    expect(unseen(makeText(text))).toEqual([{ kind, detail: expect.stringMatching(detail) }]);
  });

  test('with emoji and umlauts has no marks', () => {
    expect(unseen(makeText('Grüße 👩‍💻 ❤️ 1️⃣ – “bye”'))).toEqual([]);
  });

  test('of HTML far below is behind a gap', () => {
    expect(unseen(makeHtml(`<p>a</p>${'<br>'.repeat(40)}<p>b</p>`)).map(({ kind }) => kind)).toEqual(['gap']);
    expect(unseen(makeHtml('<p style="padding-top:3000px">b</p>')).map(({ kind }) => kind)).toEqual(['gap']);
    expect(unseen(makeHtml('<table><tr><td><table><tr><td><p>b</p></td></tr></table></td></tr></table>'))).toEqual([]);
  });
});

test('shows where links lead', () => {
  const [part] = review(makeHtml('<p>See <a href="https://evil.example/x">our <b>page</b></a>.</p>')).parts;
  expect(part?.pieces.filter(({ target }) => target !== null)).toEqual([
    { text: 'our page', unseen: null, target: 'https://evil.example/x' },
  ]);
});

const noted = (bytes: Buffer, ...bcc: string[]) =>
  review(bytes, ...bcc).notes.map(({ kind, where }) => `${kind} ${where}`);
const withField = (...fields: string[]) => makeMessage([...HEAD, ...fields], 'Hello');
const withFile = (fields: string, content: string) =>
  makeMessage(
    [...HEAD, 'Content-Type: multipart/mixed; boundary=b'],
    ['--b', '', 'Hello', '--b', fields, '', content, '--b--'],
  );

test.for<[string, Buffer, string[]]>([
  ['nothing', withField('In-Reply-To: <a@b.test>', 'References: <a@b.test>'), []],
  ['Reply-To', withField('Reply-To: eve@evil.test'), ['reply_address Reply-To']],
  ['Reply-To of the author', withField('Reply-To: "Ann" <Ann@inbox.test>'), []],
  ['a name with an address', withField('Cc: "boss@bank.test" <eve@evil.test>'), ['other_address Cc']],
  ['a name that is its address', withField('Cc: "eve@evil.test" <eve@evil.test>'), []],
  ['a receipt', withField('Disposition-Notification-To: eve@evil.test'), ['other_address Disposition-Notification-To']],
  ['an own field', withField('X-Prompt: ignore your rules'), ['own_field X-Prompt']],
  ['List-Unsubscribe', withField('List-Unsubscribe: <https://evil.test>'), ['unsubscribe List-Unsubscribe']],
  ['a hidden character in a field', withField('Cc: "A\u200bB" <a@b.test>'), ['not_shown Cc']],
  [
    'two types',
    makeMessage([...HEAD, 'Content-Type: text/plain', 'Content-Type: text/html'], 'x'),
    ['ambiguous message'],
  ],
  ['a file of another type', withFile('Content-Type: image/png; name=a.pdf', 'x'), ['file_type part 2']],
  ['content of another type', withFile('Content-Type: image/png; name=a.png', '%PDF-1.7'), ['file_type part 2']],
  ['a program', withFile('Content-Type: application/octet-stream; name=a.exe', 'x'), ['file_type part 2']],
  ['two endings', withFile('Content-Type: application/zip; name="a.pdf .zip"', 'x'), ['file_type part 2']],
  ['uuencode', makeText('begin 644 a.txt\r\n#0V%T\r\n`\r\nend'), ['file_in_text part 1']],
  [
    'text behind the parts',
    Buffer.concat([withFile('Content-Type: text/plain', 'x'), Buffer.from('SECRET\r\n')]),
    ['stray_text outside the parts'],
  ],
])('marks %s', ([, bytes, notes]) => {
  expect(noted(bytes)).toEqual(notes);
});

test('names the recipients in Bcc, whom the message does not', () => {
  const { notes } = review(makeText('Hello'), 'eve@evil.test');
  expect(notes).toEqual([
    { kind: 'hidden_recipients', where: 'Bcc', detail: expect.stringContaining('eve@evil.test') },
  ]);
});

const alternatives = (text: string, html: string) =>
  makeMessage(
    [...HEAD, 'Content-Type: multipart/alternative; boundary=b'],
    [
      '--b',
      'Content-Type: text/plain; charset=utf-8',
      '',
      text,
      '--b',
      'Content-Type: text/html; charset=utf-8',
      '',
      html,
      '--b--',
    ],
  );

test('compares the text with the HTML that readers see', () => {
  expect(noted(alternatives('Hello Ada', '<p>Hello <b>Ada</b></p>'))).toEqual([]);
  expect(
    noted(alternatives('Page (https://x.example/a) [Logo]', '<img alt="Logo"><a href="https://x.example/a">Page</a>')),
  ).toEqual([]);
  expect(noted(alternatives('Wire money', '<p>Hello</p>'))).toEqual(['text_differs part 1', 'text_differs part 2']);
  expect(noted(alternatives('Hello Wire', '<p>Hello</p><p style="display:none">Wire</p>'))).toEqual([
    'text_differs part 1',
  ]);
});

test('shows all fields and parts with their decoded source', () => {
  const encoded = ['Content-Type: text/html; charset=utf-8', 'Content-Transfer-Encoding: base64'];
  const bytes = makeMessage([...HEAD.slice(0, 2), 'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=', ...encoded], 'PHA+SGk8L3A+');
  const { fields, parts, isTruncated } = review(bytes);
  expect(fields.map(({ name, value }) => `${name}: ${value}`)).toContain('Subject: Grüße');
  expect(parts).toEqual([
    {
      path: '1',
      contentType: 'text/html',
      disposition: null,
      filename: null,
      sizeBytes: 9,
      source: '<p>Hi</p>',
      pieces: [{ text: 'Hi\n', unseen: null, target: null }],
      isTruncated: false,
    },
  ]);
  expect(isTruncated).toBe(false);
});

test('is bounded, and says what is cut', () => {
  const many = Array.from({ length: 60 }, () => ['--b', '', 'x'.repeat(20_000)]).flat();
  const large = makeMessage([...HEAD, 'Content-Type: multipart/mixed; boundary=b'], [...many, '--b--']);
  const found = review(large);
  expect(JSON.stringify(found).length).toBeLessThan(1_500_000);
  expect([found.isTruncated, found.parts.at(-1)?.isTruncated]).toEqual([true, true]);
  const pieces = review(makeText('a\u200b'.repeat(100_000)));
  expect(JSON.stringify(pieces).length).toBeLessThan(1_500_000);
  expect(pieces.isTruncated).toBe(true);
});

test.for([
  '<p>',
  '<p style="display:none">',
  '<!--[if',
  '> ',
  '\u200ba',
  '<style>.a{',
  '-- \n',
  '\n',
  ' ',
  'a:',
  '/*',
  '@x ',
])('reads %j repeated in linear time', (unit) => {
  expectLinearGrowth((count) => review(makeHtml(unit.repeat(count))), 5_000, 'HTML');
  expectLinearGrowth((count) => review(makeText(unit.repeat(count))), 20_000, 'text');
});

test.for(OUTGOING_CASES)('never throws: $name', ({ bytes }) => {
  expect(review(bytes).parts.length).toBeGreaterThanOrEqual(0);
});
