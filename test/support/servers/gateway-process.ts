import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { ALLOCATION } from '../../../bin/runner/processes/allocation.ts';
import { chooseNodeFlags, machineMemoryBytes } from '../../../bin/runner/processes/machine-memory.ts';
import { freePort } from '../cluster/cluster.ts';
import { builtFirst, repository } from '../runner.ts';
import { until } from './service.ts';

/** `bin/gateway.ts` as a process of its own. */
export interface GatewayProcess {
  child: ChildProcess;
  url: string;
  port: number;
  /** stdout and stderr so far */
  output: () => string;
  /** resident memory, bytes */
  memory(): Promise<number>;
  /** Returns the longest time in which its event loop was held since the last call, in milliseconds of CPU; see block-probe.ts. */
  longestBlock(): Promise<number>;
  /** Resolves with the exit status, or the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
}

const BLOCK_PROBE = ['--import', './test/support/servers/block-probe.ts'];

/** Starts one, with memory allocated as under `npm start`, and awaits that it is ready; the environment says where PostgreSQL and NATS are. `measuresBlocks`: for longestBlock. */
export async function startGatewayProcess(
  environment: Record<string, string>,
  { measuresBlocks = false }: { measuresBlocks?: boolean } = {},
): Promise<GatewayProcess> {
  const port = await freePort();
  const flags = [...chooseNodeFlags(machineMemoryBytes()), ...(measuresBlocks ? BLOCK_PROBE : [])];
  const child = spawn(process.execPath, [...flags, ...builtFirst(['bin/gateway.ts'])], {
    cwd: repository,
    env: { ...process.env, ...ALLOCATION, ...environment, METRICS_PORT: '0', HTTP_PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  const url = `http://127.0.0.1:${port}`;
  await until(
    `${url}/ready returns 200`,
    () => output,
    async () => (await fetch(`${url}/ready`)).ok,
  );
  return {
    child,
    url,
    port,
    output: () => output,
    async memory() {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) * 1_024;
    },
    async longestBlock() {
      const before = output.length;
      child.kill('SIGUSR2');
      let found: string | undefined;
      await until(
        'the process prints its longest block',
        () => output,
        async () => (found = /\{"blockMs":([0-9.]+)\}/.exec(output.slice(before))?.[1]) !== undefined,
      );
      return Number(found);
    },
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode ?? child.signalCode;
      const exited = once(child, 'exit');
      child.kill(signal);
      const [code, by] = await exited;
      return (code ?? by) as number | NodeJS.Signals;
    },
  };
}
