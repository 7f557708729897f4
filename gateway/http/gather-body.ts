import { errorCodes, type FastifyReply } from 'fastify';

export interface UploadLimits {
  /** time in which a client must send `leastBytes` of its body; milliseconds */
  windowMs: number;
  leastBytes: number;
}

/** A client that sends less than 6.4 KB/s for 10 s keeps a large body in memory that others need room for. */
export const UPLOAD_LIMITS: UploadLimits = { windowMs: 10_000, leastBytes: 65_536 };

/** Bytes of the smallest and of the largest piece. Each is as large as all before it, so that small bodies take little memory. */
const MIN_PIECE = 4_096;
const MAX_PIECE = 262_144;

export interface GatherOptions {
  /** the largest body of the route; bytes */
  most: number;
  /** Called with the size of what arrives. Throws to refuse the rest of the body. */
  count: (bytes: number) => void;
  uploads: UploadLimits;
  reply: FastifyReply;
}

export interface GatheredBody {
  pieces: Buffer[];
  bytes: number;
}

/**
 * Reads a body into few pieces. Chunks of a single byte each take some hundred bytes of memory, and a client decides how long they are.
 * Rejects with 413 above `most`, with 408 when the client is too slow, and with what `count` throws; the rest of the body is then discarded.
 */
export function gatherBody(
  payload: NodeJS.ReadableStream,
  { most, count, uploads, reply }: GatherOptions,
): Promise<GatheredBody> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let piece = Buffer.alloc(0);
    let used = 0;
    let bytes = 0;
    let seen = 0;

    const timer = setInterval(() => {
      if (bytes - seen < uploads.leastBytes) refuse(tooSlow());
      seen = bytes;
    }, uploads.windowMs).unref();

    function add(chunk: Buffer): void {
      for (let at = 0; at < chunk.length; ) {
        if (used === piece.length) {
          if (used > 0) pieces.push(piece);
          piece = Buffer.allocUnsafeSlow(Math.min(Math.max(bytes, MIN_PIECE), MAX_PIECE));
          used = 0;
        }
        const copied = chunk.copy(piece, used, at);
        used += copied;
        at += copied;
      }
    }

    function onData(given: Buffer | string): void {
      const chunk = typeof given === 'string' ? Buffer.from(given) : given;
      bytes += chunk.length;
      try {
        if (bytes > most) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
        count(chunk.length);
      } catch (error) {
        return refuse(error as Error);
      }
      add(chunk);
    }

    function onEnd(): void {
      stop();
      if (used > 0) pieces.push(piece.subarray(0, used));
      resolve({ pieces, bytes });
    }

    function refuse(error: Error): void {
      stop();
      // The connection carries no other request, because of the rest of the body.
      reply.header('connection', 'close');
      payload.resume();
      reject(error);
    }

    function onError(error: Error): void {
      stop();
      reject(error);
    }

    function stop(): void {
      clearInterval(timer);
      payload.off('data', onData).off('end', onEnd).off('error', onError);
      payload.on('error', () => undefined);
    }

    payload.on('data', onData).on('end', onEnd).on('error', onError);
  });
}

function tooSlow(): Error {
  return Object.assign(new Error('The request body arrives too slowly'), { statusCode: 408 });
}
