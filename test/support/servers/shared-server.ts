import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { access, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readSecrets } from '../../../db/cluster/data-directory.ts';
import { keepLogFile, keepSecrets } from '../kept-logs.ts';
import { secretsIn } from '../printed-secrets.ts';
import { end, notePid, SHARED_FOLDERS } from './orphans.ts';

/**
 * Servers that the test files of a run share. The file that starts one leaves a note in the run's folder, and its processes outlive that
 * file: their output goes to files. The run's global teardown ends them and keeps their logs and secrets for the search for leaks.
 */
export interface SharedServerNote {
  /** its folder, made by makeServiceDirectory */
  directory: string;
  /** in the order of their end; those of one group end together */
  processes: SharedProcess[][];
}

interface SharedProcess {
  name: string;
  pid: number;
  /** the program of the product that it is, for its kept log; null: none, and its output is not a log of the product */
  program: string | null;
}

const NOTE = 'server.json';
const LOG = '.log';
/** Time after which a process that does not end counts as hung and is killed with the run's folders. */
const END_LIMIT_MS = 60_000;

/** Opens the file for the output of one process of a shared server. */
export function openSharedLog(directory: string, process: string): number {
  return openSync(path.join(directory, `${process}${LOG}`), 'a');
}

/** Returns everything that the processes of the server wrote so far. */
export function sharedOutput(directory: string): string {
  const logs = readdirSync(directory).filter((name) => name.endsWith(LOG));
  return logs.map((name) => readFileSync(path.join(directory, name), 'utf8')).join('');
}

/** Starts a program of the tests that outlives this process. Its arguments must name the folder. */
export function startSharedProgram(directory: string, name: string, program: string, words: string[]): ChildProcess {
  const log = openSharedLog(directory, name);
  const child = spawn(process.execPath, [path.join(import.meta.dirname, program), ...words], {
    env: { ...process.env, TMPDIR: directory },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  child.unref();
  notePid(directory, child.pid);
  return child;
}

/** Waits until a program has written the file, and returns its text; throws the program's output when it ends first. */
export async function awaitFile(file: string, child: ChildProcess, directory: string): Promise<string> {
  for (;;) {
    const isThere = await access(file).then(
      () => true,
      () => false,
    );
    if (isThere) return readFile(file, 'utf8');
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`a shared program ended early:\n${sharedOutput(directory)}`);
    await sleep(20);
  }
}

/** Leaves the note about a server in its shared folder (see sharedFolder). */
export async function noteSharedServer(folder: string, note: SharedServerNote): Promise<void> {
  await writeFile(path.join(folder, NOTE), JSON.stringify(note));
}

/** Ends all shared servers of the run, and keeps their logs and the secrets that must not be in them. */
export async function endSharedServers(run: string): Promise<void> {
  const shared = path.join(run, SHARED_FOLDERS);
  const notes = await Promise.all((await readdir(shared)).map((name) => readNote(path.join(shared, name, NOTE))));
  for (const note of notes.filter((each) => each !== null)) await endSharedServer(note);
}

async function readNote(file: string): Promise<SharedServerNote | null> {
  const text = await readFile(file, 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as SharedServerNote);
}

async function endSharedServer({ directory, processes }: SharedServerNote): Promise<void> {
  for (const group of processes) await Promise.all(group.map(({ pid }) => end(pid, 'SIGTERM', END_LIMIT_MS)));
  for (const { name, pid, program } of processes.flat())
    if (program !== null) keepLogFile(`${program}-shared-${pid}`, path.join(directory, `${name}${LOG}`));
  keepSecrets(secretsIn(sharedOutput(directory)));
  const secrets = await readSecrets(path.join(directory, 'data'));
  if (secrets !== null)
    keepSecrets([
      { kind: 'SECRET_KEY', value: Buffer.from(secrets.secretKey).toString('base64url') },
      { kind: 'password of a server', value: secrets.databasePassword },
    ]);
  for (const cluster of ['data/postgresql', 'cluster'])
    keepLogFile(`postgresql-shared-${path.basename(directory)}`, path.join(directory, cluster, 'server.log'));
}
