import { generateKeyPair } from 'node:crypto';
import path from 'node:path';
import { promisify } from 'node:util';
import { processTree } from '../support/servers/process-tree.ts';
import { BenchChild, stopUnless } from './child.ts';
import { startPostfix } from './contestants.ts';
import type { Ground } from './ground.ts';
import type { HandInOrder, SendOrder, SendReport } from './hand-in-process.ts';
import { AUTHOR } from './messages.ts';
import type { PoolOrder } from './pool-process.ts';
import {
  allProcesses,
  eachActorTwice,
  type PostroomServer,
  startSingleMachine,
  startSplit,
} from './postroom-server.ts';
import { makeResources, type Resources } from './resources.ts';

/** Whatever takes messages and sends them to the sink. */
export interface Sender extends Resources {
  name: string;
  isSigning: boolean;
  /** Hands a round's messages in; resolves when all were taken. */
  send(order: SendOrder): Promise<SendReport>;
  /** messages that it knows the sink accepted, since the start */
  sentCount(): Promise<number>;
  /** of its PostgreSQL; null where there is none */
  databaseUrl: string | null;
  stop(): Promise<void>;
}

export interface SenderOptions extends Pick<Ground, 'directory' | 'dns'> {
  sinkPort: number;
  /** hands messages in */
  loader: BenchChild;
  /** connections of the one who hands messages in */
  connections: number;
  /** the cores that Postroom may use */
  cpus?: string;
}

const senders: Record<string, (options: SenderOptions) => Promise<Sender>> = {
  pool: startPool,
  postfix: startRelayingPostfix,
  postroom: startSendingPostroom,
  split: (options) => startSendingSplit('Postroom split', allProcesses, options),
  twice: (options) => startSendingSplit('Postroom split, each actor twice', eachActorTwice, options),
};

export const senderNames = Object.keys(senders);

export function startSender(name: string, options: SenderOptions): Promise<Sender> {
  const start = senders[name];
  if (start === undefined) throw new Error(`--only takes ${senderNames.join(', ')}`);
  return start(options);
}

const SELECTOR = 'pool';
/** Bits of the pool's key, as those of Postroom. */
const KEY_BITS = 2048;

/** A bare nodemailer pool, stock settings, signing. */
async function startPool(options: SenderOptions): Promise<Sender> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: KEY_BITS });
  const record = `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;
  options.dns.set(`${SELECTOR}._domainkey.${AUTHOR.domain}`, 'TXT', [record]);
  const dkim = {
    domainName: AUTHOR.domain,
    keySelector: SELECTOR,
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
  const pool = new BenchChild('./pool-process.ts');
  await pool.readResponse<{ ready: true }>();
  let sent = 0;
  return {
    name: 'nodemailer pool',
    isSigning: true,
    databaseUrl: null,
    ...makeResources(() => processTree(pool.pid)),
    async send(order) {
      const report = await pool.ask<SendReport>({ ...order, sinkPort: options.sinkPort, dkim } satisfies PoolOrder);
      sent += order.count - report.failures.length;
      return report;
    },
    sentCount: () => Promise.resolve(sent),
    stop: () => Promise.resolve(pool.stop()),
  };
}

/** Postfix that relays all to the sink, stock settings; messages go in by SMTP. */
async function startRelayingPostfix(options: SenderOptions): Promise<Sender> {
  const postfix = await startPostfix(options.directory, { relayTo: options.sinkPort });
  return {
    ...postfix,
    isSigning: false,
    databaseUrl: null,
    send: (order) =>
      options.loader.ask<SendReport>({
        ...order,
        way: 'smtp',
        port: postfix.smtpPort,
        connections: options.connections,
      } satisfies HandInOrder),
    sentCount: async () => (await postfix.storedCount()) ?? 0,
  };
}

/** Postroom by its start command; messages go in by POST /api/e2/emails and out by the MX record of the sink's domain. */
async function startSendingPostroom(options: SenderOptions): Promise<Sender> {
  const server = await startSingleMachine(options.directory, postroomOptions(options));
  return stopUnless(server, sending('Postroom', server, options));
}

/** The same as separate processes over a real nats-server and one PostgreSQL. */
async function startSendingSplit(
  name: string,
  processes: readonly (readonly string[])[],
  options: SenderOptions,
): Promise<Sender> {
  const server = await startSplit(path.join(options.directory, 'split'), processes, postroomOptions(options));
  return stopUnless(server, sending(name, server, options));
}

function postroomOptions({ dns, sinkPort, cpus }: SenderOptions) {
  const environment = { OUTBOUND_PORT: String(sinkPort) };
  return { dnsServer: dns.address, environment, ...(cpus === undefined ? {} : { cpus }) };
}

async function sending(name: string, server: PostroomServer, options: SenderOptions): Promise<Sender> {
  const domain = await server.call('POST', '/domains', { domain: AUTHOR.domain });
  const records = domain['dnsRecords'] as { type: string; name: string; value: string }[];
  const keys = records.filter((record) => record.name.includes('._domainkey.'));
  for (const { type, name: owner, value } of keys) options.dns.set(owner, type, [value]);
  return {
    ...server,
    name,
    isSigning: keys.length > 0,
    send: (order) =>
      options.loader.ask<SendReport>({
        ...order,
        way: 'rest',
        port: server.httpPort,
        apiKey: server.apiKey,
        connections: options.connections,
      } satisfies HandInOrder),
    sentCount: async () => {
      const list = await server.call('GET', '/emails?type=sent&status=delivered&time_range=all&limit=1');
      return (list['pagination'] as { total: number }).total;
    },
  };
}
