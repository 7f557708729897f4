import { expect, test } from 'vitest';
import { plusTagOf } from '../../../core/routing/plus-tag.ts';

test.each([
  ['ann+news@x.test', 'news'],
  ['Ann+News+More@X.test', 'News+More'],
  ['ann@x.test', null],
  ['ann+@x.test', null],
  ['+news@x.test', null],
  ['"a+b"@x.test', null],
  ['ann', null],
])('the tag of %s is %s', (address, tag) => {
  expect(plusTagOf(address)).toBe(tag);
});
