import { describe, expect, test } from 'vitest';
import { readEnrichedText } from '../../../core/mime/enriched-text.ts';

describe('text/enriched becomes plain text (RFC 1896)', () => {
  test.each([
    ['commands are left out', '<bold>Now</bold> is the <Italic>time</Italic>', 'Now is the time'],
    ['one line end is a space, of several one is left out', 'a\nb\n\nc\n\n\nd', 'a b\nc\n\nd'],
    ['a doubled bracket is one', 'if a << b then <<<bold>c</bold>', 'if a < b then <c'],
    ['parameters are left out', '<color><param>red</param>Stop</color>', 'Stop'],
    ['lines between nofill stay', '<nofill>a\nb\n\nc</nofill>\nd', 'a\nb\n\nc d'],
    ['excerpts are quoted', 'I agree.\n\n<excerpt>Shall we\n\nmeet?</excerpt>', 'I agree.\n> Shall we\n> meet?\n'],
    ['what is no command stays', '1 < 2, <a href="x">, <>', '1 < 2, <a href="x">, <>'],
    ['a parameter that does not end hides the rest', '<param>x', ''],
    ['an end without a start changes nothing', '</excerpt></param></nofill>a\nb', 'a b'],
  ])('%s', (_, text, plain) => {
    expect(readEnrichedText(text, 'text/enriched')).toBe(plain);
  });
});

test('text/richtext has line commands and no line ends (RFC 1341)', () => {
  const text = 'One<nl>two\nthree <lt>br><comment>hidden</comment><paragraph>Four</paragraph>';
  expect(readEnrichedText(text, 'text/richtext')).toBe('One\ntwo three <br>\nFour\n');
});

test.each(['<', '<<', '<excerpt>', '<excerpt>a\n\n', '<param>', '<nofill>\n', 'a\n', '<a'])(
  '1,000,000 characters of %j are read',
  (part) => {
    const text = part.repeat(1_000_000 / part.length);
    expect(readEnrichedText(text, 'text/enriched').length).toBeLessThan(10 * text.length);
  },
);
