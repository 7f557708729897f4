import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../cluster/cluster.ts';
import { interpolate, readComposeServices, readEnvExample } from '../stages/compose-file.ts';

/** The roles that docs/deploy/nats/nats.conf has a user for. */
export const roles = ['gateway', 'smtp', 'receiving', 'threading', 'sending', 'scheduling', 'delivery'] as const;
export type Role = (typeof roles)[number];

/** One nats-server with docs/deploy/nats/nats.conf and the environment that docker-compose.yml gives it. */
export interface RoleNats {
  /** without credentials */
  url: string;
  readUrl(role: Role): string;
  close(): Promise<void>;
}

const CONFIGURATION = path.resolve(import.meta.dirname, '../../../docs/deploy/nats/nats.conf');

/** Starts it on free ports of 127.0.0.1; its passwords look like numbers, which nats.conf must not take them for. */
export async function startRoleNats(options: { maxPayload?: string } = {}): Promise<RoleNats> {
  const [port, clusterPort, monitorPort] = [await freePort(), await freePort(), await freePort()];
  const directory = await mkdtemp(path.join(tmpdir(), 'postroom-nats-'));
  const file = path.join(directory, 'nats.conf');
  const shipped = await readFile(CONFIGURATION, 'utf8');
  await writeFile(file, shipped.replace(/^max_payload: .*$/m, `max_payload: ${options.maxPayload ?? '16MB'}`));
  const secrets = Object.keys(readEnvExample()).filter((name) => name.endsWith('_PASSWORD'));
  const env = Object.fromEntries(secrets.map((name, n) => [name, `${n + 1}2345e6`]));
  const service = readComposeServices().find(({ name }) => name === 'nats-1');
  const given = Object.entries(service?.environment ?? {}).map(([name, text]) => [name, interpolate(text, env)]);
  const child = spawn('nats-server', ['-c', file], {
    env: {
      PATH: process.env['PATH'],
      ...Object.fromEntries(given),
      NATS_LISTEN: `127.0.0.1:${port}`,
      NATS_MONITOR: `127.0.0.1:${monitorPort}`,
      NATS_CLUSTER_LISTEN: `127.0.0.1:${clusterPort}`,
      ...Object.fromEntries([1, 2, 3].map((n) => [`NATS_ROUTE_${n}`, `nats-route://127.0.0.1:${clusterPort}`])),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const end = () => void child.kill('SIGKILL');
  process.once('exit', end);
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`nats-server did not start:\n${output}`)));
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('Server is ready')) resolve();
    });
  });
  return {
    url: `nats://127.0.0.1:${port}`,
    readUrl: (role) => `nats://${role}:${env[`NATS_${role.toUpperCase()}_PASSWORD`]}@127.0.0.1:${port}`,
    async close() {
      process.off('exit', end);
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
