import { hash, webcrypto } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdCompressSync, zstdDecompress, zstdDecompressSync } from 'node:zlib';
import { createTurns } from '../core/shared/turns.ts';

// The bytes of a message lie in raw_message.octets as zstd where that is shorter, otherwise as they are: octets that are shorter than
// size_octets are zstd. sha256 and size_octets are those of the message itself (docs/decisions/0137).

/** A message as its row has it. */
export interface PackedMessage {
  octets: Buffer;
  sha256: Buffer;
  /** of the message, bytes */
  sizeBytes: number;
}

/** Below this, zstd saves nothing worth its time. Bytes. */
const MIN_PACKED_BYTES = 256;
/** Up to this size, the work takes less than handing it to another thread. Bytes. */
const MAX_SYNC_BYTES = 32_768;
/** Messages that are unpacked at the same time: bytes of all; a larger one is unpacked alone. */
const UNPACKED_BYTES = 64_000_000;

/** Packs as fast as level 1, and unpacks small messages faster; higher levels make mail 1 or 2 % smaller and take twice as long. */
const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 } };

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);
const turns = createTurns(UNPACKED_BYTES);

/** Returns what raw_message.octets stores of a message. Small ones are packed at once, large ones in another thread. */
export async function packMessage(bytes: Buffer): Promise<Buffer> {
  if (bytes.length < MIN_PACKED_BYTES) return bytes;
  if (bytes.length <= MAX_SYNC_BYTES) return shorter(zstdCompressSync(bytes, LEVEL), bytes);
  return shorter(await compress(bytes, LEVEL), bytes);
}

function shorter(packed: Buffer, bytes: Buffer): Buffer {
  return packed.length < bytes.length ? packed : bytes;
}

/**
 * Returns the message; null when it no longer matches its sha256. Never makes more bytes than the row says. `owner`: the account that waits
 * with others for its turn at large messages.
 */
export async function unpackMessage(packed: PackedMessage, owner = ''): Promise<Buffer | null> {
  if (packed.sizeBytes <= MAX_SYNC_BYTES) return unpackSmall(packed);
  const end = await turns.enter(owner, packed.sizeBytes);
  try {
    const bytes = await unpack(packed);
    if (bytes?.length !== packed.sizeBytes) return null;
    const sha256 = new Uint8Array(await webcrypto.subtle.digest('SHA-256', new Uint8Array(bytes)));
    return packed.sha256.equals(sha256) ? bytes : null;
  } finally {
    end();
  }
}

/** Like unpackMessage, at once, for a message of at most a few kilobytes. */
export function unpackSmall({ octets, sha256, sizeBytes }: PackedMessage): Buffer | null {
  try {
    const bytes = octets.length < sizeBytes ? zstdDecompressSync(octets, { maxOutputLength: sizeBytes }) : octets;
    return bytes.length === sizeBytes && hash('sha256', bytes, 'buffer').equals(sha256) ? bytes : null;
  } catch {
    return null;
  }
}

async function unpack({ octets, sizeBytes }: PackedMessage): Promise<Buffer | null> {
  if (octets.length >= sizeBytes) return octets;
  // Only a damaged row: its bytes are no zstd, or make more than it says.
  return decompress(octets, { maxOutputLength: sizeBytes }).catch(() => null);
}
