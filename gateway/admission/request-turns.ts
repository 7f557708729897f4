import type { FastifyInstance } from 'fastify';
import { createTurns } from '../../core/shared/turns.ts';

/** Rounds of the event loop in which connections that wait are accepted before the next request begins. */
const ACCEPT_ROUNDS = 4;

/**
 * Lets accounts take turns at beginning requests, one in a round of the event loop. However many requests of one account arrive at once, the
 * first one of another account waits for few of them.
 *
 * Connections come first, because a request that the system holds in its queue of new connections has no account yet, and Node accepts one
 * connection in a round: if each round began and ended as many requests, a client that connects again for each of 100 requests would keep that
 * queue full, and everyone else behind 100 rounds of its work. As long as connections arrive, a request begins in every fourth round.
 */
export function beginInTurns(app: FastifyInstance): void {
  const turns = createTurns();
  let accepted = 0;
  let isArriving = false;
  app.server.on('connection', () => {
    accepted++;
    if (isArriving) return;
    isArriving = true;
    setImmediate(() => {
      isArriving = false;
    });
  });

  async function acceptConnections(): Promise<void> {
    for (let round = 0; round < ACCEPT_ROUNDS && isArriving; round++) {
      const before = accepted;
      await new Promise((resolve) => setImmediate(resolve));
      if (accepted === before) return;
    }
  }

  // Runs after admission, which uses onRequest hooks.
  app.addHook('preHandler', async ({ workspaceId }) => {
    if (workspaceId === '') return;
    const end = await turns.enter(workspaceId, 1);
    await acceptConnections();
    // The next turn begins in the next round, when the handler of this request has begun.
    end();
  });
}
