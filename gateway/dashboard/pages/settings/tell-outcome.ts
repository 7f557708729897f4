import { notify } from '../../parts/notify.ts';
import type { AuthOutcome } from '../sign-in/auth-calls.ts';

/** Tells by a notice what came of a call: `done`, or why not; of an ended session the page tells by itself. Answers whether it was done. */
export function tellOutcome({ problem }: AuthOutcome<unknown>, done: string): boolean {
  if (problem?.status === 401) return false;
  notify(
    problem === null
      ? { message: done, color: 'green' }
      : { title: 'The change was not saved', message: problem.message, color: 'red' },
  );
  return problem === null;
}
