/**
 * glibc's pools of memory. Its default is eight for each core, which keep more freed memory than they save time. Buffers from a size on are
 * mapped one by one, and returned to the system when they are freed; without this setting, the size grows up to 32 MB with the buffers that
 * are freed, and a process keeps the memory of its largest responses.
 */
export const ALLOCATION = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' };

/** Begins this process again with ALLOCATION in its environment, unless the environment has it. glibc reads it only at the beginning. */
export function beginWithAllocation(): void {
  const { env, execPath, execArgv, argv, channel } = process;
  if (env['MALLOC_MMAP_THRESHOLD_'] !== undefined || process.platform !== 'linux') return;
  // A channel to the parent would be lost, and old versions of Node cannot.
  if (channel !== undefined || typeof process.execve !== 'function') return;
  process.execve(execPath, [execPath, ...execArgv, ...argv.slice(1)], { ...ALLOCATION, ...env });
}
