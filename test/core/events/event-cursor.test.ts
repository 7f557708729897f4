import { expect, test } from 'vitest';
import { decodeEventCursor, encodeEventCursor } from '../../../core/events/event-cursor.ts';

const LARGEST = 2 ** 48 - 1;

test('a cursor contains its number and belongs to one user', () => {
  for (const seq of [0, 1, 255, 256, 123_456_789_012, LARGEST]) {
    const cursor = encodeEventCursor('usr_one', seq);
    expect(cursor).toMatch(/^[A-Za-z0-9_-]{16}$/);
    expect(decodeEventCursor('usr_one', cursor)).toBe(seq);
    expect(decodeEventCursor('usr_two', cursor)).toBeNull();
  }
});

test.each([
  '',
  'x',
  '='.repeat(16),
  'A'.repeat(15),
  'A'.repeat(17),
  `${encodeEventCursor('usr_one', 1)}\n`,
  'é'.repeat(16),
])('rejects an invalid cursor: %j', (text) => expect(decodeEventCursor('usr_one', text)).toBeNull());
