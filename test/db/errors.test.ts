import { expect, test } from 'vitest';
import {
  isConflict,
  isContention,
  isForbidden,
  isLockTimeout,
  isOfOneStatement,
  isReadOnly,
  isTaken,
  isTransient,
  isUnreachable,
  noteConnectionError,
  retryContention,
} from '../../db/errors.ts';

const failed = (code?: string, message = 'failed') =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

test.each([
  ['40001', 'a serialization failure', [isTransient, isConflict, isContention, isOfOneStatement]],
  ['40P01', 'a deadlock', [isTransient, isConflict, isContention, isOfOneStatement]],
  ['55P03', 'a lock timeout', [isTransient, isLockTimeout, isContention, isOfOneStatement]],
  ['57014', 'a statement timeout', [isTransient, isOfOneStatement]],
  ['25P03', 'an idle transaction', [isTransient]],
  ['25006', 'a read-only server', [isTransient, isUnreachable, isReadOnly]],
  ['57P01', 'a shutdown', [isTransient, isUnreachable]],
  ['08006', 'a broken connection', [isTransient, isUnreachable]],
  ['53300', 'too many connections', [isTransient, isUnreachable]],
  ['23505', 'a unique violation', [isTaken]],
  ['42501', 'a missing privilege', [isForbidden]],
  ['22P02', 'a wrong value', []],
])('SQLSTATE %s is %s', (code, _what, meanings) => {
  const all = [
    isTransient,
    isUnreachable,
    isConflict,
    isLockTimeout,
    isContention,
    isOfOneStatement,
    isReadOnly,
    isTaken,
    isForbidden,
  ];
  expect(all.filter((means) => means(failed(code)))).toEqual(
    all.filter((each) => (meanings as unknown[]).includes(each)),
  );
});

test('a refused connection is an unreachable PostgreSQL only when it is of one of our pools, also as a cause', () => {
  const refused = failed('ECONNREFUSED');
  expect([isTransient(refused), isUnreachable(refused)]).toEqual([true, false]);
  noteConnectionError(refused);
  expect(isUnreachable(refused)).toBe(true);
  expect(isUnreachable(new Error('the request failed', { cause: refused }))).toBe(true);
});

test('errors of pg without a code are recognized, other errors and values are not', () => {
  expect(isTransient(failed(undefined, 'Connection terminated unexpectedly'))).toBe(true);
  for (const other of [failed(), null, undefined, '40001', { code: '08006' }]) expect(isTransient(other)).toBe(false);
});

test('contention is retried until it ends, and other errors are not', async () => {
  let tries = 0;
  const settle = (errors: readonly unknown[]) => async () => {
    const error = errors[tries++];
    if (error !== undefined) throw error;
    return 'done';
  };
  const retries = { maxTries: 3, firstPauseMs: 0 };
  await expect(retryContention(settle([failed('40P01'), failed('55P03')]), retries)).resolves.toBe('done');
  expect(tries).toBe(3);

  tries = 0;
  const wrong = failed('22P02');
  await expect(retryContention(settle([wrong]), retries)).rejects.toBe(wrong);
  expect(tries).toBe(1);

  tries = 0;
  let retried = 0;
  const lost = failed('40001');
  const onRetry = () => retried++;
  await expect(retryContention(settle([lost, lost, lost, lost]), { ...retries, onRetry })).rejects.toBe(lost);
  expect([tries, retried]).toEqual([3, 2]);
});
