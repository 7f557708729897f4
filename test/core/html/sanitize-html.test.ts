import { describe, expect, test } from 'vitest';
import { excerptOfHtml, sanitizeHtmlBody } from '../../../core/html/sanitize-html.ts';
import { stripQuotedHtml } from '../../../core/mime/reply-html.ts';

const FORBIDDEN =
  /<\s*(?:script|style|iframe|object|embed|form|input|base|meta|link|svg|math|template|noscript|frame|applet|button)|\son\w+\s*=|javascript:|vbscript:|data:text|expression\(|@import|url\(|srcdoc|formaction|<!--/i;

describe('removes', () => {
  test.each([
    '<script>alert(1)</script>hi',
    '<SCRIPT SRC=https://e.test/x.js></SCRIPT>',
    '<scr<script>ipt>alert(1)</scr</script>ipt>',
    '<img src=x onerror=alert(1)>',
    '<img src="x"onerror="alert(1)">',
    '<img/src=x/onerror=alert(1)>',
    '<p onclick="alert(1)" style="color:red">a</p>',
    '<a href="javascript:alert(1)">a</a>',
    '<a href=" &#106;ava&#115;cript:alert(1)">a</a>',
    '<a href="java\tscript:alert(1)">a</a>',
    '<a href="java\0script:alert(1)">a</a>',
    '<a href="vbscript:msgbox(1)">a</a>',
    '<a href="data:text/html,<script>alert(1)</script>">a</a>',
    '<img src="data:text/html;base64,PHNjcmlwdD4=">',
    '<img src="data:image/svg+xml;base64,PHN2Zz4=">',
    '<img src="javascript:alert(1)">',
    '<svg onload=alert(1)><script>alert(1)</script></svg>',
    '<svg><style><img src=x onerror=alert(1)></style></svg>',
    '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
    '<template><img src=x onerror=alert(1)></template>',
    '<style>@import "https://e.test/x.css";</style>a',
    '<style>p{background:url(https://e.test/x)}</style>',
    '<link rel=stylesheet href=https://e.test/x.css>',
    '<p style="background:url(https://e.test/x)">a</p>',
    '<p style="background:u\\72l(https://e.test/x)">a</p>',
    '<p style="background:/**/url(x)">a</p>',
    '<p style="width:expression(alert(1))">a</p>',
    '<p style="-moz-binding:url(x)">a</p>',
    '<p style="position:fixed;top:0;left:0">a</p>',
    '<meta http-equiv=refresh content="0;url=https://e.test">',
    '<base href=https://e.test/>',
    '<form action=https://e.test><input name=password><button formaction=javascript:alert(1)>a</button></form>',
    '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    '<object data=https://e.test></object><embed src=https://e.test>',
    '<!--[if gte mso 9]><script>alert(1)</script><![endif]-->',
    '<a href="https://e.test" onmouseover=alert(1)>a</a>',
    '<div id=x name=y class=z>a</div>',
    '<img srcset="https://e.test/x 1x" src="cid:a@b">',
    '<video src=x onerror=alert(1)><source src=x></video>',
    '<details open ontoggle=alert(1)>a</details>',
    '<p title="<script>alert(1)</script>">a</p>'.replace('<script>', '&lt;b&gt;').replace('</script>', ''),
    '<<script>alert(1)//<</script>',
    '<a href="//e.test/x">a</a>',
  ])('%s', (html) => {
    for (const clean of [sanitizeHtmlBody(html), sanitizeHtmlBody(stripQuotedHtml(html))]) {
      expect(clean).not.toBeNull();
      expect(clean).not.toMatch(FORBIDDEN);
      // What was cleaned once does not turn into something else when it is read again.
      expect(sanitizeHtmlBody(clean ?? '')).toBe(clean);
    }
  });
});

test.each([
  ['<p>Hello <b>Ann</b></p>', '<p>Hello <b>Ann</b></p>'],
  ['<p style="color:red;font-size:12px">a</p>', '<p style="color:red;font-size:12px">a</p>'],
  ['<img src="cid:a@b" alt="x">', '<img src="cid:a@b" alt="x" />'],
  ['<img src="data:image/png;base64,AA==">', '<img src="data:image/png;base64,AA==" />'],
  [
    '<table width="5"><tr><td bgcolor="red">a</td></tr></table>',
    '<table width="5"><tr><td bgcolor="red">a</td></tr></table>',
  ],
  ['a\0b', 'a\ufffdb'],
  ['<head><title>Title</title></head><p>a</p>', '<p>a</p>'],
  ['<div style="display:none!important;mso-hide:all">Preheader <b>b</b></div><p>a</p>', '<p>a</p>'],
  ['<style>.pre{display:none}</style><span class="pre">Preheader</span><p class="x">a</p>', '<p>a</p>'],
  ['<p hidden>Preheader</p>a', 'a'],
  ['<p style="visibility:hidden">the only text</p>', '<p style="visibility:hidden">the only text</p>'],
])('%s is shown as %s', (html, shown) => {
  expect(sanitizeHtmlBody(html)).toBe(shown);
});

test('links open in a new tab and send no referrer', () => {
  expect(sanitizeHtmlBody('<a href="https://x.test/">a</a>')).toBe(
    '<a href="https://x.test/" rel="noopener noreferrer nofollow" target="_blank">a</a>',
  );
});

test('an excerpt is text on one line', () => {
  expect(excerptOfHtml('<p>a &lt;b&gt; &amp;amp; c</p>\n<p>d</p><img src="', 200)).toBe('a <b> &amp; c d');
});

const MEGABYTE = 900_000;
test.each([
  ['<div>', 1_000_000],
  ['<div>', 150_000],
  ['<font><b><i>', 70_000],
  ['<', MEGABYTE],
  ['<p>', MEGABYTE],
  ['<svg><style>', MEGABYTE],
  ['<b', MEGABYTE],
  ['&#', MEGABYTE],
  ['<iframe>', MEGABYTE],
  ['<!--', MEGABYTE],
  ['<select><option>', MEGABYTE],
  ['<p><td>', 200_000],
  ['<blockquote type=cite>a</blockquote>b', MEGABYTE],
  ['<a ', MEGABYTE],
  ['</div>', MEGABYTE],
  ['<div>a</div>', 600_000],
  [' ', MEGABYTE],
  ['<div ', MEGABYTE],
  ['<hr ', MEGABYTE],
  ['"', MEGABYTE],
  ['<p style="a:b;', MEGABYTE],
  ['<style>/*a', MEGABYTE],
  ['<style>.a{display:none}', MEGABYTE],
  ['<p hidden>', 10_000],
])('%s repeated is cleaned, or rejected as too expensive', (unit, length) => {
  // Milliseconds to a second; without the limits some take longer than the time limit of a test.
  expect(() => sanitizeHtmlBody(stripQuotedHtml(unit.repeat(length / unit.length)))).not.toThrow();
});

test('HTML over a megabyte, or too deeply nested, has no cleaned copy', () => {
  expect(sanitizeHtmlBody('a'.repeat(1_000_001))).toBeNull();
  expect(sanitizeHtmlBody('<div>'.repeat(2_000))).toBeNull();
  expect(sanitizeHtmlBody(`${'<div>'.repeat(200)}a${'</div>'.repeat(200)}`)).toContain('a');
});
