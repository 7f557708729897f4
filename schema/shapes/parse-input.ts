import type { z } from 'zod';
import { UserError } from '../../core/shared/errors.ts';

/** Faults of one input that are told. */
const MAX_DETAILS = 20;

/**
 * The input as the shape has it. Throws validation with the path and the words of each fault: the same in REST and GraphQL, whose inputs are
 * of the same shapes.
 */
export function parseInput<Shape extends z.ZodType>(shape: Shape, input: unknown): z.output<Shape> {
  const { success, data, error } = shape.safeParse(input);
  if (success) return data;
  throw unfitInput(error.issues.map(({ path, message }) => ({ field: path.map(String).join('.'), message })));
}

/** An input whose shape is not the one that is asked for. */
export function unfitInput(details: readonly { field: string; message: string }[]): UserError {
  return new UserError('validation', 'Validation failed. Check your request parameters.', {
    title: 'Bad Request',
    details: details.slice(0, MAX_DETAILS),
  });
}
