import { type ChildProcess, fork, spawn } from 'node:child_process';
import { connect } from 'node:net';
import { processTree } from '../support/servers/process-tree.ts';

/** Starts a script of this folder and awaits one response per order. */
export class BenchChild {
  readonly #child: ChildProcess;
  #former: Promise<unknown> = Promise.resolve();

  constructor(script: string) {
    this.#child = fork(new URL(script, import.meta.url), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  }

  /** 0 when it did not start */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  readResponse<T>(): Promise<T> {
    return new Promise((resolve, reject) => {
      const onExit = (code: number | null) => reject(new Error(`${this.#child.spawnargs[1]} ended with ${code}`));
      this.#child.once('exit', onExit);
      this.#child.once('message', (message) => {
        this.#child.off('exit', onExit);
        resolve(message as T);
      });
    });
  }

  /** Asks once the former question has its response. */
  ask<T>(order: object): Promise<T> {
    const response = this.#former.then(() => {
      const next = this.readResponse<T>();
      this.#child.send(order);
      return next;
    });
    this.#former = response.catch(() => undefined);
    return response;
  }

  stop(): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}

export interface StartedServer {
  child: ChildProcess;
  output: () => string;
  /** Ends it, by force after 60 s. */
  stop(): Promise<void>;
}

/** Ends every server that has been started and still runs, the last one first. */
export async function stopServers(): Promise<void> {
  for (const stop of [...running].toReversed())
    await stop().catch((error: unknown) => console.error(`could not stop a server: ${String(error)}`));
}

/** Makes stopServers end this one too. Its `stop` then runs once. */
export function tracked<T extends { stop(): Promise<void> }>(server: T): T {
  let stopping: Promise<void> | undefined;
  const end = server.stop.bind(server);
  const stop = () => {
    stopping ??= end().finally(() => running.delete(stop));
    return stopping;
  };
  running.add(stop);
  return { ...server, stop };
}

const running = new Set<() => Promise<void>>();

const START_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 60_000;

/** Starts a server and returns when its output shows the text; an empty one: when it prints anything. `cpus` (`0`, `0,1`) are the cores it may use. */
export async function startServer(
  command: string,
  args: string[],
  environment: Record<string, string>,
  readyText: string | RegExp,
  cpus?: string,
): Promise<StartedServer> {
  const [program = '', ...words] = [...(cpus === undefined ? [] : ['taskset', '-c', cpus]), command, ...args];
  const child = spawn(program, words, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C reaches a whole group. Servers are ended once, by us: a second signal would cut their shutdown short.
    detached: true,
  });
  let output = '';
  const isReady = () => (typeof readyText === 'string' ? output.includes(readyText) : readyText.test(output));
  const server: StartedServer = tracked({ child, output: () => output, stop: () => stopProcess(child) });
  const ready = new Promise<void>((resolve, reject) => {
    const take = (chunk: Buffer) => {
      if (output.length < 1_000_000) output += chunk.toString();
      if (isReady()) resolve();
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.once('error', reject);
    child.once('exit', (code) =>
      reject(new Error(`${command} ${args.join(' ')} ended with ${code}: ${output.slice(-2000)}`)),
    );
    setTimeout(
      () => reject(new Error(`${command} is not ready within ${START_LIMIT_MS} ms: ${output.slice(-2000)}`)),
      START_LIMIT_MS,
    ).unref();
  });
  await stopUnless(server, ready);
  return server;
}

/** Awaits what a started server still needs, and stops the server when that fails. */
export async function stopUnless<T>(server: { stop(): Promise<void> }, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const { pid } = child;
  await new Promise<void>((resolve) => {
    const force = setTimeout(() => {
      console.error(`had to kill ${child.spawnargs.join(' ')}`);
      for (const each of processTree(pid)) process.kill(each.pid, 'SIGKILL');
    }, STOP_LIMIT_MS);
    child.once('exit', () => {
      clearTimeout(force);
      resolve();
    });
    child.kill('SIGTERM');
  });
}

/** Waits until a server greets on that port of loopback. Throws after 30 s. */
export async function smtpReady(port: number): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('data', () => {
        socket.end('QUIT\r\n');
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`no server greets on port ${port}`);
}
