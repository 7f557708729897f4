import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { removeOldMail } from '../../actors/scheduling/retention.ts';
import { DAY_MS } from '../../core/shared/durations.ts';
import { KEEP_FOREVER, type Retention } from '../../core/upkeep/retention.ts';
import { startEmbeddedCluster } from '../../db/cluster/embedded-cluster.ts';
import { type Database, openDatabase } from '../../db/connection/database.ts';
import { migrate } from '../../db/migrate.ts';
import { databaseUrl, freePort, loginAs, onServer } from '../support/cluster/cluster.ts';
import { fillLargeMailbox } from '../support/rows/large-mailbox.ts';
import { fillLargeMailboxWords } from '../support/rows/large-mailbox-words.ts';
import { testActorContext } from '../support/stages/actor-context.ts';
import { describeMachine, describePostgresql } from './machine.ts';
import { percentile } from './statistics.ts';

const USER = 'usr_bench';

export const help = `Removes raw messages, then bodies, then all mail of one large mailbox: rates and longest statements.

  --messages N   default 200000`;

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { messages: { type: 'string', default: '200000' } } });
  const directory = await mkdtemp(path.join(tmpdir(), 'postroom-bench-'));
  await chmod(directory, 0o755);
  const cluster = await startEmbeddedCluster({
    directory: path.join(directory, 'cluster'),
    password: 'bench',
    port: await freePort(),
    // as on a single machine
    settings: { shared_buffers: '256MB', max_wal_size: '2GB', jit: 'off' },
  });
  const url = databaseUrl(cluster.url, 'mailbox');
  await onServer(cluster.url, 'create database mailbox');
  await migrate(url);
  const database = openDatabase({
    url: await loginAs(url, 'postroom_actor'),
    role: 'postroom_actor',
    poolSize: 2,
    applicationName: 'bench',
    onError: () => undefined,
  });
  const owner = openDatabase({ url, role: null, poolSize: 1, applicationName: 'bench', onError: () => undefined });
  try {
    describeMachine();
    await describePostgresql('the mailbox', cluster.url);
    await fill(url, Number(values.messages));
    const watch = watchStatements(database);
    const { rows } = await owner.pool.query<{ middle: Date }>(
      'select percentile_disc(0.5) within group (order by created_at) as middle from email',
    );
    const half = Math.max(1, Math.floor((Date.now() - (rows[0]?.middle.getTime() ?? 0)) / DAY_MS));
    const stages: [string, Partial<Retention>][] = [
      ['raw messages of all', { rawDays: 1 }],
      ['bodies of all', { bodyDays: 1 }],
      ['all of the older half', { metadataDays: half }],
      ['the rest', { metadataDays: 1 }],
    ];
    for (const [name, retention] of stages)
      await measure({ database, owner, watch }, name, { ...KEEP_FOREVER, ...retention });
  } finally {
    await Promise.all([database.close(), owner.close()]);
    await cluster.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

interface Subject {
  database: Database;
  owner: Database;
  watch: Watch;
}

async function measure({ database, owner, watch }: Subject, name: string, retention: Retention): Promise<void> {
  await owner.pool.query(
    `insert into retention (workspace_id, raw_days, body_days, metadata_days) values ($1, $2, $3, $4)
     on conflict (workspace_id) do update set raw_days = $2, body_days = $3, metadata_days = $4`,
    [USER, retention.rawDays, retention.bodyDays, retention.metadataDays],
  );
  await owner.pool.query('update retention_sweep set due_at = now()');
  const before = await readCounts(owner);
  watch.clear();
  const startedTick = performance.now();
  await removeOldMail(testActorContext(database), { retention: KEEP_FOREVER }, { isStopping: () => false });
  const seconds = (performance.now() - startedTick) / 1_000;
  const after = await readCounts(owner);
  const emails = Math.max(...(['raws', 'bodies', 'emails'] as const).map((of) => before[of] - after[of]));
  const { statements, transactions } = watch;
  const longest = [...statements].sort((one, other) => other.ms - one.ms)[0];
  const ms = (sample: number[], share: number) => percentile(sample, share).toFixed(0);
  console.log(
    `${name}: ${emails} emails in ${seconds.toFixed(1)} s, ${Math.round(emails / seconds)}/s with pauses; ` +
      `transaction p50 ${ms(transactions, 0.5)} ms, p99 ${ms(transactions, 0.99)} ms, longest ${ms(transactions, 1)} ms; ` +
      `longest statement ${longest?.ms.toFixed(0)} ms (${longest?.name})`,
  );
}

async function readCounts(owner: Database): Promise<Record<'raws' | 'bodies' | 'emails', number>> {
  const { rows } = await owner.pool.query<Record<'raws' | 'bodies' | 'emails', number>>(
    `select (select count(*) from raw_message) as raws, (select count(*) from email_content where text_body is not null) as bodies,
       (select count(*) from email) as emails`,
  );
  return rows[0] ?? { raws: 0, bodies: 0, emails: 0 };
}

/** What the connections of a pool did. */
interface Watch {
  statements: { name: string; ms: number }[];
  /** milliseconds from begin to commit */
  transactions: number[];
  clear(): void;
}

function watchStatements(database: Database): Watch {
  const watch: Watch = {
    statements: [],
    transactions: [],
    clear() {
      watch.statements.length = 0;
      watch.transactions.length = 0;
    },
  };
  database.pool.on('connect', (client: pg.PoolClient) => {
    const query = client.query.bind(client) as (...given: unknown[]) => Promise<unknown>;
    let begunTick = 0;
    const timed = async (...given: unknown[]) => {
      const [statement] = given;
      const name =
        typeof statement === 'string' ? statement.trim().slice(0, 40) : String((statement as { name?: string }).name);
      const startedTick = performance.now();
      if (name === 'begin') begunTick = startedTick;
      const result = await query(...given);
      watch.statements.push({ name, ms: performance.now() - startedTick });
      if (name === 'commit') watch.transactions.push(performance.now() - begunTick);
      return result;
    };
    // The pool's own query() hands a callback over and needs no response.
    client.query = ((...given: unknown[]) =>
      typeof given.at(-1) === 'function' ? query(...given) : timed(...given)) as typeof client.query;
  });
  return watch;
}

async function fill(url: string, count: number): Promise<void> {
  const startedTick = performance.now();
  await fillLargeMailbox(url, USER, count);
  await fillLargeMailboxWords(url, USER);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('set synchronous_commit = off');
  await client.query(`
    insert into raw_message (id, packed, sha256, size_bytes)
    select 'raw_' || id, convert_to(repeat(md5(id), 64), 'UTF8'), sha256(convert_to(id, 'UTF8')), 2048 from email;
    update email set raw_id = 'raw_' || id;
    insert into reception (workspace_id, email_id, raw_id, reverse_path, recipient, own_address, domain_id, remote_address, helo, is_tls,
      trace_fields, accepted_at, parsed_at)
    select workspace_id, id, raw_id, from_address, own_address, own_address, 'dom', '192.0.2.1', 'a.test', true, repeat('x', 200), created_at, created_at
    from email where type = 'received'`);
  await client.query('vacuum analyze');
  const { rows } = await client.query<{ size: string }>(
    'select pg_size_pretty(pg_database_size(current_database())) as size',
  );
  await client.end();
  console.log(
    `${count} messages, ${rows[0]?.size}, ready in ${Math.round((performance.now() - startedTick) / 1_000)} s`,
  );
}
