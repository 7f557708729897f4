import { errorCodes, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** deadline on the clock of performance.now(), at which the request gets 503 */
    respondBy: number;
    /** ends the request before its handler begins; null: it has begun */
    arrivalTimer: NodeJS.Timeout | null;
  }
  interface FastifyContextConfig {
    /** time limit of a route that waits for other systems, from the last byte of the body to the response; milliseconds */
    respondWithinMs?: number;
  }
}

export interface TimesToRespond {
  /** time limit from the last byte of the body to the response; milliseconds */
  handlerMs: number;
  /** time to receive a large body; milliseconds */
  uploadMs: number;
  /** size above which a body is large; bytes */
  largeBytes: number;
  /** size of a body up to which its client has the usual time on every route: larger ones are watched as they arrive; bytes */
  smallBytes: number;
}

/** Bytes of a large body that extend the deadline by a millisecond. Parsing a batch of 92 MB took 8 to 10 s (2 busy cores, November 2026). */
export const BYTES_PER_MS = 4_000;

/**
 * Responds with 503 to requests that take too long: until the handler begins, and from then on. Routes with large bodies get extra time for slow
 * connections and for parsing. Call it before the routes are registered. Fastify has such a limit (`handlerTimeout`), which ends with the last
 * byte of the body and takes 30 to 40 µs of each request, for a signal that nothing uses.
 */
export function timeToRespond(
  app: FastifyInstance,
  { handlerMs, uploadMs, largeBytes, smallBytes }: TimesToRespond,
): void {
  app.decorateRequest('respondBy', 0);
  app.decorateRequest('arrivalTimer', null);
  app.addHook('onRequest', (request, reply, done) => {
    const { bodyLimit, config } = request.routeOptions;
    const isPatient =
      readBodySize(request, bodyLimit) > smallBytes && (bodyLimit > largeBytes || config.respondWithinMs !== undefined);
    const patientMs = () => uploadMs + (config.respondWithinMs ?? handlerMs) + Math.ceil(bodyLimit / BYTES_PER_MS);
    request.arrivalTimer = setTimeout(
      () => {
        // The rest of a slow body would keep the connection until the time limit of the whole request.
        if (!reply.sent) void reply.header('connection', 'close').send(new errorCodes.FST_ERR_HANDLER_TIMEOUT());
      },
      isPatient ? patientMs() : handlerMs,
    );
    // Of requests that never reach their handler.
    request.raw.once('close', () => endArrival(request));
    done();
  });
  app.addHook('onRoute', (route) => {
    const { bodyLimit = 0, handler } = route;
    const isLarge = bodyLimit > largeBytes;
    const usualMs = route.config?.respondWithinMs ?? handlerMs;
    route.handler = function (request, reply) {
      endArrival(request);
      const limitMs = usualMs + (isLarge ? readBodySize(request, bodyLimit) / BYTES_PER_MS : 0);
      request.respondBy = performance.now() + limitMs;
      return within(limitMs, reply, handler.call(this, request, reply));
    };
  });
}

function endArrival(request: FastifyRequest): void {
  clearTimeout(request.arrivalTimer ?? undefined);
  request.arrivalTimer = null;
}

/** Returns the size of the body, or the limit of the route if the size is unknown. */
function readBodySize({ headers }: FastifyRequest, bodyLimit: number): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : bodyLimit;
}

async function within<T>(milliseconds: number, reply: FastifyReply, work: T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const lateness = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      // A response that has started, such as a stream of events, has no deadline.
      if (!reply.sent && !reply.raw.headersSent) reject(new errorCodes.FST_ERR_HANDLER_TIMEOUT());
    }, milliseconds);
  });
  try {
    return await Promise.race([work, lateness]);
  } finally {
    clearTimeout(timer);
  }
}

/** The time at which a request gets 503, whatever is still running. */
export interface Deadline {
  /** rejects at the deadline */
  passed: Promise<never>;
  /** Moves the deadline to this many milliseconds from now. */
  moveTo: (milliseconds: number) => void;
  stop: () => void;
}

/** Starts a deadline of a request that can move, which fails as the time limit of a route does. */
export function startDeadline(milliseconds: number): Deadline {
  let timer: NodeJS.Timeout | undefined;
  let fail: (reason: Error) => void = () => undefined;
  const passed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  passed.catch(() => undefined);
  const moveTo = (limitMs: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => fail(new errorCodes.FST_ERR_HANDLER_TIMEOUT()), limitMs);
  };
  moveTo(milliseconds);
  return { passed, moveTo, stop: () => clearTimeout(timer) };
}
