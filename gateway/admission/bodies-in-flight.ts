import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UserError } from '../../core/shared/errors.ts';
import { createTurns, type Turns } from '../../core/shared/turns.ts';
import { gatherBody, UPLOAD_LIMITS, type UploadLimits } from '../http/gather-body.ts';
import { type ByteLimits, createByteLedger } from './byte-ledger.ts';

export interface BodyLimits extends ByteLimits {
  /** bytes beyond `perProcess` that only bodies of up to SMALL_BODY use */
  reserve: number;
  /** bytes of large bodies that are parsed and handled at the same time; the others wait, fairly between accounts */
  handled: number;
}

/** One batch of emails may have 100 MB (`/emails/batch`), and any other body 40 MB. Bytes. @limit */
export const BODY_LIMITS: BodyLimits = {
  perAccount: 100_000_000,
  perProcess: 100_000_000,
  reserve: 10_000_000,
  handled: 20_000_000,
};
/** A body up to this size goes straight to its parser, and uses the reserve. Bytes. */
export const SMALL_BODY = 65_536;
/** Bodies from this size on wait for their turn: as text, as JSON and as mail they take several times as much. Bytes. */
const LARGE_BODY = 1_000_000;
/** Seconds. */
const RETRY_AFTER_SECONDS = 1;
/** Seconds; a slow upload ends within a minute. */
const PROCESS_RETRY_AFTER_SECONDS = 5;
/** The reason of an error of a request whose body has no room now. */
const BODIES_IN_PROGRESS = 'BODIES_IN_PROGRESS';

/** Counts the request bodies of a gateway, over REST, GraphQL and MCP. */
export interface BodiesInFlight {
  /** Counts the body of a request until its response has ended. Returns a function that counts more of it, which throws without room. */
  open(
    owner: { workspaceId: string },
    reply: { once(event: 'close', listener: () => void): unknown },
  ): (bytes: number) => void;
  /** Returns the bytes in memory now: of an account, or of all. */
  count(workspaceId?: string): number;
  turns: Turns;
}

export function countBodiesInFlight(limits: BodyLimits = BODY_LIMITS): BodiesInFlight {
  const ledger = createByteLedger(limits);
  return {
    turns: createTurns(limits.handled),
    count: (workspaceId) => ledger.count(workspaceId),
    open({ workspaceId }, reply) {
      let counted = 0;
      reply.once('close', () => ledger.giveBack(workspaceId, counted));
      return (bytes) => {
        const result = ledger.take(workspaceId, bytes, counted + bytes <= SMALL_BODY ? limits.reserve : 0);
        if (result === 'account-full') throw accountFull(limits.perAccount);
        if (result === 'process-full') throw processFull();
        counted += bytes;
      };
    },
  };
}

/**
 * Keeps accounts from filling the memory with large requests. A body counts from its headers to the end of the response; a body of unknown
 * length counts as it arrives. A request beyond the limit gets 429 or 503 before its body is read. A large body waits in the form in which it
 * arrived until few others are handled. Register it after the admission hook.
 */
export function limitBodiesInFlight(
  app: FastifyInstance,
  bodies: BodiesInFlight,
  uploads: UploadLimits = UPLOAD_LIMITS,
): void {
  const endTurns = new WeakMap<FastifyRequest, () => void>();

  app.addHook('onRequest', async (request, reply) => {
    const bytes = declaredBytes(request);
    // Fastify refuses a body above the limit of the route with 413.
    if (bytes > 0 && bytes <= request.routeOptions.bodyLimit) bodies.open(request, reply.raw)(bytes);
  });
  app.addHook('preParsing', async (request, reply, payload) => {
    const isUnknown = request.headers['transfer-encoding'] !== undefined;
    if (!isUnknown && declaredBytes(request) <= SMALL_BODY) return payload;
    const count = isUnknown ? bodies.open(request, reply.raw) : () => undefined;
    return Readable.from(readInTurn(request, reply, { payload, count }), { objectMode: false });
  });
  // What the body was needed for is done, however long the client takes for the response.
  app.addHook('onSend', async (request) => endTurns.get(request)?.());

  async function* readInTurn(
    request: FastifyRequest,
    reply: FastifyReply,
    { payload, count }: { payload: NodeJS.ReadableStream; count: (bytes: number) => void },
  ): AsyncGenerator<Buffer, void> {
    const most = request.routeOptions.bodyLimit;
    const { pieces, bytes } = await gatherBody(payload, { most, count, uploads, reply });
    if (bytes >= LARGE_BODY) {
      const gone = new AbortController();
      const leave = () => gone.abort(new UserError('unavailable', 'The connection is closed'));
      reply.raw.once('close', leave);
      const end = await bodies.turns.enter(request.workspaceId, bytes, gone.signal);
      endTurns.set(request, end);
      reply.raw.once('close', end);
    }
    for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) yield piece;
  }
}

function declaredBytes({ headers }: FastifyRequest): number {
  return Number(headers['content-length'] ?? 0);
}

function accountFull(most: number): UserError {
  return new UserError(
    'rate_limited',
    `Too many concurrent request bodies. The limit is ${Math.floor(most / 1_000_000)} MB.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

function processFull(): UserError {
  return new UserError('unavailable', 'Too many large requests are in progress. Please try again later.', {
    retryAfterSeconds: PROCESS_RETRY_AFTER_SECONDS,
    reason: BODIES_IN_PROGRESS,
  });
}
