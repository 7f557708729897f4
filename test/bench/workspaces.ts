import { createHash } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { checkRecipient } from '../../actors/receiving/check-recipient.ts';
import { startEmbeddedCluster } from '../../db/cluster/embedded-cluster.ts';
import { type Database, openDatabase } from '../../db/connection/database.ts';
import { findCredentialOwner } from '../../db/queries/accounts/credential.ts';
import { databaseUrl, freePort } from '../support/cluster/cluster.ts';
import { recipientCheck } from '../support/rows/sent-mail.ts';
import { seededRandom } from '../support/rows/thread-mail.ts';
import { describeMachine, describePostgresql } from './machine.ts';
import { cpuClock, type Mailbox, openMailbox, type Reading, readings, USER } from './mailboxes.ts';
import { percentile } from './statistics.ts';

/** Median with many workspaces and members over that with one, in CPU time. */
const MAX_RATIO = 1.2;
const COMPARED = ['list', 'list-behind', 'unread', 'emails-thousandth', 'inbox-every', 'inbox-sender'];
const KEY = 'key of the bench';

export const help = `Lists, searches and admission in a workspace with 50 members beside 10,000 other workspaces, and in the only workspace of a service
with one person, in turn. Prints the p50 and p99 of the CPU time of PostgreSQL and of this process for each, and the ratio of the p50.
Exits with 1 if a ratio is over ${MAX_RATIO}.

  --messages N       in the mailbox; default 20000
  --workspaces N     default 10000
  --members N        default 50
  --operations N     of each kind; default 500`;

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      messages: { type: 'string', default: '20000' },
      workspaces: { type: 'string', default: '10000' },
      members: { type: 'string', default: '50' },
      operations: { type: 'string', default: '500' },
    },
  });
  const messages = Number(values.messages);
  describeMachine();
  const directory = await mkdtemp(path.join(tmpdir(), 'postroom-bench-'));
  await chmod(directory, 0o755);
  const cluster = await startEmbeddedCluster({
    directory: path.join(directory, 'cluster'),
    password: 'bench',
    port: await freePort(),
    // as on a single machine
    settings: { shared_buffers: '256MB', max_wal_size: '2GB', jit: 'off' },
  });
  const mailboxes: Mailbox[] = [];
  try {
    await describePostgresql('the mailboxes', cluster.url);
    // One message more, so that the database has another name.
    for (const count of [messages, messages + 1]) mailboxes.push(await openMailbox(cluster.url, count));
    const [alone, among] = mailboxes;
    if (alone === undefined || among === undefined) throw new Error('unreachable');
    await fill(databaseUrl(cluster.url, `mailbox_${messages}`), { workspaces: 0, members: 0 });
    const size = { workspaces: Number(values.workspaces), members: Number(values.members) };
    await fill(databaseUrl(cluster.url, `mailbox_${messages + 1}`), size);
    let isSlow = false;
    for (const reading of [...readings.filter(({ id }) => COMPARED.includes(id)), ...admissions])
      isSlow = (await compare({ alone, among }, reading, Number(values.operations))) > MAX_RATIO || isSlow;
    if (isSlow) process.exitCode = 1;
  } finally {
    await Promise.all(
      mailboxes.flatMap(({ actor, gateway, writer }) => [actor.close(), gateway.close(), writer.close()]),
    );
    await cluster.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** What a request and a recipient cost before anything is done for them. */
const admissions: readonly Reading[] = [
  {
    id: 'key',
    work: 'look up of an API key',
    run: ({ gateway }) => findCredentialOwner(gateway, createHash('sha256').update(KEY).digest()),
  },
  {
    id: 'recipient',
    work: 'check of a recipient (RCPT)',
    run: ({ actor }) => checkRecipient(recipientCheck(actor), 'hello@bench.test', 'ada@elsewhere.test'),
  },
];

/** Gives the workspace of the bench a key, a domain and members, and adds other workspaces, each with a key, a domain, an address and quotas. */
async function fill(url: string, { workspaces, members }: { workspaces: number; members: number }): Promise<void> {
  const owner = openDatabase({
    url,
    role: null,
    poolSize: 1,
    applicationName: 'bench',
    onError: () => undefined,
    statementTimeoutMs: null,
  });
  const { pool } = owner;
  await pool.query('set session_replication_role = replica');
  await pool.query(
    `insert into api_key (id, workspace_id, name, secret_sha256) values ('key_bench', $1, 'bench', sha256(convert_to($2, 'UTF8')))`,
    [USER, KEY],
  );
  await pool.query(`insert into workspace (id, name) values ($1, 'bench') on conflict do nothing`, [USER]);
  await addWorkspaces(owner, `select $1::text as id, 'bench.test' as name`, [USER]);
  await pool.query(
    `with person as (
       insert into person (id, email) select 'usr_member' || n, 'member' || n || '@bench.test' from generate_series(1, $2) n returning id)
     insert into workspace_member (workspace_id, person_id, role, joined_at) select $1, id, 'agent', now() from person`,
    [USER, members],
  );
  const others = `select 'wsp_' || n as id, 'bench' || n || '.test' as name from generate_series(1, $1) n`;
  await pool.query(
    `insert into workspace (id, name, parent_id, client_id, quotas)
     select o.id, o.name, $2, o.id, '{"mailPerDay": 1000, "storedBytes": 1000000000}' from (${others}) o`,
    [workspaces, USER],
  );
  await addWorkspaces(owner, others, [workspaces]);
  await pool.query(
    `insert into api_key (id, workspace_id, name, secret_sha256)
     select 'key_' || o.id, o.id, 'bench', sha256(convert_to(o.id, 'UTF8')) from (${others}) o`,
    [workspaces],
  );
  await pool.query(
    `insert into thread_read (workspace_id, thread_id, person_id, read_until, set_at)
     select $1, t.id, 'usr_member' || n, t.last_message_at, now()
     from generate_series(1, $2) n cross join lateral (select id, last_message_at from thread where workspace_id = $1 order by last_message_at desc limit 200) t`,
    [USER, members],
  );
  await pool.query('analyze');
  await owner.close();
}

/** Adds a verified domain and an address to each of the selected workspaces. */
async function addWorkspaces({ pool }: Database, selected: string, values: unknown[]): Promise<void> {
  await pool.query(
    `insert into domain (workspace_id, id, name, status, is_trusted, verified_at, is_catch_all_enabled)
     select o.id, 'dom_' || o.id, o.name, 'verified', true, now(), false from (${selected}) o`,
    values,
  );
  await pool.query(
    `insert into verified_domain_name (name, workspace_id, domain_id) select o.name, o.id, 'dom_' || o.id from (${selected}) o`,
    values,
  );
  await pool.query(
    `insert into email_address (workspace_id, id, domain_id, address, is_active)
     select o.id, 'addr_' || o.id, 'dom_' || o.id, 'hello@' || o.name, true from (${selected}) o`,
    values,
  );
  await pool.query(
    `insert into email_address_name (address, workspace_id, address_id) select 'hello@' || o.name, o.id, 'addr_' || o.id from (${selected}) o`,
    values,
  );
}

/** Runs the operation in each service in turn; a fifth more, first and not counted, warms connections and plans. Returns the ratio of the medians. */
async function compare(
  pair: { alone: Mailbox; among: Mailbox },
  { id, work, run: read, prepare }: Reading,
  operations: number,
): Promise<number> {
  const random = seededRandom(99);
  const cpuMs: Record<keyof typeof pair, number[]> = { alone: [], among: [] };
  const sides = await Promise.all(
    (['alone', 'among'] as const).map(async (name) => {
      const mailbox = pair[name];
      return { name, mailbox, clock: await cpuClock(id === 'recipient' ? mailbox.actor : mailbox.gateway) };
    }),
  );
  for (let at = -Math.ceil(operations / 5); at < operations; at++)
    for (const { name, mailbox, clock } of sides) {
      await prepare?.(mailbox, random);
      const before = clock();
      const own = process.cpuUsage();
      await read(mailbox, random);
      const { user, system } = process.cpuUsage(own);
      if (at >= 0) cpuMs[name].push(clock() - before + (user + system) / 1_000);
    }
  const shown = (samples: readonly number[]) =>
    `p50 ${percentile([...samples], 0.5).toFixed(2)} ms, p99 ${percentile([...samples], 0.99).toFixed(2)} ms`;
  const ratio = percentile(cpuMs.among, 0.5) / percentile(cpuMs.alone, 0.5);
  console.log(`${work}: alone ${shown(cpuMs.alone)}; among many ${shown(cpuMs.among)}; ratio ${ratio.toFixed(2)}`);
  return ratio;
}
