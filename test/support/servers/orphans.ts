import { appendFileSync, readFileSync, symlinkSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, realpath, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readPostmaster } from '../../../db/cluster/postmaster.ts';

const MEMORY = '/dev/shm';
/** What a run and the services of its tests may fill. Bytes. */
const ROOM = 4_000_000_000;
/** Folders of runs are called so, with a random ending. */
export const RUN_PREFIX = 'postroom-test-';
/** In a run's folder: the pid of the vitest that made it. */
const OWNER = 'owner.pid';
/** In a run's folder, links to the folders outside it in which tests run services. */
const LINKED = 'linked-';
/** In a service's folder: the pids of its processes, a line each. */
const PIDS = 'pids';
/** In a run's folder: what its test files share, see sharedFolder. */
export const SHARED_FOLDERS = 'shared';
/** Where clusters lie in a run's folder and in those of services. */
const CLUSTERS = ['cluster', 'data/postgresql', 'shared/data/postgresql', 'shared/data.draft/postgresql'];

/** Where runs have their folders: in memory where there is enough of it; containers often have 64 MB. */
export async function placeOfRuns(): Promise<string> {
  const stats = await statfs(MEMORY).catch(() => null);
  return stats !== null && stats.bavail * stats.bsize > ROOM ? MEMORY : tmpdir();
}

/** Says that the run's folder belongs to this process. */
export async function ownRun(run: string): Promise<void> {
  await writeFile(path.join(run, OWNER), String(process.pid));
}

/** Says that the folder, in which services run, goes with the run. */
export function linkToRun(run: string, directory: string): void {
  symlinkSync(directory, path.join(run, `${LINKED}${path.basename(directory)}`));
}

/**
 * Makes a folder in which services run; it goes with the run, and lies where the run does: in memory, `kill -9` leaves as much behind as
 * on a disk, and a commit need not wait for it.
 */
export async function makeServiceDirectory(run: string, prefix: string): Promise<string> {
  const directory = await mkdtemp(path.join(path.dirname(run), prefix));
  await chmod(directory, 0o755);
  linkToRun(run, directory);
  return directory;
}

/** Says that the process works in the service's folder, which its environment or its words must name. */
export function notePid(directory: string, pid: number | undefined): void {
  if (pid !== undefined) appendFileSync(path.join(directory, PIDS), `${pid}\n`);
}

/** A run that was killed leaves servers running and folders behind: ends the ones and removes the others. */
export async function removeOrphans(place: string): Promise<void> {
  for (const name of await readdir(place)) {
    if (!name.startsWith(RUN_PREFIX)) continue;
    const run = path.join(place, name);
    const owner = Number(await readFile(path.join(run, OWNER), 'utf8').catch(() => 'none'));
    // Without a pid it may be just being made.
    if (!Number.isNaN(owner) && !isAlive(owner)) await removeRun(run);
  }
}

/** Ends what the run's tests left running, those that timed out for instance, and removes its folders. */
export async function removeRun(run: string): Promise<void> {
  for (const entry of await readdir(run)) {
    const linked = entry.startsWith(LINKED) ? await realpath(path.join(run, entry)).catch(() => null) : null;
    if (linked !== null) await removeService(linked);
  }
  await removeService(run);
}

async function removeService(directory: string): Promise<void> {
  const pids = (await readFile(path.join(directory, PIDS), 'utf8').catch(() => ''))
    .split('\n')
    .filter(Boolean)
    .map(Number);
  for (const pid of pids) {
    // The number may have gone to another program.
    const told = await Promise.all(
      ['environ', 'cmdline'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')),
    );
    if (told.join('').includes(directory)) await end(pid, 'SIGKILL');
  }
  for (const cluster of CLUSTERS) {
    const server = await readPostmaster(path.join(directory, cluster)).catch(() => null);
    if (server === null) continue;
    // Fast shutdown, and without ceremony where there is a backend that does not end.
    await end(server.pid, 'SIGINT', 5_000);
    await end(server.pid, 'SIGQUIT');
  }
  await rm(directory, { recursive: true, force: true });
}

/** Sends the signal and waits until the process has ended, up to the limit. */
export async function end(pid: number, signal: NodeJS.Signals, limitMs = 10_000): Promise<void> {
  try {
    process.kill(pid, signal);
  } catch {
    return;
  }
  for (const deadline = Date.now() + limitMs; isAlive(pid) && Date.now() < deadline; ) await sleep(50);
}

/** A process that ended stays as a zombie until its parent waits for it. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function isZombie(pid: number): boolean {
  try {
    return /^.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
