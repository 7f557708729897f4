import { once } from 'node:events';
import { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** Has every answer, from the moment that the process is about to end, tell its client to connect anew: elsewhere. */
export function closeConnectionsWhenLeaving(app: FastifyInstance, isLeaving: () => boolean): void {
  app.addHook('onSend', async (_request, reply) => {
    if (isLeaving()) reply.header('connection', 'close');
  });
}

/**
 * Takes no more connections and ends streams. Connections that are kept alive live on for a while: a request may be on its way on them, and
 * is answered; that it was the last one is told with the answer. Resolves when all are gone, or after `quietMs`.
 */
export async function turnAway(app: FastifyInstance, quietMs: number): Promise<void> {
  const allGone = once(app.server, 'close');
  // That of http.Server would close idle connections, too.
  Server.prototype.close.call(app.server);
  await Promise.all([app.events.close(), Promise.race([allGone, sleep(quietMs)])]);
}
