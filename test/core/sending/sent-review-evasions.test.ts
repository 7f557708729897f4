import { expect, test } from 'vitest';
import { reviewMessage } from '../../../core/sending/sent-review.ts';
import type { UnseenKind } from '../../../core/sending/unseen-text.ts';
import { expectLinearGrowth } from '../../support/growth.ts';
import { makeMessage } from '../../support/mail/outgoing-attacks.ts';
import { OUTGOING_EVASIONS } from '../../support/mail/outgoing-evasions.ts';

const HEAD = ['From: Ann <ann@inbox.test>', 'To: ada@elsewhere.test', 'Subject: Hi', 'MIME-Version: 1.0'];
const asHtml = (html: string) => makeMessage([...HEAD, 'Content-Type: text/html; charset=utf-8'], html);
const withPart = (head: string, body: string) =>
  makeMessage(
    [...HEAD, 'Content-Type: multipart/mixed; boundary=b'],
    `--b\r\n\r\nHello\r\n--b\r\n${head}\r\n\r\n${body}\r\n--b--`,
  );
const styled = (style: string) => `<p style="${style}">SECRET</p>`;
const sheet = (css: string, element = '<p class="x" id="x">SECRET</p>') => `<style>${css}</style>${element}`;

function readKinds(html: string): (UnseenKind | null)[] {
  const pieces = reviewMessage(asHtml(html), []).parts.flatMap((part) => part.pieces);
  return pieces.filter(({ text }) => text.includes('SECRET')).map(({ unseen }) => unseen?.kind ?? null);
}

