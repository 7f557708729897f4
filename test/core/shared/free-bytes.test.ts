import { expect, test } from 'vitest';
import { freeBytes, takeSlices } from '../../../core/shared/free-bytes.ts';

test('memory of its own is given back at once', () => {
  const bytes = Buffer.alloc(1_000_000, 'x');
  const view = bytes.subarray(10);
  freeBytes(view);
  expect([bytes.length, view.length, bytes.buffer.byteLength]).toEqual([0, 0, 0]);
  freeBytes(bytes);
});

test('memory of a pool that buffers share stays', () => {
  const [one, other] = [Buffer.from('one'), Buffer.from('other')];
  freeBytes(one);
  expect([one.toString(), other.toString()]).toEqual(['one', 'other']);
});

test('slices are copies, and the memory goes with the last one, or when no more are taken', () => {
  const whole = Buffer.alloc(300_000, 'abc');
  const expected = whole.toString();
  const slices = [...takeSlices(whole, 65_536)];
  expect(Buffer.concat(slices).toString()).toBe(expected);
  expect(slices.map(({ length }) => length)).toEqual([65_536, 65_536, 65_536, 65_536, 37_856]);
  expect(whole.length).toBe(0);
  const abandoned = Buffer.alloc(300_000, 'abc');
  for (const slice of takeSlices(abandoned, 65_536)) {
    expect(slice).toHaveLength(65_536);
    break;
  }
  expect(abandoned.length).toBe(0);
});
