import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, lstat, mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../support/cluster/cluster.ts';
import { processTree } from '../support/servers/process-tree.ts';
import { smtpReady, startServer, stopUnless, tracked } from './child.ts';
import type { Ground } from './ground.ts';
import {
  allProcesses,
  eachActorTwice,
  type PostroomServer,
  startSingleMachine,
  startSplit,
} from './postroom-server.ts';
import { makeResources, type Resources } from './resources.ts';

/** A server under test: where mail goes in, how many messages it has dealt with, and what it holds of the machine. */
export interface Contestant extends Resources {
  name: string;
  smtpPort: number;
  recipient: string;
  /** whether it posts each message to a webhook */
  isPosting: boolean;
  /** messages stored (relayed, where that is its work) since the start; null where nothing is stored */
  storedCount(): Promise<number | null>;
  /** disk space of everything stored, without PostgreSQL's log, and the log written so far. Bytes, NaN where there is none. */
  kept(): Promise<{ storedBytes: number; walBytes: number }>;
  stop(): Promise<void>;
}

export interface ReceiverOptions {
  webhookUrl: string;
  /** the cores that Postroom may use */
  cpus?: string;
  /** settings of Postroom */
  environment?: Record<string, string>;
}

const receivers: Record<string, (ground: Ground, options: ReceiverOptions) => Promise<Contestant>> = {
  haraka: ({ directory, dns }) => startBareHaraka(directory, dns.address),
  postfix: ({ directory }) => startPostfix(directory, 'maildir'),
  postroom: (ground, options) => startPostroom(ground, options),
  split: (ground, options) => startSplitPostroom('Postroom split', allProcesses, ground, options),
  twice: (ground, options) => startSplitPostroom('Postroom split, each actor twice', eachActorTwice, ground, options),
};

export const receiverNames = Object.keys(receivers);

/** Starts a server that receives mail, without any: bare Haraka, Postfix, or Postroom by its start command or as processes. */
export async function startReceiver(name: string, ground: Ground, options: ReceiverOptions): Promise<Contestant> {
  const start = receivers[name];
  if (start === undefined) throw new Error(`--only takes ${receiverNames.join(', ')}`);
  return start({ ...ground, directory: await mkdtempBelow(ground.directory) }, options);
}

/** A folder that only this start uses. */
async function mkdtempBelow(directory: string): Promise<string> {
  const folder = await mkdtemp(path.join(directory, 'server-'));
  await chmod(folder, 0o755);
  return folder;
}

const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** Haraka as it comes, taking every recipient and dropping every message: the ceiling of any SMTP front made of it. */
async function startBareHaraka(directory: string, dnsServer: string): Promise<Contestant> {
  const home = path.join(directory, 'bare-haraka');
  const smtpPort = await freePort();
  await mkdir(path.join(home, 'plugins'), { recursive: true });
  await mkdir(path.join(home, 'config'), { recursive: true });
  const write = (name: string, text: string) => writeFile(path.join(home, name), text);
  await write('package.json', '{"name":"bare-haraka","private":true,"type":"commonjs"}');
  // It looks up the name of every client; the system's resolver may take half a second over those of the load generator.
  const resolver = `require('node:dns').setServers(['${dnsServer}']);\nrequire('node:dns').promises.setServers(['${dnsServer}']);\n`;
  await write('plugins/accept.js', `${resolver}exports.hook_rcpt = (next) => next(OK);\n`);
  await write('config/plugins', 'accept\nqueue/discard\n');
  await write('config/smtp.ini', `listen=127.0.0.1:${smtpPort}\n`);
  await write('config/me', 'bare.test\n');
  await cp(path.join(root, 'node_modules/haraka/config/connection.ini'), path.join(home, 'config/connection.ini'));
  const server = await startServer(
    process.execPath,
    [path.join(root, 'node_modules/haraka/bin/haraka'), '-c', home],
    { YES_REALLY_DO_DISCARD: '1' },
    '',
  );
  await stopUnless(server, smtpReady(smtpPort));
  return {
    name: 'bare Haraka',
    smtpPort,
    recipient: 'u@bare.test',
    isPosting: false,
    kept: () => Promise.resolve({ storedBytes: Number.NaN, walBytes: Number.NaN }),
    storedCount: () => Promise.resolve(null),
    ...makeResources(() => processTree(server.child.pid ?? 0)),
    stop: () => server.stop(),
  };
}

const POSTFIX = '/usr/sbin/postfix';

/** Whether Debian's package `postfix` is installed. */
export function isPostfixThere(): boolean {
  return existsSync(POSTFIX);
}

/**
 * A Postfix of its own on loopback, stock settings, storing into a Maildir or relaying all to a port of loopback. Needs root and Debian's
 * package `postfix`, whose service need not run.
 */
