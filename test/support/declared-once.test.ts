import { expect, test } from 'vitest';
import { countFieldFiles, countOperationFiles, countRoomLines } from './declared-once.ts';

/** The target. Lower it when a resource moves to a declaration. */
const MAX_ROOM_LINES = 12_000;
const MAX_FIELD_FILES = 12;
const MAX_OPERATION_FILES = 8;

test(`routes, types and tools take at most ${MAX_ROOM_LINES} lines`, () => {
  expect(countRoomLines()).toBeLessThanOrEqual(MAX_ROOM_LINES);
});

test('a field of a declared resource is named in at most 12 files between its table and the dashboard', () => {
  const counts = Object.entries(countFieldFiles());
  expect(counts.filter(([, files]) => files > MAX_FIELD_FILES || files === 0)).toEqual([]);
});

test('a declared operation is named in at most 8 files', () => {
  const counts = Object.entries(countOperationFiles());
  expect(counts.filter(([, files]) => files > MAX_OPERATION_FILES || files === 0)).toEqual([]);
});
