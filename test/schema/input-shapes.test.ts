import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { UserError } from '../../core/shared/errors.ts';
import { parseInput } from '../../schema/input-shapes.ts';

const shape = z.object({
  to: z.union([z.string(), z.array(z.string())]).optional(),
  size: z.union([z.string().max(3), z.number()]).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  count: z.int().optional(),
  seconds: z.number().positive().max(300).optional(),
  ids: z.array(z.string()).min(1).max(2).optional(),
  since: z.iso.datetime({ offset: true }).optional(),
  kind: z
    .discriminatedUnion('type', [z.object({ type: z.literal('a') }), z.object({ type: z.literal('b') })])
    .optional(),
});

function findDetails(input: unknown): unknown {
  const error = catchError(() => parseInput(shape, input));
  return error instanceof UserError ? error.details : error;
}

describe('the error of a field says what is allowed', () => {
  test.each([
    [{ to: 7 }, 'to', 'Invalid input: expected string or array, received number'],
    [{ to: { address: 'a@b.test' } }, 'to', 'Invalid input: expected string or array, received object'],
    [{ to: 'a@b.test', size: 1, count: 1.5 }, 'count', 'Invalid input: expected integer, received number'],
    [{ to: null }, 'to', 'Invalid input: expected string or array, received null'],
    [{ to: ['a@b.test', 7] }, 'to', '1: Invalid input: expected string, received number'],
    [{ size: 'large' }, 'size', 'Must have at most 3 characters'],
    [{ seconds: 301 }, 'seconds', 'Must be at most 300'],
    [{ seconds: 0 }, 'seconds', 'Must be greater than 0'],
    [{ ids: [] }, 'ids', 'Must have at least 1 item'],
    [{ ids: ['a', 'b', 'c'] }, 'ids', 'Must have at most 2 items'],
    [{ headers: 'X-A: b' }, 'headers', 'Invalid input: expected object, received string'],
    [{ headers: ['X-A: b'] }, 'headers', 'Invalid input: expected object, received array'],
    [{ since: 'yesterday' }, 'since', 'Invalid time. Use ISO 8601 with a time zone, such as 2026-03-01T09:30:00Z'],
    [{ since: '2026-03-01' }, 'since', 'Invalid time. Use ISO 8601 with a time zone, such as 2026-03-01T09:30:00Z'],
    [{ kind: { type: 'c' } }, 'kind.type', "Invalid discriminator value. Expected 'a' | 'b'"],
  ])('%j', (input, field, message) => {
    expect(findDetails(input)).toEqual([{ field, message }]);
  });
});

test('the error of a missing field says what it takes', () => {
  const required = z.object({
    address: z.string(),
    to: z.union([z.string(), z.array(z.string())]),
    map: z.record(z.string(), z.string()),
  });
  expect(() => parseInput(required, {})).toThrow(
    expect.objectContaining({
      details: [
        { field: 'address', message: 'Missing: expected string' },
        { field: 'to', message: 'Missing: expected string or array' },
        { field: 'map', message: 'Missing: expected object' },
      ],
    }),
  );
});

test('errors that repeat names of the input are short', () => {
  const name = 'x'.repeat(100_000);
  for (const [strict, input] of [
    [z.strictObject({}), { [name]: 1 }],
    [shape, { headers: { [name]: 1 } }],
    [shape, { headers: Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`${at}${name}`, 1])) }],
  ] as const) {
    const error = catchError(() => parseInput(strict, input));
    expect(JSON.stringify((error as UserError).details).length).toBeLessThan(10_000);
  }
});

function catchError(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
