import { expect, test } from 'vitest';
import { expectLinearGrowth } from './growth.ts';

test('work in linear time passes', () => {
  // Without garbage, whose collection takes as long as the tests before made it.
  const linear = (size: number) => {
    let sum = 0;
    for (let n = 0; n < size; n++) sum += Math.sqrt(n);
    return sum;
  };
  expectLinearGrowth(linear, 20_000_000);
});

test('work in quadratic time fails', () => {
  const quadratic = (size: number) => {
    let sum = 0;
    for (let n = 0; n < size; n++) for (let m = 0; m < size; m++) sum += n ^ m;
    return sum;
  };
  expect(() => expectLinearGrowth(quadratic, 30_000)).toThrow(/a quarter of it/);
});
