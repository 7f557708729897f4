import { totalmem } from 'node:os';

const MIB = 1_048_576;

/** Returns the memory that this service may use: of its control group, or else of the machine. Bytes. */
export function machineMemoryBytes(): number {
  // 0 or more than there is: no limit.
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** PostgreSQL's own cache; the kernel caches the same files. MiB. */
const SHARED_BUFFERS = { least: 64, most: 256, part: 1 / 32 };

/** Returns `shared_buffers` for a machine with so much memory, which Postroom and the kernel need, too. */
export function chooseSharedBuffers(memoryBytes: number): string {
  const { least, most, part } = SHARED_BUFFERS;
  return `${Math.round(Math.min(most, Math.max(least, (memoryBytes * part) / MIB)))}MB`;
}

/** Below this much memory, young generations are small, and V8 collects garbage of its own accord when little is allocated. Bytes. */
const SMALL_MACHINE_BYTES = 2_048 * MIB;

/**
 * Returns the flags of Node for the processes of the service on a machine with so much memory. Where there is memory:
 * - The young generation is larger, which takes up to three times `--max-semi-space-size` MiB more, and less time to collect.
 * - Garbage waits for the next collection that is needed, or until the process is idle (release-memory.ts): V8's memory reducer collects
 *   between messages that come slowly.
 * - The old generation may grow to three times what lives in it. V8 starts a collection as soon as less room than a young generation is left,
 *   and without this less was left after most collections.
 */
export function chooseNodeFlags(memoryBytes: number): string[] {
  if (memoryBytes < SMALL_MACHINE_BYTES) return ['--max-semi-space-size=4'];
  return ['--max-semi-space-size=16', '--no-memory-reducer', '--heap-growing-percent=200'];
}
