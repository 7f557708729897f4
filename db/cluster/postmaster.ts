import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** A PostgreSQL server that runs on a data directory, as its postmaster.pid says. */
export interface Postmaster {
  pid: number;
  port: number;
  socketDirectory: string | null;
}

/** A lock file without a process id is being written by a server, unless it is older than this. Milliseconds. */
const UNFINISHED_MS = 2_000;

/** Returns the server that runs on the data directory; null when there is none. */
export async function readPostmaster(directory: string): Promise<Postmaster | null> {
  const text = await readText(readLockFile(directory));
  if (text === null) return null;
  // Lines: pid, data directory, start time, port, socket directory, listen address, shared memory key, state.
  const [, , , portLine, socketLine] = text.split('\n');
  const pid = findPid(text);
  if (pid === null || !(await readCommand(pid)).includes(directory)) return null;
  const socketDirectory = socketLine?.trim() ?? '';
  return { pid, port: Number(portLine), socketDirectory: socketDirectory === '' ? null : socketDirectory };
}

/** Whether that server still runs on the data directory. Reads no disk, so that it can be called often. */
export function isPostmasterAlive({ pid }: Postmaster, directory: string): boolean {
  if (process.platform !== 'linux') return isAlive(pid);
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(directory);
  } catch {
    return false;
  }
}

/**
 * Removes lock files of a dead server that would prevent a start: those without a process id, and those whose process id belongs to another
 * program (usual in containers) or to a zombie. PostgreSQL replaces the others itself. Returns whether a server can start; false while
 * another server may be writing its lock file.
 */
export async function clearLockFiles(
  directory: string,
  socket: { directory: string; port: number } | null,
): Promise<boolean> {
  const files = [readLockFile(directory)];
  if (socket !== null) files.push(path.join(socket.directory, `.s.PGSQL.${socket.port}.lock`));
  const cleared = await Promise.all(files.map((file) => clearLockFile(file, directory)));
  return cleared.every(Boolean);
}

async function clearLockFile(file: string, directory: string): Promise<boolean> {
  const text = await readText(file);
  if (text === null) return true;
  const pid = findPid(text);
  if (pid === null) {
    const writtenAt = await stat(file).catch(() => null);
    if (writtenAt !== null && Date.now() - writtenAt.mtimeMs < UNFINISHED_MS) return false;
  } else if (!isAlive(pid) || (await readCommand(pid)).includes(directory)) {
    return true;
  }
  // A server that started meanwhile has written a new one.
  if ((await readText(file)) === text) await rm(file, { force: true });
  return true;
}

function readLockFile(directory: string): string {
  return path.join(directory, 'postmaster.pid');
}

function readText(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch(() => null);
}

function findPid(text: string): number | null {
  const pid = Number(text.split('\n', 1)[0]);
  return pid > 0 ? pid : null;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const run = promisify(execFile);

/** The command line of the process; empty when there is no such process, or only its zombie. */
async function readCommand(pid: number): Promise<string> {
  const fromProc = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
  if (fromProc !== null) return fromProc;
  if (process.platform === 'linux') return '';
  const { stdout } = await run('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout;
}
