import { execFile, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/cluster.ts';
import { type Machine, makeMachine, printedKey, type Run, repository, startOn } from '../support/runner.ts';
import { until } from '../support/service.ts';

const execute = promisify(execFile);
const hasPrograms = ['swaks', 'curl'].every((name) => spawnSync('which', [name]).status === 0);
const readme = readFileSync(path.join(repository, 'README.md'), 'utf8');
let machine: Machine;
let service: Run;
let hookPort: number;

beforeAll(async () => {
  machine = await makeMachine();
  service = await startOn(machine);
  hookPort = await freePort();
}, 120_000);
afterAll(() => machine.remove());

/** The README's shell examples as printed, but for the ports and the key. */
function examples(): string[] {
  return [...readme.matchAll(/```sh\n(.*?)```/gs)].map((match) =>
    (match[1] ?? '')
      .replaceAll('127.0.0.1:2525', `127.0.0.1:${machine.smtpPort}`)
      .replaceAll('localhost:3000', `localhost:${machine.httpPort}`)
      .replaceAll('localhost:4000', `localhost:${hookPort}`)
      .replaceAll('listen(4000)', `listen(${hookPort})`)
      .replace('KEY=...', `KEY=${printedKey(service)}`),
  );
}

const shell = (script: string) => execute('bash', ['-euc', script], { cwd: repository, timeout: 60_000 });

test.skipIf(!hasPrograms)(
  "the README's first mail works as printed, and so does its first webhook",
  async () => {
    const [send = '', read = '', listen = '', route = ''] = examples();
    expect((await shell(send)).stdout).toContain('250 2.0.0');
    const listed = async () => (await shell(read)).stdout;
    await until(
      'the mail is read',
      () => service.output().slice(-2_000),
      async () => (await listed()).includes('"messageCount":1'),
    );
    const shown = await listed();
    expect(shown.match(/"preview":"A first mail"/g)).toHaveLength(2);
    expect(shown).toContain('"normalized_subject":"Hello"');

    const key = `export KEY=${printedKey(service)}\n`;
    const program = spawn('bash', ['-c', `exec ${listen.trim()}`], {
      cwd: repository,
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    let printed = '';
    program.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
    try {
      await until(
        'the program listens',
        () => printed,
        async () => (await fetch(`http://localhost:${hookPort}/`)).ok,
      );
      expect((await shell(key + route)).stdout).toContain('"address":"orders@inbox.test"');
      await until(
        'the webhook came',
        () => printed,
        async () => printed.includes('"subject":"An order"'),
      );
    } finally {
      process.kill(-(program.pid ?? 0), 'SIGKILL');
    }
  },
  180_000,
);
