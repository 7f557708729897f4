import { describe, expect, test } from 'vitest';
import { readHtmlReply, stripQuotedHtml } from '../../../core/mime/reply-html.ts';
import { readRemovedTexts } from '../../../core/mime/reply-text.ts';
import { expectLinearGrowth } from '../../support/growth.ts';
import { SIGNED_ELEMENTS } from './replies/ordinary-texts.ts';

const MESSAGE = '<div>When?</div><div><br></div><div>Ann</div>';
const FIELDS = '<b>From:</b> Ann<br><b>Sent:</b> Monday<br><b>To:</b> Joe<br><b>Subject:</b> Hi';

describe('is cut out of what', () => {
  test.each([
    [
      'Gmail sends',
      `<div dir="ltr">Yes.</div><br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">On Mon Ann wrote:<br></div><blockquote class="gmail_quote">${MESSAGE}</blockquote></div>`,
    ],
    [
      'Gmail sends in a language unknown to us',
      `<div dir="ltr">Yes.</div><br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">Ann x y z:<br></div><blockquote class="gmail_quote">${MESSAGE}</blockquote></div>`,
    ],
    [
      'Gmail forwards',
      `<div>Yes.</div><div class="gmail_quote"><div class="gmail_attr">---------- Forwarded message ---------<br>From: Ann<br></div>${MESSAGE}</div>`,
    ],
    [
      'Thunderbird sends',
      `<p>Yes.</p><div class="moz-cite-prefix">Ann x:<br></div><blockquote type="cite" cite="mid:1@x.test">${MESSAGE}</blockquote><div class="moz-signature">-- <br>Joe</div>`,
    ],
    [
      'Thunderbird forwards',
      `<p>Yes.</p><div class="moz-forward-container"><br>-------- Weitergeleitete Nachricht --------<table class="moz-email-headers-table"><tr><th>Betreff: </th><td>Hi</td></tr></table>${MESSAGE}</div>`,
    ],
    [
      'Apple Mail sends',
      `<div>Yes.</div><br><div><blockquote type="cite"><div>On Mon Ann wrote:</div>${MESSAGE}</blockquote></div>`,
    ],
    [
      'an iPhone sends',
      `<div dir="ltr">Yes.<br><br>Sent from my iPhone</div><div dir="ltr"><br>On Jan 5, 2026, at 10:00, Ann &lt;ann@x.test&gt; wrote:<br><br></div><blockquote type="cite">${MESSAGE}</blockquote>`,
    ],
    [
      'Outlook on the web sends',
      `<div>Yes.</div><div id="Signature"><p>Joe<br>President</p></div><div id="appendonsend"></div><hr style="width:98%"><div id="divRplyFwdMsg" dir="ltr"><b>Von:</b> Ann</div>${MESSAGE}`,
    ],
    [
      'Outlook sends',
      `<div class=WordSection1><p class=MsoNormal>Yes.<o:p></o:p></p><p class=MsoNormal><o:p>&nbsp;</o:p></p><div style="border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0cm 0cm 0cm"><p class=MsoNormal>${FIELDS}</p></div>${MESSAGE}</div>`,
    ],
    [
      'Outlook sends without a border',
      `<p class=MsoNormal>Yes.</p><p class=MsoNormal>${FIELDS.replaceAll('<br>', '</p>\n<p class=MsoNormal>')}</p>${MESSAGE}`,
    ],
    [
      'Outlook for iOS sends',
      `<div>Yes.</div><div id="ms-outlook-mobile-signature"><div>Get Outlook for iOS</div></div><div id="mail-editor-reference-message-container"><hr>${FIELDS}<br>${MESSAGE}</div>`,
    ],
    [
      'Hotmail sent',
      `<div dir="ltr">Yes.<br><div><hr id="stopSpelling">Date: Monday<br>Subject: Hi<br>From: Ann<br>${MESSAGE}</div></div>`,
    ],
    [
      'Yahoo sends',
      `<div>Yes.</div><div class="ydp1signature">Joe</div><div id="yahoo_quoted_1" class="yahoo_quoted"><div>On Monday, Ann wrote:</div>${MESSAGE}</div>`,
    ],
    [
      'Proton sends',
      `<div>Yes.</div><div class="protonmail_signature_block">Sent with Proton</div><div class="protonmail_quote">On Monday, Ann &lt;ann@x.test&gt; wrote:<br><blockquote class="protonmail_quote" type="cite">${MESSAGE}</blockquote></div>`,
    ],
    [
      'Lotus Notes sends',
      `<font face="sans-serif">Yes.</font><br><br><table><tr><td>From:</td><td>Ann</td></tr><tr><td>To:</td><td>Joe</td></tr><tr><td>Date:</td><td>01/05/2026</td></tr><tr><td>Subject:</td><td>Hi</td></tr></table><hr><br>${MESSAGE}`,
    ],
    [
      'Yandex sends',
      `<p>Yes.</p><p>05.01.2026, 10:00, "Ann" &lt;ann@x.test&gt;:</p><blockquote>${MESSAGE}</blockquote>`,
    ],
    [
      'webmail sends without an introduction',
      `<p>Yes.</p><blockquote style="padding-left:5px;border-left:2px solid #1010ff">${MESSAGE}</blockquote>`,
    ],
    [
      'puts the fields on one line',
      `<p>Yes.</p><hr><div><b>From: ann@x.test</b> <b>Date: Thu, 24 Mar 2026 08:07:12 -0700</b></div>${MESSAGE}`,
    ],
    [
      'mail programs write as plain text in HTML',
      '<pre>Yes.\n\nOn Mon, 5 Jan 2026, Ann &lt;ann@x.test&gt; wrote:\n&gt; When?\n&gt; Where?\n</pre>',
    ],
  ])('%s', (_, html) => {
    expect(visible(stripQuotedHtml(`<html><body>${html}</body></html>`))).toBe('Yes.');
  });
});

