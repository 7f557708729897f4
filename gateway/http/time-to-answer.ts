import { errorCodes, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** on performance.now(): when it is answered 503, whatever is still under way */
    answerBy: number;
  }
  interface FastifyContextConfig {
    /** of a route that waits for others: from the last byte of the body to the answer, instead of the usual; milliseconds */
    answerWithinMs?: number;
  }
}

export interface TimesToAnswer {
  /** from the last byte of the body to the answer; milliseconds */
  handlerMs: number;
  /** that a large body may take to come in; milliseconds */
  uploadMs: number;
  /** bytes of a body that counts as large, and above */
  largeBytes: number;
}

/** Large bodies take their time to be read, too: so many bytes add a millisecond. A batch of 92 MB took 8 to 10 s (2 busy cores, November 2026). */
export const BYTES_PER_MS = 4_000;

/**
 * Answers 503 to requests whose work takes too long. Fastify's own limit does half of it: it counts the time in which a body comes in, and
 * ends when the body is there (seen with Fastify 5.12 over a socket). So each handler has a clock of its own, and routes that take large
 * bodies give them time to come, over slow lines, and to be read. To be called before the routes are registered.
 */
export function timeToAnswer(app: FastifyInstance, { handlerMs, uploadMs, largeBytes }: TimesToAnswer): void {
  app.decorateRequest('answerBy', 0);
  app.addHook('onRoute', (route) => {
    const { bodyLimit = 0, handler } = route;
    const isLarge = bodyLimit > largeBytes;
    const { answerWithinMs } = route.config ?? {};
    const usualMs = answerWithinMs ?? handlerMs;
    if (isLarge || answerWithinMs !== undefined)
      route.handlerTimeout = uploadMs + usualMs + Math.ceil(bodyLimit / BYTES_PER_MS);
    route.handler = function (request, reply) {
      const limitMs = usualMs + (isLarge ? bytesOf(request, bodyLimit) / BYTES_PER_MS : 0);
      request.answerBy = performance.now() + limitMs;
      return within(limitMs, reply, handler.call(this, request, reply));
    };
  });
}

/** A body of unknown length counts as the longest. */
function bytesOf({ headers }: FastifyRequest, bodyLimit: number): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : bodyLimit;
}

async function within<T>(milliseconds: number, reply: FastifyReply, work: T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const lateness = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      // An answer that is on its way, as a stream of events, takes the time that it takes.
      if (!reply.sent && !reply.raw.headersSent) reject(new errorCodes.FST_ERR_HANDLER_TIMEOUT());
    }, milliseconds);
  });
  try {
    return await Promise.race([work, lateness]);
  } finally {
    clearTimeout(timer);
  }
}
