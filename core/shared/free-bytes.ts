/** Smaller memory is left to the garbage collector; Node shares pools of it between buffers. */
const LEAST_BYTES = 262_144;

/**
 * Gives the memory of bytes back at once: the garbage collector would keep it, and that of those after it, for a while. For memory that nothing
 * else reads, and no write to a socket or file is in progress with. The bytes, and all views of their memory, are empty afterwards.
 */
export function freeBytes({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached && buffer.byteLength >= LEAST_BYTES) buffer.transfer(0);
}

/** Yields copies of bytes in slices of that size, and gives their memory back when all are taken, or no more are. */
export function* takeSlices(bytes: Uint8Array, sliceBytes: number): Generator<Buffer, void> {
  try {
    for (let at = 0; at < bytes.length; at += sliceBytes) yield Buffer.from(bytes.subarray(at, at + sliceBytes));
  } finally {
    freeBytes(bytes);
  }
}
