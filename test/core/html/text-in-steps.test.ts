import { expect, test } from 'vitest';
import { textOfHtml, textOfHtmlInSteps } from '../../../core/html/text-of-html.ts';

const PIECES = [
  '<p>',
  '</p>',
  '<b>bold</b>',
  '&amp;&copy;&nbsp;',
  '<a href="https://x.test/?a=1&amp;b=2">shown</a>',
  '<a href="https://x.test/">https://x.test/</a>',
  '<img alt="a &gt; b" src=x>',
  '<div style="display:none">hidden</div>',
  '<span class="pre">preheader</span>',
  '<ul><li>one<li>two</ul>',
  '<!-- <p>comment -->',
  ' \n\t ',
  'plain € 漢字 😀',
  '<pre>a\n  b</pre>',
  '<table><tr><td>1<td>2</table>',
  '<br>',
  '<title>title</title>',
];

/** Numbers in [0, 1) that are the same in each run (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test('text that is read in steps equals text that is read at once', async () => {
  const random = randomNumbers(7);
  for (let at = 0; at < 30; at++) {
    const count = 1 + Math.floor(random() * 6_000);
    const body = Array.from({ length: count }, () => PIECES[Math.floor(random() * PIECES.length)]).join('');
    const html = `<style>.pre { display: none }</style>${body}`;
    expect(await textOfHtmlInSteps(html, async (step) => step())).toBe(textOfHtml(html));
  }
});

test('HTML with only hidden elements shows their text, also in steps', async () => {
  const html = '<p hidden>all</p>'.repeat(2_000);
  expect(await textOfHtmlInSteps(html, async (step) => step())).toBe(textOfHtml(html));
});

test('14 MB of HTML are read in steps of a few characters each, up to the limit', async () => {
  let steps = 0;
  await textOfHtmlInSteps('<p>x'.repeat(3_500_000), async (step) => {
    steps++;
    return step();
  });
  // One for the style sheets, 62 of 8,192 characters, and one for the end.
  expect(steps).toBe(64);
});