test.for<[string, UnseenKind | null]>([
  [sheet('.x{height:0}', '<p class="x" style="overflow:hidden">SECRET</p>'), 'hidden'],
  [sheet('.x{overflow:auto}#x{height:0}'), 'hidden'],
  [styled('block-size:0;overflow:hidden'), 'hidden'],
  [styled('height:0;contain:paint'), 'hidden'],
  [styled('line-height:1.2;overflow:hidden'), null],
  [styled('display:none;display:block'), 'hidden'],
  [styled('display:table-column'), 'hidden'],
  [styled('zoom:0.01'), 'hidden'],
  [styled('scale:0'), 'hidden'],
  [styled('opacity:+0'), 'hidden'],
  [styled('opacity:0e0'), 'hidden'],
  [styled('filter:blur(50px)'), 'hidden'],
  [styled('letter-spacing:-20px'), 'hidden'],
  [styled('letter-spacing:-0.5px'), null],
  [styled('clip:rect(1px,1px,1px,1px)'), 'hidden'],
  [styled('clip-path:ellipse(0 0)'), 'hidden'],
  [styled('transform:matrix(0,0,0,0,0,0)'), 'some_readers'],
  [styled('transform:rotate(2deg)'), null],
  [styled('transform:translate3d(0,0,0)'), null],
  [styled('transform:translate3d(10px, 0, 0px)'), null],
  [styled('transform:translate3d(0,0,900px)'), 'some_readers'],
  [styled('transform:translateZ(0)'), null],
  [styled('transform:translateZ(0) translateZ(9px)'), 'some_readers'],
  [styled('transform:translateZ(var(--z))'), 'some_readers'],
  [styled('container-type:size'), 'hidden'],
  [styled('container-type:size;height:300px'), null],
  [styled('container-type:size;height:100%'), 'hidden'],
  [styled('container-type:size;height:300px;height:auto'), 'hidden'],
  [styled('container-type:size;height:300px;overflow:hidden'), 'hidden'],
  [styled('container:size / inline-size'), null],
  [styled('container:a / size'), 'hidden'],
  [styled('contain:strict;height:300px'), 'hidden'],
  [styled('contain:strict;width:300px'), 'hidden'],
  [styled('contain:strict;height:300px;width:300px'), null],
  [styled('contain:strict;height:1px;width:300px'), 'hidden'],
  [styled('rotate:1 1 0 90deg'), 'some_readers'],
  [styled('-webkit-text-security:disc'), 'hidden'],
  [styled('-webkit-line-clamp:1;overflow:hidden'), 'collapsed'],
  [styled('margin:0 0 0 -9999px'), 'off_screen'],
  [styled('inset:-9999px auto auto'), 'off_screen'],
  [styled('translate:-9999px'), 'off_screen'],
  [styled('padding-left:9999px'), 'off_screen'],
  [styled('position:fixed;top:-50px'), 'off_screen'],
  [styled('left:calc(-9999px)'), 'off_screen'],
  [styled('font:0/0 a'), 'tiny'],
  [styled('font:1px arial'), 'tiny'],
  [styled('font:700 14px/1.5 arial'), null],
  [`<p style="font-size:.3em"><b style="font-size:.3em"><i style="font-size:.3em">SECRET</i></b></p>`, 'tiny'],
  [styled('font-size:1e-3px'), 'tiny'],
  [styled('font-size:var(--z)'), 'some_readers'],
  [styled('display:var(--z)'), 'hidden'],
  [styled('opacity:calc(0)'), 'hidden'],
  [styled('color:var(--c)'), 'some_readers'],
  [styled('color:oklch(1 0 0)'), 'same_color'],
  [styled('color:canvas'), 'same_color'],
  [styled('color:lavenderblush'), 'same_color'],
  [styled('color:red;color:white!important;color:red'), 'same_color'],
  [styled('background:linear-gradient(#fff, rgb(255, 255, 255));color:#fff'), 'same_color'],
  [styled('background:linear-gradient(#036, #047);color:#fff'), null],
  ['<body link="white"><a href="https://a.test">SECRET</a></body>', 'same_color'],
  [styled('mask:linear-gradient(transparent,transparent)'), 'hidden'],
  [styled('animation:x 1s forwards'), 'some_readers'],
  [styled('mix-blend-mode:screen'), 'some_readers'],
  [styled('unicode-bidi:bidi-override;direction:rtl'), 'some_readers'],
  ['<bdo dir="rtl">SECRET</bdo>', 'some_readers'],
  ['<meter>SECRET</meter>', 'some_readers'],
  ['<progress>SECRET</progress>', 'some_readers'],
  [sheet('@media screen{p{color:#fff}}'), 'same_color'],
  [sheet('@media all{p{font-size:0}}'), 'tiny'],
  [sheet('@supports (a:b){p{visibility:hidden}}'), 'hidden'],
  [sheet('@media (prefers-color-scheme:dark){p{color:#fff;background:#000}}'), null],
  [sheet('.x{@media screen{display:none}}'), 'hidden'],
  ['<div class="gmail_quote"><p style="display:none">SECRET</p></div>', 'hidden'],
  ['<svg><text fill="none">SECRET</text></svg>', 'same_color'],
  [sheet('.x{color:red;&{display:none}}'), 'hidden'],
  [sheet('@layer a{.x{display:none}}'), 'hidden'],
  [sheet('.a\\:b{display:none}', '<p class="a:b">SECRET</p>'), 'hidden'],
  [sheet('.aé{display:none}', '<p class="aé">SECRET</p>'), 'hidden'],
  [sheet('.X{display:none}'), 'hidden'],
  [sheet('#X{display:none}'), 'hidden'],
  [sheet('p:nth-child(2 of .y){display:none}'), 'hidden'],
  [sheet('p{a:"}";display:none}'), 'hidden'],
  [sheet('p{a:"{";display:none}'), 'hidden'],
  [sheet('p{display:none'), 'hidden'],
  [sheet('p::before{content:"}"}.y{display:none}'), null],
])('reads HTML %s as %s', ([html, kind]) => {
  expect(readKinds(html)).toEqual([kind]);
});

const noted = (bytes: Buffer) => reviewMessage(bytes, []).notes.map(({ kind, where }) => `${kind} ${where}`);
const alternatives = (...parts: string[]) =>
  makeMessage(
    [...HEAD, 'Content-Type: multipart/alternative; boundary=b'],
    `${parts.map((part) => `--b\r\n${part}\r\n`).join('')}--b--`,
  );