test.each(SIGNED_ELEMENTS)('what people sign is no signature of a program: %s', (attribute) => {
  const html = `<p>The contract:</p><div ${attribute}>Signed: Ann Miller, 5 May</div>`;
  expect(stripQuotedHtml(html)).toBe(html);
});

test('a reply below and between quotations stays', () => {
  const quoted = (text: string) => `<blockquote type="cite">${text}</blockquote>`;
  const wrote = '<div class="moz-cite-prefix">On Mon Ann wrote:</div>';
  expect(visible(stripQuotedHtml(`${wrote}${quoted('When?')}<p>At ten.</p>`))).toBe('At ten.');
  expect(visible(stripQuotedHtml(`${wrote}${quoted('When?')}<p>Ten.</p>${quoted('Where?')}<p>Here.</p>`))).toBe(
    'When? Ten. Where? Here.',
  );
});

test.each([
  '<blockquote type="cite">old</blockquote>',
  '<p>He said</p><blockquote>words</blockquote>',
  '<p>He said</p><blockquote class="gmail_quote" style="margin:0 0 0 40px;border:none">words</blockquote>',
  '<table><tr><td>News</td></tr></table><hr><p>More news</p><hr><p>From: Rome<br>To: Bern<br>Date: Monday</p>',
  '<div>One<hr>Two<div style="border-top:1px solid red">Three</div></div>',
  '<p>Unclosed <b>tags <i>everywhere<div>and',
  '<blockquote>a<blockquote>b</blockquote></blockquote>',
  '',
])('HTML stays unchanged: %s', (html) => expect(stripQuotedHtml(html)).toBe(html));

test('what remains is the source, byte for byte, and closes what it opens', () => {
  const own = '<style>p{color:red}</style><p title="a>b">Yes &amp; no &#8212; <IMG SRC="cid:1"></p>';
  const quoted = '<div class="gmail_attr">On Mon Ann wrote:</div><blockquote type="cite"><p>old</p></blockquote>';
  expect(stripQuotedHtml(`<div>${own}<div>${quoted}</div></div>`)).toBe(`<div>${own}</div>`);
});

test('removed parts are reported as text, with their place in the source', async () => {
  const quoted = '<blockquote type="cite"><p>When?</p><p>Where &amp; why?</p></blockquote>';
  const html = `<p>Yes.</p><div class="gmail_signature">-- <br>Joe</div><div class="gmail_attr">On Mon Ann wrote:</div>${quoted}`;
  const { removed } = readHtmlReply(html);
  const texts = await readRemovedTexts({ text: null, html }, removed, async (step) => step());
  expect(texts).toEqual({ quotedText: 'On Mon Ann wrote:\n\nWhen?\n\nWhere & why?', signature: '--\nJoe' });
  expect(removed.map(({ kind, start, end }) => [kind, html.slice(start, end)])).toEqual([
    ['signature', '-- <br>Joe'],
    ['quote', 'On Mon Ann wrote:</div><blockquote type="cite"><p>When?</p><p>Where &amp; why?'],
  ]);
  expect(readHtmlReply('<p>Yes.</p>')).toEqual({ html: '<p>Yes.</p>', removed: [] });
});

test('images are content, pixels that count readers are not', () => {
  const quoted = '<blockquote type="cite">old</blockquote>';
  expect(stripQuotedHtml(`<img src="cid:1">${quoted}`)).toBe('<img src="cid:1">');
  expect(stripQuotedHtml(`${quoted}<img src="https://x.test/" width="1" height="1">`)).toContain('old');
});

function visible(html: string): string {
  return html
    .replace(/<[^<>]*>/g, ' ')
    .replaceAll('&nbsp;', ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

test.each([
  '<div>',
  '<p>',
  '<div>a</div>',
  '<br>',
  '<hr>',
  '<',
  '&nbsp;',
  '&gt; ',
  '<blockquote>a',
  '<blockquote type=cite>a</blockquote>',
  '<div class=gmail_attr>a</div>',
  '<div style="border-top:1px">',
  '<p>From: a</p>',
  'On 1 May 2026 a wrote:<br>',
  '<td>a',
  '<pre>\n',
  '<b>a',
  'a ',
])('up to 300 kB of %s is read in linear time', (unit) => {
  expectLinearGrowth((length) => stripQuotedHtml(`<p>x</p>${unit.repeat(length / unit.length)}`), 300_000, unit);
});
