import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../cluster/cluster.ts';
import { standsStill } from './process-tree.ts';

/** A real nats-server on a free port of 127.0.0.1, with the configuration that is shipped. */
export interface NatsServer {
  url: string;
  /** Stops responding without closing anything (SIGSTOP); resolves when every thread of it stands still. */
  pause(): Promise<void>;
  resume(): void;
  /** Ends the process; start() brings it back on the same port. */
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

const CONFIGURATION = path.join(import.meta.dirname, '../../../actors/bus/nats-server.conf');
const START_LIMIT_MS = 10_000;

export async function startNatsServer(
  options: { maxPayload?: string; user?: string; password?: string } = {},
): Promise<NatsServer> {
  const port = await freePort();
  const directory = await mkdtemp(path.join(tmpdir(), 'postroom-nats-'));
  const configuration = path.join(directory, 'nats-server.conf');
  const shipped = await readFile(CONFIGURATION, 'utf8');
  await writeFile(
    configuration,
    options.maxPayload === undefined
      ? shipped
      : shipped.replace(/^max_payload: .*$/m, `max_payload: ${options.maxPayload}`),
  );
  let child: ChildProcess | null = null;
  const end = () => void child?.kill('SIGKILL');
  process.once('exit', end);

  const start = async () => {
    const credentials = options.user === undefined ? [] : ['--user', options.user, '--pass', options.password ?? ''];
    const started = spawn('nats-server', ['-c', configuration, '-a', '127.0.0.1', '-p', String(port), ...credentials], {
      stdio: 'ignore',
    });
    child = started;
    const failed = once(started, 'exit').then(() => Promise.reject(new Error('nats-server did not start')));
    const missing = once(started, 'error').then(([error]) =>
      Promise.reject(new Error('nats-server is missing: apt-get install -y nats-server', { cause: error })),
    );
    failed.catch(() => undefined);
    missing.catch(() => undefined);
    await Promise.race([responses(port), failed, missing]);
  };
  const stop = async () => {
    const stopped = child;
    child = null;
    if (!stopped || stopped.exitCode !== null || stopped.signalCode !== null) return;
    const exited = once(stopped, 'exit');
    stopped.kill('SIGKILL');
    await exited;
  };
  await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    async pause() {
      child?.kill('SIGSTOP');
      if (child?.pid !== undefined) await standsStill(child.pid);
    },
    resume: () => void child?.kill('SIGCONT'),
    stop,
    start,
    async close() {
      process.off('exit', end);
      await stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Resolves when something at the port says a word. */
async function responses(port: number): Promise<void> {
  const end = performance.now() + START_LIMIT_MS;
  while (performance.now() < end) {
    const socket = createConnection(port, '127.0.0.1');
    try {
      await once(socket, 'data');
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    } finally {
      socket.destroy();
    }
  }
  throw new Error(`nothing listens at port ${port}`);
}
