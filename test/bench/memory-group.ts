import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A control group that limits the memory of the processes in it, page cache and kernel memory included. */
export interface MemoryGroup {
  /** where a process writes its number to join */
  joinFile: string;
  /** highest use so far; bytes, with page cache that the kernel could drop */
  peakBytes(): number;
  /** processes that the kernel killed because the limit was reached */
  kills(): number;
  remove(): void;
}

const ROOT = '/sys/fs/cgroup';

/** Creates a group with that limit, and without swap: of version 2, or else of version 1. Null where this user cannot. */
export function createMemoryGroup(limitBytes: number): MemoryGroup | null {
  const isSecond = existsSync(path.join(ROOT, 'cgroup.controllers'));
  const parent = isSecond ? ROOT : path.join(ROOT, 'memory');
  const folder = path.join(parent, `postroom-bench-${process.pid}`);
  const read = (file: string) => readFileSync(path.join(folder, file), 'utf8');
  const write = (file: string, value: string) => writeFileSync(path.join(folder, file), value);
  try {
    if (isSecond) writeFileSync(path.join(ROOT, 'cgroup.subtree_control'), '+memory');
    mkdirSync(folder);
    write(isSecond ? 'memory.max' : 'memory.limit_in_bytes', String(limitBytes));
  } catch {
    return null;
  }
  const swap = isSecond ? 'memory.swap.max' : 'memory.memsw.limit_in_bytes';
  // A kernel without swap accounting has no such file, and a machine without swap needs none.
  if (existsSync(path.join(folder, swap))) write(swap, isSecond ? '0' : String(limitBytes));
  return {
    joinFile: path.join(folder, 'cgroup.procs'),
    peakBytes: () => Number(read(isSecond ? 'memory.peak' : 'memory.max_usage_in_bytes')),
    kills: () => Number(/^oom_kill (\d+)/m.exec(read(isSecond ? 'memory.events' : 'memory.oom_control'))?.[1] ?? 0),
    remove: () => rmdirSync(folder),
  };
}
