import { chooseNodeFlags, machineMemoryBytes } from './machine-memory.ts';

/**
 * glibc's pools of memory. Its default is eight for each core, which keep more freed memory than they save time. Buffers from a size on are
 * mapped one by one, and returned to the system when they are freed; without this setting, the size grows up to 32 MB with the buffers that
 * are freed, and a process keeps the memory of its largest responses.
 */
export const ALLOCATION = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' };

/** The flag of chooseNodeFlags that it always has. */
const YOUNG_GENERATION = '--max-semi-space-size';

/**
 * Begins this process again with ALLOCATION in its environment and the flags of chooseNodeFlags, unless it has them. glibc and V8 read them only
 * at the beginning. V8's own choice for young objects takes up to 130 MB.
 */
export function beginWithAllocation(): void {
  const { env, execPath, execArgv, argv, channel } = process;
  const hasAllocation = env['MALLOC_MMAP_THRESHOLD_'] !== undefined;
  const hasFlags = [...execArgv, env['NODE_OPTIONS'] ?? ''].some((flag) => flag.includes(YOUNG_GENERATION));
  if ((hasAllocation && hasFlags) || process.platform !== 'linux') return;
  // A channel to the parent would be lost, and old versions of Node cannot.
  if (channel !== undefined || typeof process.execve !== 'function') return;
  const flags = hasFlags ? [] : chooseNodeFlags(machineMemoryBytes());
  process.execve(execPath, [execPath, ...flags, ...execArgv, ...argv.slice(1)], {
    ...(hasAllocation ? {} : ALLOCATION),
    ...env,
  });
}
