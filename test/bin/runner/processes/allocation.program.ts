import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { ALLOCATION } from '../../../../bin/runner/processes/allocation.ts';
import { freePort } from '../../../support/cluster/cluster.ts';
import { repository } from '../../../support/runner.ts';

/** Starts a gateway that waits for a database which is not there, and returns its first environment that `isExpected`. */
async function environmentOfGateway(environment: Record<string, string>, isExpected: (variables: string[]) => boolean) {
  const { MALLOC_ARENA_MAX: _, MALLOC_MMAP_THRESHOLD_: __, ...inherited } = process.env;
  const secrets = {
    SECRET_KEY: 'x'.repeat(43),
    NATS_URL: 'nats://127.0.0.1:1',
    DATABASE_URL: 'postgresql://127.0.0.1:1/x',
  };
  const child = spawn(process.execPath, ['bin/gateway.ts'], {
    cwd: repository,
    env: { ...inherited, ...secrets, METRICS_PORT: '0', HTTP_PORT: String(await freePort()), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  let variables: string[] = [];
  await expect
    .poll(
      async () => {
        variables = (await readFile(`/proc/${child.pid}/environ`, 'utf8')).split('\0');
        return isExpected(variables) && output !== '';
      },
      { timeout: 30_000 },
    )
    .toBe(true);
  child.kill('SIGKILL');
  await exited;
  return { variables, output };
}

test.runIf(process.platform === 'linux')('a gateway that is started by hand has the settings of memory', async () => {
  const wanted = Object.entries(ALLOCATION).map(([name, value]) => `${name}=${value}`);
  const { output } = await environmentOfGateway({}, (variables) => wanted.every((entry) => variables.includes(entry)));
  expect(output).not.toContain('ExperimentalWarning');
});

test.runIf(process.platform === 'linux')('a gateway keeps the settings of memory that its operator chose', async () => {
  const own = { MALLOC_MMAP_THRESHOLD_: '262144' };
  const { variables } = await environmentOfGateway(own, (all) => all.includes('MALLOC_MMAP_THRESHOLD_=262144'));
  expect(variables.some((entry) => entry.startsWith('MALLOC_ARENA_MAX='))).toBe(false);
});
