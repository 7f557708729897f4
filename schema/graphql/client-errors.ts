import { RECIPIENT_SUPPRESSED, UserError, type UserErrorCode } from '../../core/shared/errors.ts';

/**
 * What a user did wrong, as the unions of mutations tell it. The errors plugin knows types of errors by their classes; these classes say
 * which `UserError` is of which type and have no instances of their own. What is missing here (no key, a service that is away) is told
 * among the `errors` of the answer.
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

/** Of mutations that send. */
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
