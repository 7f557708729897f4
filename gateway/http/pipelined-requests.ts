import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Requests of one connection that wait for those before them. Programs that pipeline have a few dozen. */
export const MAX_PIPELINED = 100;

/**
 * Handles the requests of a connection one after another, and others in between, however many a client sends before it has read a response
 * (RFC 9112 §9.3.2): thousands fit into one packet, and would all begin at once. A connection with more than MAX_PIPELINED is closed. Call it
 * before all other hooks, so that time limits begin with the turn.
 */
export function handleInOrder(app: FastifyInstance): void {
  /** by connection with a request in progress: how those behind it begin */
  const waiting = new WeakMap<Socket, (() => void)[]>();
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    const begin = (): void => {
      reply.raw.once('close', () => {
        const next = socket.destroyed ? undefined : waiting.get(socket)?.shift();
        if (next === undefined) waiting.delete(socket);
        else setImmediate(next);
      });
      done();
    };
    const queue = waiting.get(socket);
    if (queue === undefined) {
      waiting.set(socket, []);
      begin();
    } else if (queue.length < MAX_PIPELINED) queue.push(begin);
    else socket.destroy();
  });
}