export async function startPostfix(directory: string, work: 'maildir' | { relayTo: number }): Promise<Contestant> {
  const home = path.join(directory, 'postfix');
  const etc = path.join(home, 'etc');
  const smtpPort = await freePort();
  for (const folder of ['spool', 'data', 'mail']) await mkdir(path.join(home, folder), { recursive: true });
  await chmod(path.join(home, 'mail'), 0o777);
  await run('chown', ['postfix', path.join(home, 'data')]);
  await cp('/etc/postfix', etc, { recursive: true, dereference: true });
  const services = (await readFile(path.join(etc, 'master.cf'), 'utf8'))
    .replace(/^smtp +inet.*/m, `127.0.0.1:${smtpPort} inet n - n - - smtpd`)
    // No service in a chroot, which would need copies of the system's files.
    .replace(/^(\S+\s+(?:unix|inet|fifo)\s+\S+\s+\S+\s+)y/gm, '$1n');
  await writeFile(path.join(etc, 'master.cf'), services);
  await writeFile(path.join(etc, 'main.cf'), postfixSettings(home, work).join('\n'));
  await run(POSTFIX, ['-c', etc, 'check']);
  const { stop } = tracked({ stop: async () => void (await run(POSTFIX, ['-c', etc, 'stop'])) });
  await stopUnless(
    { stop },
    run(POSTFIX, ['-c', etc, 'start']).then(() => smtpReady(smtpPort)),
  );
  const master = Number((await readFile(path.join(home, 'spool/pid/master.pid'), 'utf8')).trim());
  return {
    name: 'Postfix',
    smtpPort,
    recipient: 'u@pf.test',
    isPosting: false,
    storedCount: async () => (await readFile(path.join(home, 'log'), 'utf8')).split('status=sent').length - 1,
    kept: async () => ({
      storedBytes: (await diskBytes(path.join(home, 'mail'))) + (await diskBytes(path.join(home, 'spool'))),
      walBytes: Number.NaN,
    }),
    ...makeResources(() => processTree(master)),
    stop,
  };
}

function postfixSettings(home: string, work: 'maildir' | { relayTo: number }): string[] {
  return [
    'compatibility_level = 3.6',
    `queue_directory = ${home}/spool`,
    `data_directory = ${home}/data`,
    'command_directory = /usr/sbin',
    'daemon_directory = /usr/lib/postfix/sbin',
    'mail_owner = postfix',
    'setgid_group = postdrop',
    'myhostname = pf.test',
    'mynetworks = 127.0.0.0/8',
    'inet_interfaces = 127.0.0.1',
    'inet_protocols = ipv4',
    'mydestination =',
    `maillog_file = ${home}/log`,
    `maillog_file_prefixes = ${home}`,
    'smtpd_recipient_restrictions = permit_mynetworks',
    'in_flow_delay = 0',
    // The name servers of this machine are not part of the measurement.
    'smtpd_peername_lookup = no',
    'default_destination_concurrency_limit = 20',
    ...(work === 'maildir'
      ? [
          'virtual_mailbox_domains = pf.test',
          `virtual_mailbox_base = ${home}/mail`,
          'virtual_mailbox_maps = static:box/',
          'virtual_uid_maps = static:65534',
          'virtual_gid_maps = static:65534',
          'virtual_minimum_uid = 100',
        ]
      : [`relayhost = [127.0.0.1]:${work.relayTo}`]),
    '',
  ];
}

/** Postroom by its start command, taking mail for an address that a webhook takes. */
async function startPostroom({ directory, dns }: Ground, options: ReceiverOptions): Promise<Contestant> {
  const server = await startSingleMachine(directory, { ...options, dnsServer: dns.address });
  return stopUnless(server, receiving('Postroom', server, path.join(directory, 'postroom'), options));
}

/** The same as separate processes over a real nats-server and one PostgreSQL. */
async function startSplitPostroom(
  name: string,
  processes: readonly (readonly string[])[],
  { directory, dns }: Ground,
  options: ReceiverOptions,
): Promise<Contestant> {
  const home = path.join(directory, 'split');
  const server = await startSplit(home, processes, { ...options, dnsServer: dns.address });
  return stopUnless(server, receiving(name, server, home, options));
}

async function receiving(
  name: string,
  server: PostroomServer,
  home: string,
  { webhookUrl }: ReceiverOptions,
): Promise<Contestant> {
  const recipient = await server.createWebhookAddress('box@bench.test', webhookUrl);
  return {
    ...server,
    name,
    recipient,
    isPosting: true,
    storedCount: async () => {
      const list = await server.call('GET', '/emails?type=received&time_range=all&limit=1');
      return (list['pagination'] as { total: number }).total;
    },
    kept: async () => ({
      storedBytes: await diskBytes(home),
      walBytes: await writtenLog(server.databaseUrl),
    }),
  };
}

async function writtenLog(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ bytes: string }>(
      `select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as bytes`,
    );
    return Number(rows[0]?.bytes);
  } finally {
    await client.end();
  }
}

/** Bytes that the files below a folder take of the disk, without PostgreSQL's log. A file with several names counts once. */
async function diskBytes(folder: string, seen = new Set<number>()): Promise<number> {
  let sum = 0;
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== 'pg_wal') sum += await diskBytes(file, seen);
      continue;
    }
    const stat = await lstat(file).catch(() => null);
    if (stat === null || seen.has(stat.ino)) continue;
    seen.add(stat.ino);
    // lstat(2): st_blocks counts 512 bytes
    sum += stat.blocks * 512;
  }
  return sum;
}
