import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Starts a script of this folder and awaits one answer per order. */
export class BenchChild {
  readonly #child: ChildProcess;

  constructor(script: string) {
    this.#child = fork(new URL(script, import.meta.url), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  }

  answer<T>(): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#child.once('message', (message) => resolve(message as T));
      this.#child.once('exit', (code) => reject(new Error(`${this.#child.spawnfile} ended with ${code}`)));
    });
  }

  ask<T>(order: object): Promise<T> {
    const answer = this.answer<T>();
    this.#child.send(order);
    return answer;
  }

  stop(): void {
    this.#child.disconnect();
  }
}

/** Starts a server in its own process group and answers when its output shows the text. */
export async function startServer(
  command: string,
  args: string[],
  environment: Record<string, string>,
  readyText: string | RegExp,
): Promise<{ child: ChildProcess; output: () => string; stop(): Promise<void> }> {
  const child = spawn(command, args, { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const isReady = () => (typeof readyText === 'string' ? output.includes(readyText) : readyText.test(output));
  await new Promise<void>((resolve, reject) => {
    const take = (chunk: Buffer) => {
      if (output.length < 1_000_000) output += chunk.toString();
      if (isReady()) resolve();
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    child.once('exit', (code) =>
      reject(new Error(`${command} ${args.join(' ')} ended with ${code}: ${output.slice(-2000)}`)),
    );
    setTimeout(() => reject(new Error(`${command} not ready in 60 s: ${output.slice(-2000)}`)), 60_000).unref();
  });
  return {
    child,
    output: () => output,
    stop: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve();
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}

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
    const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return [
      {
        pid,
        command,
        residentMiB: Math.round(Number(resident?.[1] ?? 0) / 1024),
        cpuSeconds: (Number(fields[11]) + Number(fields[12])) / clockTicks,
      },
    ];
  } catch {
    return [];
  }
}

const clockTicks = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
