import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** A PostgreSQL server that runs on a data directory, as its postmaster.pid tells. */
export interface Postmaster {
  pid: number;
  port: number;
  socketDirectory: string | null;
}

/**
 * The server that runs on the data directory; null when none does. A postmaster.pid whose process is gone, or whose number
 * went to another program (usual in containers), is removed: PostgreSQL would take it for a running server and refuse to start.
 */
export async function readPostmaster(directory: string): Promise<Postmaster | null> {
  const file = path.join(directory, 'postmaster.pid');
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  // Lines: pid, data directory, start time, port, socket directory, listen address, shared memory key, state.
  const [pidLine, , , portLine, socketLine] = text.split('\n');
  const pid = Number(pidLine);
  if (!(pid > 0) || !(await commandOf(pid)).includes(directory)) {
    await rm(file, { force: true });
    return null;
  }
  const socketDirectory = socketLine?.trim() ?? '';
  return { pid, port: Number(portLine), socketDirectory: socketDirectory === '' ? null : socketDirectory };
}

const run = promisify(execFile);

/** The command line of the process, or nothing when there is no such process. */
async function commandOf(pid: number): Promise<string> {
  const fromProc = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
  if (fromProc !== null) return fromProc;
  if (process.platform === 'linux') return '';
  const { stdout } = await run('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout;
}
