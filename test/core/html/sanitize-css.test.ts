import { describe, expect, test } from 'vitest';
import { makeMailDocument } from '../../../core/html/mail-document.ts';
import { sanitizeStyle, sanitizeStyleSheets } from '../../../core/html/sanitize-css.ts';
import { hostileCss } from '../../support/mail/hostile-css.ts';

const sheet = (css: string, media = '') => sanitizeStyleSheets([{ css, media }]).trim();

describe('keeps', () => {
  test.each([
    ['.a, #b > td{color:red;padding:0 4px}', '.a,#b>td{color:red;padding:0 4px}'],
    ['<!-- p{margin:0!important} -->', 'p{margin:0!important}'],
    ['a:link{color:#fff}', 'a:any-link{color:#fff}'],
    ['a:link,a:visited{color:#fff}', 'a:any-link{color:#fff}'],
    ['td[class="x y"]{width:100%!important}', 'td[class="x y"]{width:100%!important}'],
    ['li:nth-child(2n+1){float:left}', 'li:nth-child(2n+1){float:left}'],
    ['p:not(.a):hover::before{content:"\\2022 "}', 'p:not(.a):hover::before{content:"•"}'],
    ['.\\31 a{color:red}', '.\\31 a{color:red}'],
    [
      'p{font:bold 12px/1.5 "Open Sans",Arial;width:calc(100% - 2px)}',
      'p{font:bold 12px / 1.5 "Open Sans", Arial;width:calc(100% - 2px)}',
    ],
    ['p{background:#fff url(https://e.test/a) no-repeat}', 'p{background:#fff none no-repeat}'],
    [
      'p{background:linear-gradient(to right,#fff 0%,rgba(0,0,0,.5))}',
      'p{background:linear-gradient(to right, #fff 0%, rgba(0, 0, 0, .5))}',
    ],
    [
      '@media only screen and (max-width:600px){p{color:red}}',
      '@media only screen and (max-width:600px){p{color:red}\n}',
    ],
    ['@media (width <= 600px){p{color:red}}', '@media (max-width:600px){p{color:red}\n}'],
    ['@media (prefers-color-scheme:light){p{color:red}}', '@media all{p{color:red}\n}'],
  ])('%s', (css, kept) => {
    expect(sheet(css)).toBe(kept);
  });

  test('the media of a style element', () => {
    expect(sheet('p{color:red}', 'print')).toBe('@media print{p{color:red}\n}');
    expect(sheet('p{color:red}', 'screen and (x:y)')).toBe('');
  });
});

test.each([
  '@media (prefers-color-scheme:dark){p{color:red}}',
  'p{position:fixed;z-index:3;animation:x 1s;transform:none;filter:none}',
  '_:-ms-fullscreen,p{color:red}',
  'p{height:100vh;width:expression(1)}',
  '@font-face{font-family:x;src:url(x)}',
  '@keyframes x{from{color:red}}',
])('%s is dropped', (css) => {
  expect(sheet(css)).toBe('');
});

test('a style attribute keeps what is allowed, and names its background image', () => {
  expect(sanitizeStyle('color:red;;*zoom:1;position:fixed;background:url( "https://e.test/a" ) #eee')).toEqual({
    style: 'color:red;background-color:#eee',
    background: 'https://e.test/a',
  });
});

/** What nothing that was sanitized contains: loads, scripts, positions, history and names of ours. */
const HARMFUL =
  /canary|url\(|@(?!media)|import|image-set|cross-fade|expression|behavior|binding|javascript|var\(|fixed|sticky|absolute|z-index|visited|<script|<style|<img[^>]* on|postroom-(?:notice|x)"/i;

describe('hostile CSS', () => {
  const vectors = hostileCss('https://canary.test');

  test('has more than forty vectors', () => {
    expect(new Set(vectors.map(([name]) => name)).size).toBe(vectors.length);
    expect(vectors.length).toBeGreaterThan(40);
  });

  test.each(vectors)('%s leaves nothing behind', (_, html) => {
    const shown = makeMailDocument({
      subject: 'CSS',
      html,
      text: null,
      hasRemoteImages: false,
      inlineImages: new Map(),
      ownHosts: new Set(),
    }).html;
    // Our own style sheets are the first and the last one.
    const [, ...sheets] = shown.split('<style>').map((part) => part.split('</style>'));
    const theirs = sheets.slice(1, -1).map(([css = '']) => css);
    expect(theirs.join('')).not.toMatch(/[<]|--/);
    expect(`${theirs.join('')}${sheets.at(-1)?.slice(1).join('</style>')}`).not.toMatch(HARMFUL);
  });
});

test.each([
  'a{',
  '@media all{',
  '(',
  'a(',
  ':not(',
  '[',
  '{',
  '}',
  '/*',
  '\\',
  'url(',
  '"\n',
  'a,',
  '@',
  'a{b:c;',
  'p{color:red}',
  '--x:{',
])('%s repeated is read in linear time', (unit) => {
  // Milliseconds; anything worse than linear would exceed the time limit of a test.
  expect(sheet(unit.repeat(300_000 / unit.length)).length).toBeLessThan(600_000);
  expect(sanitizeStyle(unit.repeat(10_000 / unit.length)).style.length).toBeLessThan(20_000);
});
