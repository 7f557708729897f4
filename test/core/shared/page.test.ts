import { expect, test } from 'vitest';
import { decodeCursor, encodeCursor } from '../../../core/shared/page.ts';

test.each([
  { at: new Date('2026-11-20T10:00:00.123Z'), id: 'em_0123456789abcdef0123456789abcdef' },
  { at: new Date(0), id: 'x' },
  { at: new Date(-1), id: 'a-b_C9' },
])('decodes the encoded cursor of %j', (place) => {
  expect(decodeCursor(encodeCursor(place))).toEqual(place);
});

test.each([
  '',
  'nonsense',
  '=====',
  Buffer.from('1.').toString('base64url'),
  Buffer.from('.x').toString('base64url'),
  Buffer.from('1.a b').toString('base64url'),
  Buffer.from('zzzzzzzzzzz.x').toString('base64url'),
  Buffer.from(`1.${'x'.repeat(65)}`).toString('base64url'),
  Buffer.from("1.x';--").toString('base64url'),
  'x'.repeat(50_000),
])('rejects the cursor %j', (cursor) => {
  expect(decodeCursor(cursor)).toBeNull();
});
