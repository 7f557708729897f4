import { UserError } from '../../core/shared/errors.ts';
import { LargeText } from '../../core/shared/large-text.ts';

/** Characters of all long texts in the result of one operation, bytes of a LargeText. An email of 15 MB has its text in up to four fields. */
const MAX_RESULT_LENGTH = 64_000_000;
/** The same for an event of a stream, whose JSON is in memory as a whole. Characters. */
export const MAX_EVENT_LENGTH = 8_000_000;
/** Shorter texts are not counted: the cost of an operation limits their number to 5,000. Characters. */
const SHORT_TEXT = 1_024;

/**
 * Counts the long texts in the result of an operation, each as often as it is selected: aliases, fragments, lists and nested connections
 * repeat a text without loading it again.
 */
export interface BodyBudget {
  /** characters so far */
  readonly length: number;
  /** why the operation is refused; null if it is not */
  readonly refusal: UserError | null;
  /** Counts a value of a field. Throws the refusal. */
  count(value: unknown): void;
  /** Checks texts that are about to be loaded; bytes. Throws the refusal. */
  expect(bytes: number): void;
  /** Refuses the operation. Throws the refusal. */
  refuse(refusal: UserError): never;
  /** Begins the next result of a subscription. */
  reset(): void;
}

export interface BodyBudgetOptions {
  maxLength?: number;
  /** takes memory for a text that is not sent piece by piece, such as one in an event of a subscription; throws if there is none */
  take?: (bytes: number) => void;
}

export function openBodyBudget({ maxLength = MAX_RESULT_LENGTH, take }: BodyBudgetOptions = {}): BodyBudget {
  let length = 0;
  let refusal: UserError | null = null;
  const refuse = (error: UserError): never => {
    refusal ??= error;
    throw refusal;
  };
  return {
    get length() {
      return length;
    },
    get refusal() {
      return refusal;
    },
    count(value) {
      const more = textLength(value);
      if (more <= SHORT_TEXT) return;
      if (refusal !== null) throw refusal;
      length += more;
      if (length > maxLength) refuse(tooLong(maxLength));
      try {
        // Escapes can make the JSON six times as long; a character takes up to two bytes.
        take?.(2 * JSON.stringify(value).length);
      } catch (error) {
        if (error instanceof UserError) refuse(error);
        throw error;
      }
    },
    expect(bytes) {
      if (length + bytes > maxLength) refuse(tooLong(maxLength));
    },
    refuse,
    reset() {
      length = 0;
      refusal = null;
    },
  };
}

function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (value instanceof LargeText) return value.bytes;
  if (typeof value !== 'object' || value === null || value instanceof Date || value instanceof Promise) return 0;
  let sum = 0;
  for (const item of Object.values(value)) sum += textLength(item);
  return sum;
}

function tooLong(maxLength: number): UserError {
  return new UserError(
    'validation',
    `The result has more than ${maxLength / 1_000_000} MB of text. Select fewer bodies, fewer aliases or smaller pages.`,
    { name: 'validation_error', reason: 'RESPONSE_TOO_LARGE' },
  );
}
