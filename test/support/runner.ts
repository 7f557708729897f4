import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { inject } from 'vitest';
import { readSecrets } from '../../db/cluster/data-directory.ts';
import { startEmbeddedCluster } from '../../db/cluster/embedded-cluster.ts';
import { readPostmaster } from '../../db/cluster/postmaster.ts';
import { freePort } from './cluster/cluster.ts';
import { makeServiceDirectory, notePid } from './servers/orphans.ts';

export const repository = path.resolve(import.meta.dirname, '../..');

/** A folder for one machine's data with its ports; every `npm start` on it is the same machine again. */
export interface Machine {
  directory: string;
  dataDirectory: string;
  httpPort: number;
  smtpPort: number;
  environment: Record<string, string>;
  /** Ends what runs there, PostgreSQL too, and removes everything. */
  remove(): Promise<void>;
}

export async function makeMachine(environment: Record<string, string> = {}): Promise<Machine> {
  const directory = await makeServiceDirectory(inject('runDirectory'), 'postroom-machine-');
  const dataDirectory = path.join(directory, 'data');
  const [httpPort, smtpPort] = [await freePort(), await freePort()];
  const machine: Machine = {
    directory,
    dataDirectory,
    httpPort,
    smtpPort,
    environment: {
      DATA_DIR: dataDirectory,
      HTTP_PORT: String(httpPort),
      SMTP_PORT: String(smtpPort),
      METRICS_PORT: '0',
      // a closed port: look-ups of the tests' senders fail at once
      DNS_SERVERS: '127.0.0.1:1',
      PRINT_SECRETS: 'on',
      ...environment,
    },
    async remove() {
      for (const run of runs) await run.end();
      await stopLeftCluster(dataDirectory);
      await rm(directory, { recursive: true, force: true });
    },
  };
  const runs: Run[] = [];
  runsByMachine.set(machine, runs);
  return machine;
}

/** Time after which a program that does not write what a test waits for counts as hung. Milliseconds. */
const HUNG_MS = 180_000;

/** One run of a program. */
export interface Run {
  child: ChildProcess;
  /** stdout and stderr so far */
  output: () => string;
  /** resolves with the exit status, or the signal that ended it */
  ended: Promise<number | NodeJS.Signals>;
  /** Resolves when the text was written; throws when the program ended or three minutes passed without it. */
  written(text: string): Promise<void>;
  /** Sends a signal to the program's whole process group, as a terminal does. */
  signalGroup(signal: NodeJS.Signals): void;
  /** Kills it and awaits its end. */
  end(): Promise<void>;
}

/** Starts `node WORDS` (or another program with them) on the machine, in a process group of its own. */
export function runOn(
  machine: Machine,
  words: string[],
  options: { root?: string; environment?: Record<string, string>; program?: string } = {},
): Run {
  const isNode = options.program === undefined && options.root === undefined;
  const child = spawn(options.program ?? process.execPath, isNode ? builtFirst(words) : words, {
    cwd: options.root ?? repository,
    env: { ...process.env, ...machine.environment, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  notePid(machine.directory, child.pid);
  let output = '';
  const watchers = new Set<() => void>();
  const take = (chunk: Buffer) => {
    output += chunk.toString();
    for (const watch of watchers) watch();
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const ended = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'SIGKILL')),
  );
  const run: Run = {
    child,
    output: () => output,
    ended,
    written: (text) =>
      new Promise((resolve, reject) => {
        const fail = (reason: string) => reject(new Error(`${reason} before it wrote "${text}":\n${output}`));
        const limit = setTimeout(() => fail('three minutes passed'), HUNG_MS);
        const watch = () => {
          if (!output.includes(text)) return;
          clearTimeout(limit);
          watchers.delete(watch);
          resolve();
        };
        watchers.add(watch);
        void ended.then((status) => (output.includes(text) ? watch() : fail(`it ended (${status})`)));
        watch();
      }),
    signalGroup: (signal) => void process.kill(-(child.pid ?? 0), signal),
    async end() {
      // The whole group: a program may have left its own child behind.
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL');
      } catch {
        // Nobody of it is left.
      }
      await ended;
    },
  };
  runsByMachine.get(machine)?.push(run);
  return run;
}

/** Programs that `npm start`, the container image and other deployments run from their built code. */
const BUILT = /^bin\/(?:start|gateway|actor|smtp|migrate)\.ts$/;

/**
 * Returns the arguments of node that run a program as users do: from its built code where that is made of these sources, which takes a quarter
 * less processor time to start. `npm test` builds it first; with other sources, they run as they are.
 */
export function builtFirst(words: readonly string[]): string[] {
  return BUILT.test(words[0] ?? '') ? ['bin/run.js', ...words] : [...words];
}

/** Starts the whole service there and awaits that it is ready. */
export async function startOn(machine: Machine, options: { root?: string } = {}): Promise<Run> {
  const run = runOn(machine, ['bin/start.ts'], options);
  await run.written('"event":"start.ready"');
  return run;
}

/** Runs a program to its end; returns its status and what it wrote. Another folder has the code of another version. */
export async function runToEnd(
  words: string[],
  environment: Record<string, string> = {},
  folder = repository,
): Promise<{ status: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const options = { cwd: folder, env: { ...process.env, ...environment }, timeout: HUNG_MS };
    const child = execFile(
      process.execPath,
      folder === repository ? builtFirst(words) : words,
      options,
      (_error, stdout, stderr) => resolve({ status: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

/** The API key that the first start printed. */
export function printedKey(run: Run): string {
  return /API key {3}(\S+)/.exec(run.output())?.[1] ?? '';
}

const runsByMachine = new WeakMap<Machine, Run[]>();

/** A killed runner leaves its PostgreSQL to the next start; where there is none, it ends here. */
async function stopLeftCluster(dataDirectory: string): Promise<void> {
  const directory = path.join(dataDirectory, 'postgresql');
  const server = await readPostmaster(directory);
  const secrets = await readSecrets(dataDirectory);
  if (server === null || secrets === null) return;
  const cluster = await startEmbeddedCluster({ directory, password: secrets.databasePassword, port: server.port });
  await cluster.stop();
}
