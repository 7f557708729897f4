import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../support/cluster/cluster.ts';
import { processTree } from '../support/servers/process-tree.ts';
import { startServer } from './child.ts';
import {
  allProcesses,
  type PostroomOptions,
  type PostroomServer,
  startSingleMachine,
  startSplit,
} from './postroom-server.ts';
import { type Resources, resourcesOf } from './resources.ts';
import { smtpReady } from './smtp-ready.ts';

/** A server under test: where mail goes in, how many messages it has dealt with, and what it holds of the machine. */
export interface Contestant extends Resources {
  name: string;
  smtpPort: number;
  recipient: string;
  /** messages stored (relayed, where that is its work) since the start; null where nothing is stored */
  storedCount(): Promise<number | null>;
  stop(): Promise<void>;
}

const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** Haraka as it comes, taking every recipient and dropping every message: the ceiling of any SMTP front made of it. */
export async function startBareHaraka(directory: string): Promise<Contestant> {
  const home = path.join(directory, 'bare-haraka');
  const smtpPort = await freePort();
  await mkdir(path.join(home, 'plugins'), { recursive: true });
  await mkdir(path.join(home, 'config'), { recursive: true });
  const write = (name: string, text: string) => writeFile(path.join(home, name), text);
  await write('package.json', '{"name":"bare-haraka","private":true,"type":"commonjs"}');
  await write('plugins/accept.js', 'exports.hook_rcpt = (next) => next(OK);\n');
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
  await smtpReady(smtpPort);
  return {
    name: 'bare Haraka',
    smtpPort,
    recipient: 'u@bare.test',
    storedCount: () => Promise.resolve(null),
    ...resourcesOf(() => processTree(server.child.pid ?? 0)),
    stop: () => server.stop(),
  };
}

/** Postfix storing into a Maildir, or relaying all to a port of loopback; needs PEERS_DIR (default ../shared/peers) and Debian's package. */
export async function startPostfix(directory: string, work: 'maildir' | { relayTo: number }): Promise<Contestant> {
  const script = path.join(process.env['PEERS_DIR'] ?? path.join(root, '../shared/peers'), 'postfix');
  const home = path.join(directory, 'postfix');
  const smtpPort = await freePort();
  await mkdir(home, { recursive: true });
  await chmod(directory, 0o755);
  const words = work === 'maildir' ? ['maildir'] : ['relay', String(work.relayTo)];
  await run(script, ['start', home, String(smtpPort), ...words]);
  await smtpReady(smtpPort);
  const master = Number((await readFile(path.join(home, 'spool/pid/master.pid'), 'utf8')).trim());
  return {
    name: 'Postfix',
    smtpPort,
    recipient: 'u@pf.test',
    storedCount: async () => Number((await run(script, ['done', home])).stdout.trim()),
    ...resourcesOf(() => processTree(master)),
    stop: async () => {
      await run(script, ['stop', home]);
    },
  };
}

export interface ReceivingOptions extends PostroomOptions {
  webhookUrl: string;
}

/** Postroom by its start command, taking mail for an address that a webhook takes. */
export async function startPostroom(directory: string, options: ReceivingOptions): Promise<Contestant> {
  return receiving('Postroom', await startSingleMachine(directory, options), options);
}

/** The same as separate processes over a real nats-server and one PostgreSQL. */
export async function startSplitPostroom(directory: string, options: ReceivingOptions): Promise<Contestant> {
  return receiving('Postroom split', await startSplit(path.join(directory, 'split'), allProcesses, options), options);
}

async function receiving(name: string, server: PostroomServer, { webhookUrl }: ReceivingOptions): Promise<Contestant> {
  const domain = await server.call('POST', '/domains', { domain: 'bench.test' });
  const config = { url: webhookUrl };
  const endpoint = await server.call('POST', '/endpoints', { name: 'bench', type: 'webhook', config });
  const address = 'box@bench.test';
  await server.call('POST', '/email-addresses', { address, domainId: domain['id'], endpointId: endpoint['id'] });
  return {
    ...server,
    name,
    recipient: address,
    storedCount: async () => {
      const list = await server.call('GET', '/emails?type=received&time_range=all&limit=1');
      return (list['pagination'] as { total: number }).total;
    },
  };
}
