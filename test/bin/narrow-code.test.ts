import vm from 'node:vm';
import { describe, expect, it } from 'vitest';
import { narrowCode } from '../../bin/runner/narrow-code.ts';

const WIDE = /[^\0-\x7f]/;
/** Long enough that escapes are worth their length. */
const PADDING = `/*${' '.repeat(2_000)}*/`;

function run(code: string): unknown {
  return vm.runInNewContext(`${code};\nresult`, {});
}

describe('code of the build', () => {
  it.each([
    ['a text', `var result = 'Ünïcode… “quoted” — \\u2028 \\n 日本 😀'`],
    ['a text with escapes beside', String.raw`var result = "\\… \'’"`],
    ['a text with a character that is escaped itself', String.raw`var result = '\… and \\… and \’'`],
    ['a pattern with one', String.raw`var result = ['a—b', 'u2014'].map((text) => /[\—]|\–/.test(text))`],
    ['a template', 'var result = `…${1 + 1}’ 😀`'],
    ['a raw template', 'var result = String.raw`…\\d${1 + 1} \\– \\\\’ 😀“”`'],
    ['keys of objects', `var result = { '…': 1, ['’']: 2 }`],
    ['a pattern', `var result = ['a…b', '…'].map((text) => /[…’]/.exec(text)?.index)`],
    ['a pattern by code points', `var result = '😀x日'.replace(/[😀日]/gu, '.')`],
    ['a pattern of sets', `var result = '😀x日'.replace(/[[😀-😂]&&[😀]]/gv, '.')`],
    ['a range of a pattern by units', `var result = /[一-龥]+/.exec('ab日本')[0]`],
  ])('does the same without wide characters for %s', (_, code) => {
    const narrow = narrowCode(PADDING + code);
    expect(narrow).not.toMatch(WIDE);
    expect(run(narrow)).toEqual(run(code));
  });

  it('stays as it is when a tag can read how its template was written', () => {
    const code = `${PADDING}var result = ((texts) => texts.raw[0])\`…\``;
    expect(narrowCode(code)).toBe(code);
  });

  it.each([
    ['names are wide', `${PADDING}var π = 3, result = π`],
    ['most of it is wide', `var result = '${'日本'.repeat(50)}'`],
    ['nothing is wide', `${PADDING}var result = 'e'`],
  ])('stays as it is when %s', (_, code) => {
    expect(narrowCode(code)).toBe(code);
  });
});
