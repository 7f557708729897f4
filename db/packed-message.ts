import { hash, webcrypto } from 'node:crypto';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import {
  constants,
  createZstdDecompress,
  zstdCompress,
  zstdCompressSync,
  zstdDecompress,
  zstdDecompressSync,
} from 'node:zlib';
import { createTurns } from '../core/shared/turns.ts';

// The bytes of a message lie in raw_message.packed as zstd where that is shorter, otherwise as they are: bytes that are shorter than
// size_bytes are zstd. sha256 and size_bytes are those of the message itself (docs/decisions/0137).

/** A message as its row has it. */
export interface PackedMessage {
  packed: Buffer;
  sha256: Buffer;
  /** of the message, bytes */
  sizeBytes: number;
}

/** Below this, zstd saves nothing worth its time. Bytes. */
const MIN_PACKED_BYTES = 256;
/**
 * Up to this size, messages are packed and unpacked at once, in 2 ms at most: another thread starts with fresh memory for each, which takes
 * as much time again for 256 KB and ten times as much for 4 KB. Bytes.
 */
const MAX_SYNC_BYTES = 262_144;
/** Up to this size, messages are read without waiting for a turn. Bytes. */
const MAX_TURNLESS_BYTES = 32_768;
/** Messages that are read and unpacked in turns at the same time: bytes of all. */
const UNPACKED_BYTES = 64_000_000;

/** Packs as fast as level 1, and unpacks small messages faster; higher levels make mail 1 or 2 % smaller and take twice as long. */
const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 } };

/** Output of that size or less is written in one piece, not in many of 16 KB that are joined. */
const MIN_PIECE_BYTES = 1_024;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);
const turns = createTurns(UNPACKED_BYTES);

/** Returns what raw_message.packed stores of a message. Small ones are packed at once, large ones in another thread. */
export async function packMessage(bytes: Buffer): Promise<Buffer> {
  if (bytes.length < MIN_PACKED_BYTES) return bytes;
  if (bytes.length <= MAX_SYNC_BYTES) return shorter(zstdCompressSync(bytes, inOnePiece(bytes.length)), bytes);
  return shorter(await compress(bytes, inOnePiece(bytes.length)), bytes);
}

function inOnePiece(sizeBytes: number) {
  return { ...LEVEL, chunkSize: MIN_PIECE_BYTES + sizeBytes };
}

function shorter(packed: Buffer, bytes: Buffer): Buffer {
  return packed.length < bytes.length ? packed : bytes;
}

/**
 * Runs work that reads a message of that size and unpacks it. Large ones wait for their turn before anything is read, in turns of the owners
 * (accounts), so that a process holds few of them at the same time, however many are requested.
 */
export async function inUnpackingTurn<T>(owner: string, sizeBytes: number, work: () => Promise<T>): Promise<T> {
  if (sizeBytes <= MAX_TURNLESS_BYTES) return work();
  const end = await turns.enter(owner, sizeBytes);
  try {
    return await work();
  } finally {
    end();
  }
}

/** Returns the message; null when it no longer matches its sha256. Never makes more bytes than the row says. */
export async function unpackMessage(packed: PackedMessage): Promise<Buffer | null> {
  if (packed.sizeBytes <= MAX_SYNC_BYTES) return unpackSmall(packed);
  const bytes = await unpack(packed);
  if (bytes?.length !== packed.sizeBytes) return null;
  const sha256 = await webcrypto.subtle.digest('SHA-256', bytes as Buffer<ArrayBuffer>);
  return packed.sha256.equals(new Uint8Array(sha256)) ? bytes : null;
}

/** Like unpackMessage, at once, for a small message. */
export function unpackSmall({ packed, sha256, sizeBytes }: PackedMessage): Buffer | null {
  try {
    const bytes =
      packed.length < sizeBytes
        ? zstdDecompressSync(packed, { maxOutputLength: sizeBytes, chunkSize: MIN_PIECE_BYTES + sizeBytes })
        : packed;
    return bytes.length === sizeBytes && hash('sha256', bytes, 'buffer').equals(sha256) ? bytes : null;
  } catch {
    return null;
  }
}

/**
 * Yields a message whose bytes come in pieces, so that memory never holds all of it. Throws when they are damaged zstd, and ends early when
 * they make more than the size: the caller compares the sha256.
 */
export async function* unpackInPieces(
  packed: Iterable<Buffer> | AsyncIterable<Buffer>,
  sizes: { packed: number; message: number },
): AsyncGenerator<Buffer, void> {
  const pieces: Iterable<Buffer> | AsyncIterable<Buffer> =
    sizes.packed < sizes.message ? decompressInPieces(packed) : packed;
  let left = sizes.message;
  for await (const piece of pieces) {
    left -= piece.length;
    if (left < 0) return;
    yield piece;
  }
}

/** An error of the source must end the reader, which pipe() alone does not do. */
function decompressInPieces(packed: Iterable<Buffer> | AsyncIterable<Buffer>): Readable {
  const source = Readable.from(packed);
  const target = createZstdDecompress();
  source.once('error', (error) => target.destroy(error));
  target.once('close', () => source.destroy());
  return source.pipe(target);
}

async function unpack({ packed, sizeBytes }: PackedMessage): Promise<Buffer | null> {
  if (packed.length >= sizeBytes) return packed;
  // Only a damaged row: its bytes are no zstd, or make more than it says.
  return decompress(packed, { maxOutputLength: sizeBytes, chunkSize: MIN_PIECE_BYTES + sizeBytes }).catch(() => null);
}
