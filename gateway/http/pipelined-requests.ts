import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Requests of one connection that wait for those before them. Programs that pipeline have a few dozen. */
export const MAX_PIPELINED = 100;
/** Requests behind the last of them. They get no response, and with more of them the connection is closed at once. */
export const MAX_DROPPED = 1_000;

interface Waiting {
  /** how the requests behind the one in progress begin */
  queue: (() => void)[];
  droppedCount: number;
}

/**
 * Handles the requests of a connection one after another, and others in between, however many a client sends before it has read a response
 * (RFC 9112 §9.3.2): thousands fit into one packet, and would all begin at once. Where more than MAX_PIPELINED wait, the connection is closed
 * behind the last of these, and the client may send the others again. Call it before all other hooks, so that time limits begin with the turn.
 */
export function handleInOrder(app: FastifyInstance): void {
  /** by connection with a request in progress */
  const connections = new WeakMap<Socket, Waiting>();
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    const begin = (): void => {
      reply.raw.once('close', () => endTurn(socket));
      done();
    };
    const waiting = connections.get(socket);
    if (waiting === undefined) {
      connections.set(socket, { queue: [], droppedCount: 0 });
      begin();
    } else if (waiting.queue.length < MAX_PIPELINED && waiting.droppedCount === 0) waiting.queue.push(begin);
    else if (++waiting.droppedCount > MAX_DROPPED) socket.destroy();
  });

  function endTurn(socket: Socket): void {
    const waiting = connections.get(socket);
    const next = socket.destroyed ? undefined : waiting?.queue.shift();
    if (next !== undefined) setImmediate(next);
    else {
      connections.delete(socket);
      if ((waiting?.droppedCount ?? 0) > 0) socket.destroySoon();
    }
  }
}