test.for<[string, Buffer, string[]]>([
  ['a remote picture', asHtml('<img src="https://a.test/b.png">'), ['remote_content part 1']],
  ['a remote style sheet', asHtml('<link rel="stylesheet" href="//a.test/b.css">'), ['remote_content part 1']],
  ['a style sheet as data', asHtml('<style>@import "data:text/css,p{}"</style>'), ['remote_content part 1']],
  ['a remote background', asHtml('<p style="background:url(https://a.test/b.png)">'), ['remote_content part 1']],
  ['a form', asHtml('<form action="https://a.test"></form>'), ['remote_content part 1']],
  ['a refresh', asHtml('<meta http-equiv="refresh" content="1;url=//a.test">'), ['remote_content part 1']],
  ['a link and a picture within', asHtml('<a href="https://a.test">x</a><img src="cid:a">'), []],
  ['own fields of a part', withPart('X-Prompt: pay', 'x'), ['own_field X-Prompt of part 2']],
  [
    'two names',
    withPart('Content-Type: image/png; name=a.png\r\nContent-Disposition: attachment; filename=b.png', 'x'),
    ['file_type part 2'],
  ],
  [
    'HTML for some programs that has other words',
    alternatives(
      '\r\nHello',
      'Content-Type: text/x-amp-html\r\n\r\n<p>Pay</p>',
      'Content-Type: text/html\r\n\r\n<p>Hello</p>',
    ),
    ['text_differs part 1', 'text_differs part 2'],
  ],
  [
    'a second HTML that has other words',
    alternatives('Content-Type: text/html\r\n\r\n<p>Hello</p>', 'Content-Type: text/html\r\n\r\n<p>Pay</p>'),
    ['text_differs part 1', 'text_differs part 2'],
  ],
])('notes %s', ([, bytes, notes]) => {
  expect(noted(bytes)).toEqual(notes);
});

test.for([
  ['<a href="https://evil.test"><img src="cid:a"></a>', 'https://evil.test'],
  ['<map><area href="https://evil.test"></map>', 'https://evil.test'],
  ['<a href="https://evil.test" style="display:block"></a>', 'https://evil.test'],
  ['<base href="https://evil.test"><a href="/login">x</a>', 'https://evil.test/login'],
])('shows where the link of %s leads', ([html = '', target]) => {
  const [part] = reviewMessage(asHtml(html), []).parts;
  expect(part?.pieces.map((piece) => piece.target)).toContain(target);
});

test('shows the fields of a message within the message, and unfolds a calendar', () => {
  const inner = withPart('Content-Type: message/rfc822', 'Subject: Pay\r\n\r\nHello');
  expect(reviewMessage(inner, []).parts[1]?.pieces[0]?.text).toBe('Subject: Pay\n');
  const calendar = withPart('Content-Type: text/calendar', 'DESCRIPTION:Pa\r\n y');
  expect(reviewMessage(calendar, []).parts[1]?.pieces[0]?.text).toContain('DESCRIPTION:Pay');
});

test('says that a field, or a style sheet, is cut', () => {
  const long = makeMessage([...HEAD, `X-Long: ${'a '.repeat(2_500)}`], 'Hello');
  expect(reviewMessage(long, []).isTruncated).toBe(true);
  expect(reviewMessage(asHtml(sheet(`/*${'a'.repeat(300_000)}*/`)), []).isTruncated).toBe(true);
  expect(reviewMessage(asHtml(sheet('.y{display:none}')), []).isTruncated).toBe(false);
});

test.for(['p{', '"', "'", '}', '.a{&', 'p:not(', '[', '\\', '@media{', 'a,', '{;'])(
  'reads style sheets of %j in linear time',
  (unit) => {
    expectLinearGrowth((count) => reviewMessage(asHtml(sheet(unit.repeat(count))), []), 10_000);
  },
);

test.for(OUTGOING_EVASIONS)('never throws: $name', ({ bytes }) => {
  expect(reviewMessage(bytes, []).parts.length).toBeGreaterThan(0);
});
