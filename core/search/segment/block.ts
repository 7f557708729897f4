import { crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { DamagedSegment } from './bytes.ts';

/** Maximum size of a block before compression; bytes. */
const MAX_BLOCK_BYTES = 2 * 1024 * 1024;
const CHECKSUM_BYTES = 4;
/**
 * Bytes that are reserved for an opened block: a little more than most have. By default, a block gets 16 KiB twice, and is put together in a third
 * buffer, which searches that read many blocks leave behind as garbage.
 */
const OPENED_BYTES = 18 * 1024;

/** Returns the bytes to store: a checksum of what follows, and the block compressed. */
export function sealBlock(block: Buffer): Buffer {
  const compressed = zstdCompressSync(block);
  const sealed = Buffer.allocUnsafe(CHECKSUM_BYTES + compressed.length);
  sealed.writeUInt32LE(crc32(compressed));
  sealed.set(compressed, CHECKSUM_BYTES);
  return sealed;
}

/** Returns the block that was sealed. Throws DamagedSegment. */
export function openBlock(sealed: Uint8Array): Buffer {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const compressed = bytes.subarray(CHECKSUM_BYTES);
  if (compressed.length === 0 || bytes.readUInt32LE() !== crc32(compressed))
    throw new DamagedSegment('a block does not have its checksum');
  try {
    return zstdDecompressSync(compressed, { maxOutputLength: MAX_BLOCK_BYTES, chunkSize: OPENED_BYTES });
  } catch (error) {
    throw new DamagedSegment('a block cannot be decompressed', { cause: error });
  }
}
