import { readdir, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Processes of a dead server end by themselves as soon as they wait for something; then they are asked to, then killed. Milliseconds. */
const ASK_AFTER_MS = 500;
const KILL_AFTER_MS = 1_500;
const LOOK_MS = 50;

/**
 * Ends the processes that a killed postmaster left on the data directory (a query that still runs, a process that is stopped): they hold
 * its shared memory, and no new server starts beside them. What they have not committed is rolled back by the recovery. Resolves when none
 * is left, or after the limit. Only Linux shows whose they are; elsewhere they are left to themselves.
 */
export async function endLeftoverBackends(directory: string, limitMs = 10_000): Promise<void> {
  if (process.platform !== 'linux') return;
  const startedTick = performance.now();
  for (;;) {
    const pids = await leftoversOn(directory);
    const passedMs = performance.now() - startedTick;
    if (pids.length === 0 || passedMs > limitMs) return;
    if (passedMs > ASK_AFTER_MS) for (const pid of pids) signal(pid, passedMs > KILL_AFTER_MS ? 'SIGKILL' : 'SIGQUIT');
    await sleep(LOOK_MS);
  }
}

/** Children of a server that lives are its own. */
async function leftoversOn(directory: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => ((await isBackendOn(pid, directory)) && !(await hasPostmaster(pid)) ? [pid] : [])),
  );
  return found.flat();
}

/** Servers work in their data directory, and their processes but the first call themselves `postgres: what they do`. */
async function isBackendOn(pid: number, directory: string): Promise<boolean> {
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  if (folder !== directory || !(await isPostgres(pid))) return false;
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return command.startsWith('postgres: ');
}

async function hasPostmaster(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name, in parentheses, may hold anything; then come the state and the parent.
  const parent = Number(status.replace(/^.*\) /s, '').split(' ')[1]);
  return parent > 1 && (await isPostgres(parent));
}

async function isPostgres(pid: number): Promise<boolean> {
  const program = await readlink(`/proc/${pid}/exe`).catch(() => '');
  return path.basename(program).startsWith('postgres');
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}
