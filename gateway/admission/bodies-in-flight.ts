import { Transform } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UserError } from '../../core/shared/errors.ts';

/** Bytes of request bodies of one user that are taken in at the same time. */
const MAX_BODIES_IN_FLIGHT = 200_000_000;
/** Seconds. */
const RETRY_AFTER_SECONDS = 1;

/** What is under way: one for all interfaces of a gateway. */
export interface BodiesInFlight {
  /** bytes of one user */
  most: number;
  bytesOfUsers: Map<string, number>;
}

export function countBodiesInFlight(most: number = MAX_BODIES_IN_FLIGHT): BodiesInFlight {
  return { most, bytesOfUsers: new Map() };
}

/**
 * Keeps one user from filling the memory with large requests at once: a body counts from its announcement to the end of the answer, one
 * of unknown length as it comes in. What would go beyond is answered 429 before it is read. To be registered behind the admission.
 */
export function limitBodiesInFlight(app: FastifyInstance, { most, bytesOfUsers }: BodiesInFlight): void {
  /** Answers what counts bytes of this request, until its answer has ended; that throws when they would be too many. */
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
    `Too many request bodies at once. At most ${Math.floor(most / 1_000_000)} MB may be under way.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
