import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../core/shared/page.ts';
import type { OperationContext } from '../../operations/context.ts';

/** Options of every REST plugin. */
export interface RestOptions {
  /** returns the operation context of an admitted request */
  contextOf: (request: FastifyRequest) => OperationContext;
}

export { text } from '../../operations/capability/field-shapes.ts';

/** A limit above the maximum counts as the maximum. Values below 1 are rejected. */
export const limit = (fallback: number = DEFAULT_PAGE_SIZE) =>
  count({ min: 1, cap: MAX_PAGE_SIZE, fallback }).meta({
    description: `Number of items to return. Values above ${MAX_PAGE_SIZE} count as ${MAX_PAGE_SIZE}.`,
  });
export const offset = count({ min: 0, cap: Number.MAX_SAFE_INTEGER, fallback: 0 }).meta({
  description: 'Number of items to skip.',
});

/** An integer in a query; above `cap` it counts as `cap`. An empty value is rejected instead of counting as 0. */
function count({ min, cap, fallback }: { min: number; cap: number; fallback: number }) {
  return z
    .preprocess(
      (given) => (given === '' ? Number.NaN : given),
      z.coerce.number().min(min).refine(Number.isInteger, 'Invalid input: expected int, received number'),
    )
    .default(fallback)
    .transform((value) => Math.min(value, cap))
    .meta({ type: 'integer', minimum: min, 'x-default': fallback });
}

/** A boolean in a query: `true` and `false`, also `1` and `0`. */
export const queryBoolean = z
  .stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] })
  .meta({ enum: ['true', 'false', '1', '0'] });

export const idInPath = z.object({ id: z.string().meta({ description: 'ID of the object.' }) });

/** A time in ISO 8601, always in UTC. */
export const instant = z.string().meta({ format: 'date-time' });

export const errorBody = z
  .object({
    error: z.string().meta({ description: 'What is wrong.' }),
    message: z.string().meta({ description: 'The same, or with more detail.' }),
    statusCode: z.number().int(),
    name: z.string().meta({ description: 'Type of the error, such as `validation_error` or `not_found`.' }),
    details: z.unknown().optional().meta({ description: 'The invalid fields, or more detail as text.' }),
    code: z
      .string()
      .optional()
      .meta({ description: 'Error code, where programs need to tell errors of one type apart.' }),
  })
  .meta({
    id: 'Error',
    description: 'The body of every error response.',
    examples: [
      {
        error: 'Bad Request',
        message: 'Validation failed. Check your request parameters.',
        statusCode: 400,
        name: 'validation_error',
        details: [{ field: 'limit', message: 'Must be at least 1' }],
      },
    ],
  });

/** Pagination by offset, with `hasMore` in camel case, as in all lists except that of emails. */
export const pagination = z.object({
  limit: z.number().int(),
  offset: z.number().int(),
  total: z.number().int(),
  hasMore: z.boolean(),
});

/** The response of a list by offset. `object` and `has_more` are for the `resend` client. */
export const makeListShape = <T extends z.ZodType>(item: T) =>
  z.object({ object: z.literal('list'), data: z.array(item), has_more: z.boolean(), pagination });

/** Returns the response of a list by offset. */
export function listBody<T>(data: T[], page: { limit: number; offset: number }, total: number) {
  const hasMore = page.offset + data.length < total;
  return besideBody(data, { limit: page.limit, offset: page.offset }, { hasMore, total });
}

/** Returns the response of a page beside an item. */
export function besideBody<T>(
  data: T[],
  page: { limit: number; offset: number },
  { hasMore, total }: { hasMore: boolean; total: number },
) {
  return { object: 'list' as const, data, has_more: hasMore, pagination: { ...page, total, hasMore } };
}

/** Formats a time; null stays null. */
export function wireInstant(instant: Date): string;
export function wireInstant(instant: Date | null): string | null;
export function wireInstant(instant: Date | null): string | null {
  return instant === null ? null : instant.toISOString();
}

/** Returns an object without a prototype, so that `__proto__` is an ordinary key. */
export function plainRecord<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  const record = Object.create(null) as Record<string, T>;
  for (const [key, value] of entries) record[key] = value;
  return record;
}
