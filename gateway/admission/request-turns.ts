import type { FastifyInstance } from 'fastify';
import { createTurns } from '../../core/shared/turns.ts';

/** Requests whose handler begins in the same round of the event loop. */
const BEGIN_AT_ONCE = 2;

/**
 * Lets accounts take turns at beginning requests. However many requests of one account arrive at once, the first one of another account waits
 * for those that begin in the same round of the event loop, and not for all that came before it: what they do next, they do at the same time.
 */
export function beginInTurns(app: FastifyInstance): void {
  const turns = createTurns(BEGIN_AT_ONCE);
  // Runs after admission, which uses onRequest hooks.
  app.addHook('preHandler', async ({ userId }) => {
    if (userId === '') return;
    const end = await turns.enter(userId, 1);
    // The next turn begins in the next round, when the handler of this request has begun.
    end();
  });
}
