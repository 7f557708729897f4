import { UserError } from '../../core/shared/errors.ts';
import { LargeText } from '../../core/shared/large-text.ts';

/** Bytes of all long texts in the result of one operation, in UTF-8. An email of 15 MB has its text in up to four fields. */
const MAX_RESULT_BYTES = 64_000_000;
/** The same for an event of a stream, whose JSON is in memory as a whole. */
export const MAX_EVENT_BYTES = 8_000_000;
/** Shorter texts are not counted: the cost of an operation limits their number to 5,000. Bytes. */
const SHORT_TEXT = 1_024;

/**
 * Counts the long texts in the result of an operation, each as often as it is selected: aliases, fragments, lists and nested connections
 * repeat a text without loading it again.
 */
export interface BodyBudget {
  /** so far */
  readonly bytes: number;
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
  maxBytes?: number;
  /** takes memory for a text that is not sent piece by piece, such as one in an event of a subscription; throws if there is none */
  take?: (bytes: number) => void;
}

export function openBodyBudget({ maxBytes = MAX_RESULT_BYTES, take }: BodyBudgetOptions = {}): BodyBudget {
  let sum = 0;
  let refusal: UserError | null = null;
  const refuse = (error: UserError): never => {
    refusal ??= error;
    throw refusal;
  };
  return {
    get bytes() {
      return sum;
    },
    get refusal() {
      return refusal;
    },
    count(value) {
      const more = textBytes(value);
      if (more <= SHORT_TEXT) return;
      if (refusal !== null) throw refusal;
      sum += more;
      if (sum > maxBytes) refuse(tooLong(maxBytes));
      try {
        // Escapes can make the JSON six times as long; a character takes up to two bytes.
        take?.(2 * JSON.stringify(value).length);
      } catch (error) {
        if (error instanceof UserError) refuse(error);
        throw error;
      }
    },
    expect(bytes) {
      if (sum + bytes > maxBytes) refuse(tooLong(maxBytes));
    },
    refuse,
    reset() {
      sum = 0;
      refusal = null;
    },
  };
}

function textBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (value instanceof LargeText) return value.bytes;
  if (typeof value !== 'object' || value === null || value instanceof Date || value instanceof Promise) return 0;
  let sum = 0;
  for (const item of Object.values(value)) sum += textBytes(item);
  return sum;
}

function tooLong(maxBytes: number): UserError {
  return new UserError(
    'validation',
    `The result has more than ${maxBytes / 1_000_000} MB of text. Select fewer bodies, fewer aliases or smaller pages.`,
    { name: 'validation_error', reason: 'RESPONSE_TOO_LARGE' },
  );
}
