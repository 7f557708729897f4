import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { takeSlices } from '../../core/shared/free-bytes.ts';
import { streamChunks } from '../http/json-stream.ts';
import { streamResponse } from '../http/response-serializer.ts';
import { disconnectSlowReader, READER_LIMITS, type ReaderLimits } from '../http/slow-readers.ts';
import type { RequestRoom, ResponseBytes } from './response-bytes.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** memory for the response; null before the handler */
    room: RequestRoom | null;
  }
}

/** A response up to this size goes to the buffers of the connection at once, and is not counted. Bytes. */
const SMALL_RESPONSE = 65_536;
/** What is loaded for a response above which it is sent as a stream, so that its JSON is never in memory as a whole. Bytes. */
export const STREAMED_RESPONSE = 262_144;
/** Bytes that are written to the connection at once. */
const SLICE_BYTES = 65_536;

const unshared = new WeakSet<Buffer>();

/** Lets the memory of a payload be given back once it is sent: nothing else reads it. Returns the payload. */
export function giveAway(payload: Buffer): Buffer {
  unshared.add(payload);
  return payload;
}

/**
 * Counts the bytes of every response until the connection has taken them, and disconnects clients that do not read. A response without room
 * is refused with 503: where its size is known before it is loaded, by the operation, and otherwise before it is sent. Call it before the
 * routes are registered, and after the request log, which keeps the beginning of bodies.
 */
export function limitResponses(
  app: FastifyInstance,
  bytes: ResponseBytes,
  readers: ReaderLimits = READER_LIMITS,
): void {
  app.decorateRequest('room', null);

  app.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = function (request, reply) {
      const room = bytes.open(request, reply.raw);
      request.room = room;
      return room.run(() => handler.call(this, request, reply) as unknown);
    };
  });

  app.addHook('preSerialization', (request, reply, payload, done) => {
    // Its room was given back when the connection closed, so the size of what was loaded is not known any more.
    if (isGone(reply)) reply.serializer(() => '');
    else if (request.room !== null && request.room.bytes >= STREAMED_RESPONSE && request.method !== 'HEAD')
      reply.serializer((data) => streamResponse(reply, data) as never);
    done(null, payload);
  });

  app.addHook('onSend', (request, reply, payload, done) => {
    if (payload == null) return done(null, payload);
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) {
      begin(request, reply);
      return done(null, payload);
    }
    if (payload.length <= SMALL_RESPONSE || request.method === 'HEAD') return done(null, payload);
    try {
      done(null, sendSlices(request, reply, payload));
    } catch (error) {
      // They describe what is not sent.
      for (const name of ['content-disposition', 'content-length', 'cache-control']) reply.removeHeader(name);
      done(error as Error);
    }
  });

  /** The response begins, and lasts as long as its client takes for it. */
  function begin({ raw }: FastifyRequest, reply: FastifyReply): void {
    disconnectSlowReader(reply.raw, readers);
    // Fastify's limit of the handler would cut a stream; it ends with the request, which without a body is never read to its end.
    if (!raw.readableEnded) raw.resume();
  }

  function sendSlices(request: FastifyRequest, reply: FastifyReply, payload: string | Buffer): Readable {
    const body = typeof payload === 'string' ? Buffer.from(payload) : payload;
    const room = request.room ?? bytes.open(request, reply.raw);
    // Replaces what was loaded for it, which is garbage by now.
    room.resize(body.length);
    reply.header('content-length', body.length);
    begin(request, reply);
    return streamChunks(unshared.has(body) ? takeSlices(body, SLICE_BYTES) : listSlices(body), request.workspaceId);
  }
}

function isGone({ raw }: FastifyReply): boolean {
  return raw.closed || raw.destroyed;
}

function* listSlices(body: Buffer): Generator<Buffer, void> {
  for (let at = 0; at < body.length; at += SLICE_BYTES) yield body.subarray(at, at + SLICE_BYTES);
}
