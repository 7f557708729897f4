import { describe, expect, test } from 'vitest';
import { visibleText } from '../../../core/html/visible-text.ts';
import { splitWords } from '../../../core/search/search-words.ts';
import { expectLinearGrowth } from '../../support/growth.ts';

describe('words are compared without case, accents and marks, in any script', () => {
  test.each([
    ['Hello, World!', 'hello world'],
    ['ann.lee+tag@mail.x.test', 'ann lee tag mail x test'],
    ['don’t “quote” it—or … do', 'don t quote it or do'],
    ['ÜBER Straße Crème brûlée', 'uber strasse creme brulee'],
    ['Łódź Ørsted Þór', 'łodz ørsted þor'],
    ['İstanbul ISTANBUL ıstanbul', 'istanbul istanbul ıstanbul'],
    ['ΕΛΛΆΔΟΣ Ελλάδος', 'ελλαδοσ ελλαδοσ'],
    ['Привет МИР', 'привет мир'],
    ['ＦＵＬＬ　ｗｉｄｔｈ ﬁne 𝐁𝐨𝐥𝐝 Ⅷ x²', 'full width fine bold viii x2'],
    ['東京へ行くABC中文', '東 京 へ 行 く abc 中 文'],
    ['안녕하세요 세계', '안녕하세요 세계'],
    ['नमस्ते दुनिया', 'नमस्ते दुनिया'],
    ['مَرحَبا', 'مَرحَبا'],
    ['foo_bar 3.14 a/b 🎉', 'foo bar 3 14 a b'],
    ['', ''],
  ])('%s', (text, words) => expect(splitWords(text).join(' ')).toBe(words));

  test('a long word is matched by its prefix', () => {
    expect(splitWords(`${'x'.repeat(100)} y`)).toEqual(['x'.repeat(64), 'y']);
    expect(splitWords('𐐷'.repeat(100))[0]?.isWellFormed()).toBe(true);
  });
});

describe('the visible text of HTML', () => {
  const words = (html: string) => splitWords(visibleText(html, 10_000)).join(' ');
  test.each([
    ['<p>one</p><p>two</p>', 'one two'],
    ['H<b>el</b>l<span class="x">o</span> wor<wbr>ld', 'hello world'],
    ['<td>a<td>b<br>c', 'a b c'],
    ['<html><head><title>title</title><style>.css{}</style></head><body>body</body>', 'body'],
    ['a<style media="x">.css{content:"</p>"}</style>b<SCRIPT>var c = "<p>d</p>"</SCRIPT>e', 'a b e'],
    ['a<!-- <p>hidden</p> -->b', 'ab'],
    ['<!DOCTYPE html><?xml version="1"?>a', 'a'],
    ['<a href="https://tracker.test/x?y>z" title=\'a > b\'>link</a>', 'link'],
    [
      'M&uuml;ller &amp; S&#246;hne&nbsp;GmbH &#x20AC; Stra&szlig;e &copy; soft&shy;en &unknown; &ampfoo',
      'muller sohne gmbh strasse soften ampfoo',
    ],
    ['3 < 4 and 5 > 2', '3 4 and 5 2'],
    ['open <style> never closed', 'open never closed'],
    ['cut <a href="', 'cut'],
    ['&#0;&#xd800;&#1114112;x', 'x'],
  ])('is split from %s', (html, expected) => expect(words(html)).toBe(expected));
});

test('hostile text takes linear time', () => {
  const pieces = [
    '<',
    '<a',
    '<a "',
    '<a \'"',
    '<!--',
    '<style>',
    '</style',
    '<style><script>',
    '&',
    '&#1',
    '<p title="',
    '<![CDATA[',
    'a\u0301',
    '\u0301\u0316',
    '\ufdfa',
    '가',
    'ß',
    ' a',
  ];
  for (const piece of pieces)
    expectLinearGrowth(
      (length) => {
        splitWords(visibleText(piece.repeat(length / piece.length), 32_768));
        splitWords(piece.repeat(length / 4 / piece.length));
      },
      131_072,
      piece,
    );
});
