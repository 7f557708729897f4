import { randomUUID } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import { BusUnavailable } from '../../schema/messages.ts';
import { CHUNK_BYTES, CHUNK_HEAD_BYTES, SUBJECT_PREFIX } from './nats-envelope.ts';

/** Bytes that one process gathers from streams at once; a stream that would exceed this is refused. */
const MAX_GATHERED_BYTES = 64_000_000;
/** After this many chunks the sender waits until the server has taken them. */
const CHUNKS_PER_FLUSH = 4;

/** Sends bytes in numbered chunks to the subject that the server of the question opened; stops when the asker gave up. */
export async function sendChunks(
  connection: NatsConnection,
  subject: string,
  bytes: Uint8Array,
  isAwaited: () => boolean,
): Promise<void> {
  const maxPayload = connection.info?.max_payload ?? CHUNK_BYTES;
  const size = Math.min(CHUNK_BYTES, maxPayload - CHUNK_HEAD_BYTES);
  for (let number = 0; number * size < bytes.byteLength; number++) {
    if (!isAwaited()) return;
    const part = bytes.subarray(number * size, (number + 1) * size);
    const chunk = Buffer.allocUnsafe(CHUNK_HEAD_BYTES + part.byteLength);
    chunk.writeUInt32BE(number, 0);
    chunk.set(part, CHUNK_HEAD_BYTES);
    connection.publish(subject, chunk);
    if ((number + 1) % CHUNKS_PER_FLUSH === 0) await connection.flush();
  }
}

export interface Gatherer {
  /**
   * Opens a subject and gathers `sizeBytes` bytes from it; `onOpen` gets the subject. Throws BusUnavailable when too much is being
   * gathered, a chunk is missing, or the time is up.
   */
  gather(
    connection: NatsConnection,
    sizeBytes: number,
    limitMs: number,
    onOpen: (subject: string) => void,
  ): Promise<Uint8Array>;
}

/** Bytes are gathered on subjects below `stream.ROLE`, so that a NATS server can keep roles apart. */
export function createGatherer(role: string): Gatherer {
  let gatheredBytes = 0;
  return {
    async gather(connection, sizeBytes, limitMs, onOpen) {
      if (gatheredBytes + sizeBytes > MAX_GATHERED_BYTES) throw new BusUnavailable('too many streams at once');
      gatheredBytes += sizeBytes;
      try {
        const subject = `${SUBJECT_PREFIX}stream.${role}.${randomUUID()}`;
        return await gatherOne(connection, subject, sizeBytes, limitMs, onOpen);
      } finally {
        gatheredBytes -= sizeBytes;
      }
    },
  };
}

function gatherOne(
  connection: NatsConnection,
  subject: string,
  sizeBytes: number,
  limitMs: number,
  onOpen: (subject: string) => void,
): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(sizeBytes);
  return new Promise((resolve, reject) => {
    let filled = 0;
    let next = 0;
    const end = (failure: string | null) => {
      clearTimeout(timer);
      subscription.unsubscribe();
      if (failure === null) resolve(bytes);
      else reject(new BusUnavailable(failure));
    };
    const timer = setTimeout(() => end('the bytes did not arrive in time'), limitMs);
    const subscription = connection.subscribe(subject, {
      callback: (error, message) => {
        if (error) return end(error.message);
        const chunk = Buffer.from(message.data.buffer, message.data.byteOffset, message.data.byteLength);
        if (chunk.byteLength <= CHUNK_HEAD_BYTES || chunk.readUInt32BE(0) !== next) return end('a chunk is missing');
        if (filled + chunk.byteLength - CHUNK_HEAD_BYTES > sizeBytes) return end('more bytes than announced');
        filled += chunk.copy(bytes, filled, CHUNK_HEAD_BYTES);
        next++;
        if (filled === sizeBytes) end(null);
      },
    });
    onOpen(subject);
  });
}
