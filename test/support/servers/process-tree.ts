import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';

/** What one process uses. */
export interface ProcessUse {
  pid: number;
  command: string;
  /** memory; what processes share (PostgreSQL's buffers) counts once in their sum. MiB, read when it is asked for, 0 when it has ended. */
  readonly residentMiB: number;
  /** with those of its children that have ended */
  cpuSeconds: number;
}

/** What a process and all its descendants use. */
export function processTree(root: number): ProcessUse[] {
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
export function readProcess(pid: number): ProcessUse[] {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim().slice(0, 200);
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return [
      {
        pid,
        command,
        // Reading it takes the kernel milliseconds for a large process.
        get residentMiB() {
          return readResidentMiB(pid);
        },
        cpuSeconds: [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) / clockTicks,
      },
    ];
  } catch {
    return [];
  }
}

function readResidentMiB(pid: number): number {
  try {
    const proportional = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
    return Math.round(Number(proportional?.[1] ?? 0) / 1024);
  } catch {
    return 0;
  }
}

const clockTicks = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** CPU seconds that all processes of the machine have used since it started, interrupts and time stolen by a hypervisor included. */
export function machineCpuSeconds(): number {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  // proc(5): user nice system idle iowait irq softirq steal
  const ticks = line.trim().split(/\s+/).slice(1).map(Number);
  return [0, 1, 2, 5, 6, 7].reduce((sum, at) => sum + (ticks[at] ?? 0), 0) / clockTicks;
}

const STOP_LIMIT_MS = 10_000;

/** Resolves when every thread of a process that got SIGSTOP stands still. */
export async function standsStill(pid: number): Promise<void> {
  const end = performance.now() + STOP_LIMIT_MS;
  while (performance.now() < end) {
    const tasks = await readdir(`/proc/${pid}/task`);
    const states = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/stat`, 'latin1')));
    // proc(5): the state follows the name in brackets
    if (states.every((state) => state.slice(state.lastIndexOf(')') + 2).startsWith('T'))) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`process ${pid} does not stand still`);
}
