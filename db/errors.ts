import pRetry from 'p-retry';

/**
 * What an error of PostgreSQL means (SQLSTATE, PostgreSQL, Appendix A). The one place that knows the codes.
 *
 * - contention: another transaction was in the way; the same statement may succeed at once
 * - timeout: the statement, the lock or the idle transaction took too long; PostgreSQL is there
 * - unreachable: PostgreSQL is away, restarting, out of connections, or read-only as a previous primary is, or no pool can open a
 *   connection for another reason: a certificate that expired, a password that changed
 * - transient: any of the three; a later retry may succeed
 */

/** serialization_failure, deadlock_detected: this transaction lost to another one. */
const CONFLICTS: ReadonlySet<unknown> = new Set(['40001', '40P01']);
const LOCK_TIMEOUT = '55P03';
const STATEMENT_TIMEOUT = '57014';
/** of the statement, the lock, an idle transaction */
const TIMEOUTS: ReadonlySet<unknown> = new Set([STATEMENT_TIMEOUT, LOCK_TIMEOUT, '25P03']);
const READ_ONLY = '25006';
const UNIQUE_VIOLATION = '23505';
const INSUFFICIENT_PRIVILEGE = '42501';
/** internal_error, which is also "tuple concurrently updated" */
const INTERNAL_ERROR = 'XX000';
/** Classes: connection exceptions, shutdown, out of resources. */
const UNREACHABLE = /^(?:08|57P0|53)/;
const SYSTEM_ERRORS: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** pg and pg-pool throw these without a code; a closed pool of a stopping process counts as unreachable, too. */
const MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|timeout expired|Client has encountered a connection error|not queryable|Cannot use a pool after calling end/;

/** Returns whether a retry may succeed: PostgreSQL is unreachable, something took too long, or another transaction was in the way. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (connectionErrors.has(error)) return true;
  const code = readCode(error);
  if (typeof code !== 'string') return MESSAGES.test(error.message);
  return (
    UNREACHABLE.test(code) ||
    code === READ_ONLY ||
    TIMEOUTS.has(code) ||
    CONFLICTS.has(code) ||
    SYSTEM_ERRORS.has(code) ||
    MESSAGES.test(error.message)
  );
}

/** Returns whether the error or its cause means that PostgreSQL is unreachable, not busy or in conflict with another transaction. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.cause !== undefined && isUnreachable(error.cause)) return true;
  const code = readCode(error);
  if (!isTransient(error) || CONFLICTS.has(code) || TIMEOUTS.has(code)) return false;
  // Connections to other servers can be refused and reset, too; SQLSTATEs and the messages of pg are PostgreSQL's only.
  const isSystemError = typeof code === 'string' && !/^\d/.test(code);
  return !isSystemError || connectionErrors.has(error);
}

const connectionErrors = new WeakSet<Error>();

/** Notes that a connection of one of our pools could not be opened, or broke, because of this error. */
export function noteConnectionError(error: Error): void {
  connectionErrors.add(error);
}

/** Returns whether this transaction lost to another one: a deadlock, or a serialization failure. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(readCode(error));
}

/** Returns whether another transaction held a lock for too long. */
export function isLockTimeout(error: unknown): boolean {
  return readCode(error) === LOCK_TIMEOUT;
}

/** Returns whether other transactions were in the way: a conflict, or a lock that was held for too long. */
export function isContention(error: unknown): boolean {
  return isConflict(error) || isLockTimeout(error);
}

/** Returns whether one piece of work failed while PostgreSQL is there: contention, or a statement that took too long. */
export function isOfOneStatement(error: unknown): boolean {
  return isContention(error) || readCode(error) === STATEMENT_TIMEOUT;
}

/** Returns whether the server accepts no writes. */
export function isReadOnly(error: unknown): boolean {
  return readCode(error) === READ_ONLY;
}

/** Returns whether a statement failed because of a unique constraint. */
export function isTaken(error: unknown): boolean {
  return error instanceof Error && readCode(error) === UNIQUE_VIOLATION;
}

/** Returns whether another session changed the same object of the catalog, such as a role, at the same time. */
export function isChangedMeanwhile(error: unknown): boolean {
  return isTaken(error) || (error instanceof Error && readCode(error) === INTERNAL_ERROR);
}

/** Returns whether the role may not do this. */
export function isForbidden(error: unknown): boolean {
  return error instanceof Error && readCode(error) === INSUFFICIENT_PRIVILEGE;
}

interface Retries {
  /** attempts in all */
  maxTries: number;
  /** before the second attempt; doubles each time. 0: at once. Milliseconds. */
  firstPauseMs: number;
  /** which errors are retried; default: isContention */
  mayRetry?: (error: unknown) => boolean;
  /** called before each further attempt */
  onRetry?: () => unknown;
}

/** Runs work again while other transactions are in the way of it. Throws the last error. */
export function retryContention<T>(
  work: () => Promise<T>,
  { maxTries, firstPauseMs, mayRetry = isContention, onRetry }: Retries,
): Promise<T> {
  return pRetry(work, {
    retries: maxTries - 1,
    minTimeout: firstPauseMs,
    factor: firstPauseMs === 0 ? 1 : 2,
    shouldRetry: ({ error }) => mayRetry(error),
    onFailedAttempt: async ({ error, retriesLeft }) => {
      if (retriesLeft > 0 && mayRetry(error)) await onRetry?.();
    },
  });
}

function readCode(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code;
}
