import { notify } from '../../parts/notify.ts';
import type { AuthOutcome } from '../sign-in/auth-calls.ts';

/**
 * Shows a notification with the outcome of a call: `done` or the error. The page itself handles an ended session. Returns whether the call
 * succeeded.
 */
export function tellOutcome({ problem }: AuthOutcome<unknown>, done: string): boolean {
  if (problem?.status === 401) return false;
  notify(
    problem === null
      ? { message: done, color: 'green' }
      : { title: 'The change was not saved', message: problem.message, color: 'red' },
  );
  return problem === null;
}
