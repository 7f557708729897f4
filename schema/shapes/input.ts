import { z } from 'zod';
import { UserError } from '../../core/shared/errors.ts';
import { MAX_SEARCH_LENGTH } from '../../operations/emails/emails.ts';

/** Number of errors that one response lists. */
const MAX_DETAILS = 20;

/** Text that PostgreSQL can store. */
export const text = z.string().refine((value) => !value.includes('\0'), 'must not contain NUL');

/** The search text of a list. */
export const searchText = text.max(MAX_SEARCH_LENGTH);

/** A filter that has `search`, whatever else it has. */
export const searchShape = z.object({ search: searchText.optional() });

/**
 * Parses an input. Throws validation with the path and the message of each error, the same in REST and GraphQL, which share their input
 * shapes.
 */
export function parseInput<Shape extends z.ZodType>(shape: Shape, input: unknown): z.output<Shape> {
  const { success, data, error } = shape.safeParse(input);
  if (success) return data;
  throw invalidInput(error.issues.map(({ path, message }) => ({ field: path.map(String).join('.'), message })));
}

/** Returns the error of an input that does not have the required shape. */
export function invalidInput(details: readonly { field: string; message: string }[]): UserError {
  return new UserError('validation', 'Validation failed. Check your request parameters.', {
    title: 'Bad Request',
    details: details.slice(0, MAX_DETAILS),
  });
}
