import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Resident memory in MiB and CPU seconds of a process and all its descendants, by command. */
export function processTree(root: number): { pid: number; command: string; residentMiB: number; cpuSeconds: number }[] {
  const parents = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const fields = readFileSync(`/proc/${entry}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ');
      const parent = Number(fields[1]);
      parents.set(parent, [...(parents.get(parent) ?? []), Number(entry)]);
    } catch {
      // ended meanwhile
    }
  }
  const all: number[] = [];
  for (const queue = [root]; queue.length > 0; ) {
    const pid = queue.pop() ?? 0;
    all.push(pid);
    queue.push(...(parents.get(pid) ?? []));
  }
  return all.flatMap((pid) => readProcess(pid));
}

/** The same for one process; empty when it has ended. */
export function readProcess(pid: number): { pid: number; command: string; residentMiB: number; cpuSeconds: number }[] {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim().slice(0, 80);
    // The proportional set: memory that processes share (PostgreSQL's buffers) counts once in their sum.
    const resident = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return [
      {
        pid,
        command,
        residentMiB: Math.round(Number(resident?.[1] ?? 0) / 1024),
        // with those of its children that have ended
        cpuSeconds: [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) / clockTicks,
      },
    ];
  } catch {
    return [];
  }
}

const clockTicks = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
