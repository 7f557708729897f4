import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import pg from 'pg';
import { hasCorpora, readEmlMessages, readThreadSet, threadSets } from '../support/mail/corpora.ts';
import { onGround } from './ground.ts';
import { describeMachine } from './machine.ts';
import { startSingleMachine } from './postroom-server.ts';
import { Meter } from './resources.ts';

const root = path.resolve(import.meta.dirname, '../..');
const execute = promisify(execFile);

export const help = `Imports a Maildir of real messages by \`postroom import\`, and again, until the last one is in its thread.

  --messages N   default 10000; the corpora are repeated, each message with a number
  --cpus LIST    the cores that Postroom may use (taskset): 0 or 0,1`;

interface Result {
  imported: number;
  duplicates: number;
  refused: unknown[];
  seconds: number;
}

/** Prints rates to the last acceptance, and to the last thread. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { messages: { type: 'string', default: '10000' }, cpus: { type: 'string' } },
  });
  if (!hasCorpora) throw new Error('the corpora are missing: set CORPORA_DIR');
  describeMachine();
  await onGround(async (ground) => {
    const folder = path.join(ground.directory, 'maildir');
    const bytes = await writeMaildir(folder, Number(values.messages));
    console.log(`${values.messages} messages, ${(bytes / 1e6).toFixed(0)} MB`);
    const cpus = values.cpus === undefined ? {} : { cpus: values.cpus };
    const server = await startSingleMachine(ground.directory, { dnsServer: ground.dns.address, ...cpus });
    ground.keep(server);
    const address = await server.createWebhookAddress('box@bench.test', 'http://127.0.0.1:18999/');
    const environment = { POSTROOM_URL: `http://127.0.0.1:${server.httpPort}`, POSTROOM_KEY: server.apiKey };
    for (const round of ['first', 'again']) {
      const meter = new Meter(server);
      const startedTick = performance.now();
      const command = ['bin/postroom.ts', 'import', 'maildir', folder, '--address', address, '--json'];
      const { stdout } = await execute(process.execPath, command, {
        cwd: root,
        env: { ...process.env, ...environment },
      });
      const result = JSON.parse(stdout) as Result;
      await threaded(server.databaseUrl);
      const seconds = (performance.now() - startedTick) / 1_000;
      const { cpuSeconds, byProgram, foreignPercent } = meter.end();
      const cpu = ((cpuSeconds * 1_000) / Number(values.messages)).toFixed(2);
      const rate = (of: number) => `${((result.imported + result.duplicates) / of).toFixed(0)}/s`;
      const counts = `imported ${result.imported}, already there ${result.duplicates}, refused ${result.refused.length}`;
      console.log(`${round}: ${counts}; accepted at ${rate(result.seconds)}, threaded at ${rate(seconds)}`);
      console.log(
        `CPU of the server per message ${cpu} ms (${byProgram(Number(values.messages))}); other processes used ${foreignPercent.toFixed(0)} % of the machine`,
      );
    }
  });
}

/** Every second message is read. Returns the bytes. */
async function writeMaildir(folder: string, count: number): Promise<number> {
  const sets = await Promise.all(threadSets.map(readThreadSet));
  const messages = [...(await readEmlMessages()), ...sets.flatMap((set) => set.messages)];
  await mkdir(path.join(folder, 'cur'), { recursive: true });
  let sum = 0;
  for (let n = 0; n < count; n++) {
    const message = messages[n % messages.length];
    if (message === undefined) throw new Error('the corpora are empty');
    const bytes = Buffer.concat([Buffer.from(`X-Number: ${n}\n`), message.bytes]);
    sum += bytes.length;
    await writeFile(path.join(folder, 'cur', `${n}.bench:2,${n % 2 === 0 ? 'S' : ''}`), bytes);
  }
  return sum;
}

/** Resolves when no accepted message waits for its email or its thread. */
async function threaded(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (;;) {
      const { rows } = await client.query<{ open: boolean }>(
        `select exists (select from reception where parsed_at is null)
           or exists (select from email where thread_id is null and type = 'received') as open`,
      );
      if (rows[0]?.open === false) return;
      await pause(50);
    }
  } finally {
    await client.end();
  }
}
