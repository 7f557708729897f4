import { execFile, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/cluster/cluster.ts';
import { copyDataDirectory } from '../support/cluster/data-template.ts';
import { type Machine, makeMachine, printedKey, type Run, repository, startOn } from '../support/runner.ts';
import { greets, until } from '../support/servers/service.ts';

const execute = promisify(execFile);
const hasPrograms = ['swaks', 'curl'].every((name) => spawnSync('which', [name]).status === 0);
let machine: Machine;
let service: Run;
let hookPort: number;
let sinkPort: number;

beforeAll(async () => {
  machine = await makeMachine();
  await copyDataDirectory(machine.dataDirectory);
  service = await startOn(machine);
  hookPort = await freePort();
  sinkPort = await freePort();
}, 300_000);
afterAll(() => machine.remove());

/** Returns the examples of a page in a language, unchanged except for the ports and the key. */
function examples(page: string, language: 'sh' | 'js'): string[] {
  const text = readFileSync(path.join(repository, page), 'utf8');
  return [...text.matchAll(/```(sh|js)[^\n]*\n(.*?)```/gs)]
    .filter((match) => match[1] === language)
    .map((match) =>
      (match[2] ?? '')
        .replaceAll('127.0.0.1:2526', `127.0.0.1:${sinkPort}`)
        .replaceAll('listen(2526)', `listen(${sinkPort})`)
        .replaceAll('127.0.0.1:2525', `127.0.0.1:${machine.smtpPort}`)
        .replaceAll('localhost:3000', `localhost:${machine.httpPort}`)
        .replaceAll('localhost:4000', `localhost:${hookPort}`)
        .replaceAll('listen(4000)', `listen(${hookPort})`)
        .replace('KEY=...', `KEY=${printedKey(service)}`),
    );
}

const shell = (script: string) => execute('bash', ['-euc', script], { cwd: repository, timeout: 60_000 });

/** Starts an example that keeps running. */
function startProgram(example: string): { printed: () => string; end: () => void } {
  const program = spawn('bash', ['-c', `exec ${example.trim()}`], {
    cwd: repository,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  let printed = '';
  program.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  return { printed: () => printed, end: () => void process.kill(-(program.pid ?? 0), 'SIGKILL') };
}

test('the README has at most 150 lines', () => {
  expect(readFileSync(path.join(repository, 'README.md'), 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(
    150,
  );
});

test.skipIf(!hasPrograms)('the commands that the first start prints send a mail and list it', async () => {
  const commands = /^Send your first mail, then read it:\n\n((?: {2}.*\n|\n)+)/m.exec(service.output())?.[1] ?? '';
  const [send = '', read = ''] = commands.trim().split('\n\n');
  await shell(send);
  await until(
    'the list has the message',
    () => service.output().slice(-2_000),
    async () => (await shell(read)).stdout.includes('"subject":"Hello"'),
  );
});

test.skipIf(!hasPrograms)(
  "the README's first mail and first reply work as printed",
  async () => {
    const [send = '', read = '', query = '', reply = ''] = examples('README.md', 'sh');
    await shell(send);
    const listed = async () => (await shell(read)).stdout;
    await until(
      'the list has the message',
      () => service.output().slice(-2_000),
      async () => (await listed()).includes('"preview":"A first mail"'),
    );
    const key = `export KEY=${printedKey(service)}\n`;
    await until(
      'the message has its thread',
      () => service.output().slice(-2_000),
      async () => (await shell(key + query)).stdout.includes('"messageCount":1'),
    );
    expect((await shell(key + query)).stdout).toContain('"subject":"Hello"');

    expect((await shell(key + reply)).stdout).toContain('"status":"sent"');
    const list = key + (reply.trim().split('\n').at(-1) ?? '');
    await until(
      'it is delivered',
      () => service.output().slice(-2_000),
      async () => (await shell(list)).stdout.includes('"status":"delivered"'),
    );
    await until(
      'it is received',
      () => service.output().slice(-2_000),
      async () => (await listed()).includes('"preview":"Sent with curl"'),
    );
  },
  180_000,
);

test.skipIf(!hasPrograms)(
  'the first webhook and the search of docs/first-steps.md work as printed',
  async () => {
    const [listen = '', route = '', dialogue = ''] = examples('docs/first-steps.md', 'sh');
    const search = examples('docs/first-steps.md', 'sh').at(-1) ?? '';
    const key = `export KEY=${printedKey(service)}\n`;
    const program = startProgram(listen);
    try {
      await until(
        'the program listens',
        program.printed,
        async () => (await fetch(`http://localhost:${hookPort}/`)).ok,
      );
      expect((await shell(key + route)).stdout).toContain('"address":"orders@inbox.test"');
      await until('the webhook arrives', program.printed, async () =>
        program.printed().includes('"subject":"An order"'),
      );
      expect((await shell(dialogue)).stdout).toContain('250 2.0.0');
      await until('the webhook of the second order arrives', program.printed, async () =>
        program.printed().includes('"subject":"Another order"'),
      );
    } finally {
      program.end();
    }
    expect((await shell(key + search)).stdout).toContain('"subject":"An order"');
  },
  180_000,
);

test.skipIf(!hasPrograms)(
  'the first mail to another domain and the published client of docs/first-steps.md work as printed',
  async () => {
    const [, , , sink = '', start = '', send = ''] = examples('docs/first-steps.md', 'sh');
    const [byClient = ''] = examples('docs/first-steps.md', 'js');
    const key = printedKey(service);
    const [, name = '', value = ''] = /^(\w+)=(\S+) npm start$/.exec(start.trim()) ?? [];
    expect(name).toBe('OUTBOUND_RELAY_URL');
    service.signalGroup('SIGINT');
    expect(await service.ended).toBe(0);
    const program = startProgram(sink);
    try {
      await until('the sink is ready', program.printed, () => greets(sinkPort));
      machine.environment[name] = value;
      service = await startOn(machine);
      const keyed = `export KEY=${key}\n`;
      expect((await shell(keyed + send)).stdout).toContain('"status":"sent"');
      const list = keyed + (send.trim().split('\n').at(-1) ?? '');
      await until(
        'it is delivered',
        () => `${service.output().slice(-2_000)}\n${program.printed()}`,
        async () => {
          const { data } = JSON.parse((await shell(list)).stdout) as { data: { subject: string; status: string }[] };
          return data.some(({ subject, status }) => subject === 'A first mail out' && status === 'delivered');
        },
      );
      expect(program.printed()).toMatch(/^RCPT TO:<you@example\.com>/m);
      expect(program.printed()).toMatch(/^Subject: A first mail out\r$/m);
      expect(program.printed()).toContain('Sent with curl');

      const run = await execute(process.execPath, ['--input-type=module', '-e', byClient], {
        cwd: repository,
        env: { ...process.env, KEY: key },
      });
      expect(run.stdout).toMatch(/^em_[0-9a-f]{32}\n$/);
      await until('the second message arrives', program.printed, async () =>
        program.printed().includes('Sent with Resend'),
      );
    } finally {
      program.end();
    }
  },
  180_000,
);
