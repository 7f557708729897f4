import { describe, expect, test } from 'vitest';
import { textOfHtml } from '../../../core/html/text-of-html.ts';

describe('the text of HTML', () => {
  test.each([
    ['<p>Hello <b>Ada</b>,</p><p>it is on&nbsp;its way.</p>', 'Hello Ada,\n\nit is on its way.'],
    ['one<br>two<br/>three', 'one\ntwo\nthree'],
    ['one<br><br><br><br>two', 'one\n\ntwo'],
    ['<div>one</div><div>two</div>', 'one\ntwo'],
    ['<h1>Title</h1>\n  text\n  in lines ', 'Title\n\ntext in lines'],
    ['<ul><li>one</li><li>two</li></ul>', '- one\n- two'],
    ['<a href="https://x.test/verify?a=1&amp;b=2">Verify</a> now', 'Verify (https://x.test/verify?a=1&b=2) now'],
    ['<a href="https://x.test/">https://x.test/</a>', 'https://x.test/'],
    ['<a href="mailto:ada@x.test">ada@x.test</a>', 'ada@x.test'],
    ['<a href="https://x.test/logo"><img src="x.png" alt="Logo"></a>', 'Logo (https://x.test/logo)'],
    ['<a href="javascript:alert(1)">Click</a>', 'Click'],
    ['<head><title>T</title><style>p{}</style></head><script>x</script><p>seen</p>', 'seen'],
    ['<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>', 'a b\nc'],
    ['5 &lt; 6 &amp; 7', '5 < 6 & 7'],
    ['<div style="display:none;max-height:0">Preheader<img alt="x"></div><p>seen</p>', 'seen'],
    ['<span style="color:#fff; opacity:0">Preheader <b>bold</b></span>seen', 'seen'],
    ['<style>.pre,td.hid{display:none}</style><p class="a pre">Preheader</p><p class="hid">x</p><p>seen</p>', 'seen'],
    [
      '<style>@media (x){.a{display:none}} .b{color:red}</style><p class="a">seen</p><p class="b">too</p>',
      'seen\n\ntoo',
    ],
    ['<!--[if mso]><style>.a{display:none}</style><![endif]--><p class="a">seen</p>', 'seen'],
    ['<style>/* .b{ */.a{display:none}</style><p class="a">Preheader</p><p class="b">seen</p>', 'seen'],
    ['<td style="font-size:0"><b style="font-size:12px">seen</b></td>', 'seen'],
    ['<p style="display:none">the only text</p>', 'the only text'],
    ['plain words', 'plain words'],
  ])('is read from %s', (html, text) => {
    expect(textOfHtml(html)).toBe(text);
  });

  test('is null when nothing would be visible', () => {
    for (const html of ['', ' ', '<p></p>', '<img src="x.png">', '<style>p{}</style>'])
      expect(textOfHtml(html)).toBe(null);
  });

  test('is extracted from broken and deep HTML too, and can be stored', () => {
    expect(textOfHtml('<p>one<p>two</b></div><a href="https://x.test">open')).toMatch(/one\n\ntwo/);
    expect(textOfHtml(`${'<div>'.repeat(20_000)}x`)).toBe(null);
    expect(textOfHtml('a\u0000b\ud800')).toBe('a\ufffdb\ufffd');
  });
});
