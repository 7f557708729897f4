import { expect, test } from 'vitest';
import { readSeenText } from '../../../core/screening/seen-text.ts';

test.each([
  ['is hidden', 'background:#fff;visibility:hidden'],
  ['has a small size', 'background:#fff;width:1px;height:1px'],
  ['has a size of its own', 'background:#fff;width:300px;height:20px'],
  ['is a picture', 'background:url(a.png) no-repeat 0 0/1px'],
])('text is seen below an element that %s', (_name, style) => {
  const html = `<div style="position:relative">Please pay.<b style="position:absolute;inset:0;${style}"></b></div>`;
  expect(readSeenText({ text: null, html })).toBe('Please pay.');
});

test('text is not seen below an element of one color as large as its box', () => {
  const html = '<div style="position:relative">Pay.<b style="position:absolute;inset:0;background:#fff">Hi</b></div>';
  expect(readSeenText({ text: null, html })).toBe('Hi');
});
