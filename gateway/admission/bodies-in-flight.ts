import { Transform } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UserError } from '../../core/shared/errors.ts';

/** Maximum size of all concurrent request bodies of one user; bytes. */
const MAX_BODIES_IN_FLIGHT = 200_000_000;
/** Seconds. */
const RETRY_AFTER_SECONDS = 1;

/** Counts the request bodies of a gateway, over REST and GraphQL. */
export interface BodiesInFlight {
  /** limit for each user; bytes */
  most: number;
  bytesOfUsers: Map<string, number>;
}

export function countBodiesInFlight(most: number = MAX_BODIES_IN_FLIGHT): BodiesInFlight {
  return { most, bytesOfUsers: new Map() };
}

/**
 * Keeps one user from filling the memory with concurrent large requests. A body counts from its headers to the end of the response; a body of
 * unknown length counts as it arrives. A request beyond the limit gets 429 before its body is read. Register it after the admission hook.
 */
export function limitBodiesInFlight(app: FastifyInstance, { most, bytesOfUsers }: BodiesInFlight): void {
  /** Returns a function that counts bytes of this request until the end of the response, and throws if the limit is exceeded. */
  function counterOf({ userId }: FastifyRequest, reply: FastifyReply): (bytes: number) => void {
    let counted = 0;
    reply.raw.once('close', () => {
      const left = (bytesOfUsers.get(userId) ?? 0) - counted;
      if (left > 0) bytesOfUsers.set(userId, left);
      else bytesOfUsers.delete(userId);
    });
    return (bytes) => {
      const sum = (bytesOfUsers.get(userId) ?? 0) + bytes;
      if (sum > most) throw tooMuch(most);
      bytesOfUsers.set(userId, sum);
      counted += bytes;
    };
  }

  app.addHook('onRequest', async (request, reply) => {
    const bytes = Number(request.headers['content-length'] ?? 0);
    if (bytes > 0) counterOf(request, reply)(bytes);
  });
  app.addHook('preParsing', async (request, reply, payload) => {
    if (request.headers['transfer-encoding'] === undefined) return payload;
    const count = counterOf(request, reply);
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        try {
          count(chunk.length);
          done(null, chunk);
        } catch (error) {
          done(error as Error);
        }
      },
    });
    payload.on('error', (error) => counted.destroy(error));
    return payload.pipe(counted);
  });
}

function tooMuch(most: number): UserError {
  return new UserError(
    'rate_limited',
    `Too many concurrent request bodies. The limit is ${Math.floor(most / 1_000_000)} MB.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
