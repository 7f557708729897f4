import { RECIPIENT_SUPPRESSED, UserError, type UserErrorCode } from '../../core/shared/errors.ts';

/**
 * The error types in the result unions of mutations. The errors plugin selects the type by `instanceof`, so each class decides which
 * `UserError`s belong to it; the classes have no instances. All other errors (a missing key, an unavailable service) appear in the
 * `errors` of the response.
 */
export class ValidationError extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return isOfCode(value, 'validation') && !isSuppression(value) && !value.isOfState;
  }
}

export class NotFound extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return isOfCode(value, 'not_found') || isOfCode(value, 'gone');
  }
}

export class Conflict extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return isOfCode(value, 'conflict') || (isOfCode(value, 'validation') && value.isOfState);
  }
}

export class Forbidden extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return isOfCode(value, 'forbidden');
  }
}

export class RateLimited extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return isOfCode(value, 'rate_limited');
  }
}

/** For mutations that send. */
export class SuppressedRecipient extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return isOfCode(value, 'validation') && isSuppression(value);
  }
}

function isOfCode(value: unknown, code: UserErrorCode): value is UserError {
  return value instanceof UserError && value.code === code;
}

function isSuppression(error: UserError): boolean {
  return error.reason === RECIPIENT_SUPPRESSED;
}
