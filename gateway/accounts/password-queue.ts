import { UserError } from '../../core/shared/errors.ts';
import { createTurns } from '../../core/shared/turns.ts';

export interface PasswordQueueLimits {
  /** passwords that are hashed at the same time */
  running: number;
  /** requests that wait for their turn */
  waiting: number;
}

/** A hash takes 0.1 s of a thread that the process also needs for DNS, files and compression, and 16 MB. */
export const PASSWORD_QUEUE: PasswordQueueLimits = { running: 2, waiting: 50 };
/** Seconds. */
const RETRY_AFTER_SECONDS = 5;

/** Runs requests that hash a password. */
export interface PasswordQueue {
  /** Runs work when its turn comes; clients take turns. Throws unavailable when too many wait. */
  run<T>(client: string, work: () => Promise<T>): Promise<T>;
}

export function createPasswordQueue({ running, waiting }: PasswordQueueLimits = PASSWORD_QUEUE): PasswordQueue {
  const turns = createTurns(running);
  let open = 0;
  return {
    async run(client, work) {
      if (open >= running + waiting)
        throw new UserError('unavailable', 'Too many sign-ins are in progress. Please try again later.', {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
          reason: 'SIGN_INS_IN_PROGRESS',
        });
      open++;
      try {
        return await turns.run(client, work);
      } finally {
        open--;
      }
    },
  };
}
