import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';

/** Several processes of the same program behind one port. */
export interface Workers {
  /** the workers that can be asked */
  channels(): Worker[];
  /** Drains and ends each worker; resolves when all are gone. */
  stop(): Promise<void>;
}

/** Pause before a worker that died is replaced, so that one that cannot start does not occupy a core; milliseconds. */
const RESTART_DELAY_MS = 500;

/** Whether this process is one of the workers of `startWorkers`. */
export function isWorker(): boolean {
  return cluster.isWorker;
}

/** Runs `count` copies of this program that share their listening ports (node:cluster). A worker that dies is replaced. */
export function startWorkers(count: number, log: Logger): Workers {
  let isStopping = false;
  const restarts = new Set<NodeJS.Timeout>();
  for (let i = 0; i < count; i++) cluster.fork();
  cluster.on('exit', (worker, code, signal) => {
    if (isStopping) return;
    log.error({ event: 'smtp.worker-died', pid: worker.process.pid, code, signal });
    const restart = setTimeout(() => {
      restarts.delete(restart);
      cluster.fork();
    }, RESTART_DELAY_MS);
    restarts.add(restart);
  });
  const running = () => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
  return {
    channels: () => running().filter((worker) => worker.isConnected()),
    async stop() {
      isStopping = true;
      for (const restart of restarts) clearTimeout(restart);
      await Promise.all(
        running().map(
          (worker) =>
            new Promise<void>((resolve) => {
              worker.once('exit', () => resolve());
              worker.process.kill('SIGTERM');
            }),
        ),
      );
    },
  };
}
