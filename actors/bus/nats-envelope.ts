import { z } from 'zod';
import { failure } from './transport.ts';

/*
 * One NATS message: u32 length of the head (big-endian), the head as JSON, raw bytes. A question whose bytes do not fit
 * announces their count instead (`streamedBytes`); its server opens a subject, says so on the reply subject (`stream`), and the
 * asker sends them there in numbered chunks: u32 number from 0, bytes.
 */

/** Prefix of all our subjects. */
export const SUBJECT_PREFIX = 'postroom.';
/** Bytes in one chunk of a streamed message. */
export const CHUNK_BYTES = 524_288;
export const CHUNK_HEAD_BYTES = 4;

export const questionHead = z.object({
  request: z.unknown(),
  limitMs: z.number(),
  /** names the asking process */
  asker: z.string(),
  /** taken before the question waits for room, from a monotonic clock of the asker; see `createQuestionAges` */
  askedAtMs: z.number(),
  /** null when the bytes are in this message */
  streamedBytes: z.number().int().positive().nullable(),
});
export type QuestionHead = z.infer<typeof questionHead>;

export const replyHead = z.discriminatedUnion('op', [
  z.object({ op: z.literal('reply'), reply: z.unknown() }),
  z.object({ op: z.literal('failure'), failure }),
  z.object({ op: z.literal('stream'), subject: z.string().startsWith(SUBJECT_PREFIX) }),
]);
export type ReplyHead = z.infer<typeof replyHead>;

const LENGTH_BYTES = 4;

/** Builds the message of a head and bytes, copied once into one buffer. */
export function packEnvelope(head: Buffer, bytes: Uint8Array | null): Buffer {
  const packed = Buffer.allocUnsafe(envelopeBytes(head, bytes?.byteLength ?? 0));
  packed.writeUInt32BE(head.byteLength, 0);
  head.copy(packed, LENGTH_BYTES);
  if (bytes) packed.set(bytes, LENGTH_BYTES + head.byteLength);
  return packed;
}

export function envelopeBytes(head: Buffer, sizeBytes: number): number {
  return LENGTH_BYTES + head.byteLength + sizeBytes;
}

/** Splits a message; `bytes` is a view of it. Returns null when it does not have this form. */
export function unpackEnvelope(data: Uint8Array): { head: unknown; bytes: Uint8Array } | null {
  const message = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (message.byteLength < LENGTH_BYTES) return null;
  const end = LENGTH_BYTES + message.readUInt32BE(0);
  if (end > message.byteLength) return null;
  const head = parseJson(message.toString('utf8', LENGTH_BYTES, end));
  return head === undefined ? null : { head, bytes: message.subarray(end) };
}

/** Parses a JSON text; undefined when it is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
