import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { Agent } from 'undici';
import { startDeliveryActor } from '../../actors/delivery/actor.ts';
import { buildWebhookPayload } from '../../core/webhook-payload.ts';
import { webhookHeaders } from '../../core/webhook-signature.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { startEmbeddedCluster } from '../../db/embedded-cluster.ts';
import { migrate } from '../../db/migrate.ts';
import { createOctetStore } from '../../db/octet-store.ts';
import { testActorContext } from '../support/actor-context.ts';
import { freePort } from '../support/cluster.ts';
import { insertReceivedMail, type ReceivedMail } from '../support/received-mail.ts';
import { createMailbox, type TestMailbox } from '../support/routing-rows.ts';
import { BenchChild } from './child.ts';
import { describeMachine, describePostgresql } from './machine.ts';
import { spread } from './statistics.ts';

/** Requests at once of the bare client: what the actor opens to one endpoint. */
const BARE_CONCURRENCY = 10;

interface Round {
  perSecond: number;
  cpuMs: { own: number; postgresql: number };
}

/** Routed mail to webhooks, beside bare undici that posts the same bodies to the same receiver; alternating, medians printed. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '5' },
      count: { type: 'string', default: '5000' },
      octets: { type: 'string', default: '4096' },
      // octets of the messages are in memory, as after their arrival, or must be read from PostgreSQL, as in a backlog
      cold: { type: 'boolean', default: false },
    },
  });
  const count = Number(values.count);
  const directory = await mkdtemp(path.join(tmpdir(), 'postroom-bench-'));
  await chmod(directory, 0o755);
  const cluster = await startEmbeddedCluster({
    directory: path.join(directory, 'cluster'),
    password: randomBytes(12).toString('hex'),
    port: await freePort(),
  });
  const receiver = new BenchChild('./receiver-process.ts');
  const { port } = await receiver.answer<{ port: number }>();
  const url = `http://127.0.0.1:${port}/hook`;
  await migrate(cluster.url);
  const database = openDatabase({
    url: cluster.url,
    role: 'postroom_actor',
    poolSize: 6,
    applicationName: 'bench',
    onError: () => undefined,
  });
  describeMachine();
  await describePostgresql('the actor', cluster.url);
  const ours: Round[] = [];
  const bare: Round[] = [];
  try {
    const mailbox = await createMailbox(database, {
      domain: 'bench.test',
      address: 'hello@bench.test',
      endpointUrl: url,
    });
    for (let round = 0; round <= Number(values.rounds); round++) {
      const mail = await insertReceivedMail(database, mailbox, {
        count,
        textOctets: Number(values.octets),
        tag: `ours${round}`,
      });
      await database.pool.query('analyze');
      const delivered = await deliver(database, receiver, cluster.port, mail, `ours${round}`, values.cold);
      const posted = await postBare(url, mailbox, mail, receiver, `bare${round}`);
      console.log(`round ${round}: ${describe(delivered)} | bare undici ${describe(posted)}`);
      // round 0 warms everything and is not counted
      if (round > 0) {
        ours.push(delivered);
        bare.push(posted);
      }
    }
    const rate = (rounds: Round[]) => rounds.map((one) => one.perSecond);
    console.log(`deliveries/s ${spread(rate(ours))}, bare undici ${spread(rate(bare))}`);
    console.log(
      `ratio ${spread(
        ours.map((one, at) => one.perSecond / (bare[at]?.perSecond ?? Number.NaN)),
        2,
      )}`,
    );
    console.log(
      `CPU ms per delivery: own ${spread(
        ours.map((one) => one.cpuMs.own),
        3,
      )}, PostgreSQL ${spread(
        ours.map((one) => one.cpuMs.postgresql),
        3,
      )}, bare ${spread(
        bare.map((one) => one.cpuMs.own),
        3,
      )}`,
    );
  } finally {
    receiver.stop();
    await database.close();
    await cluster.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function deliver(
  database: Database,
  receiver: BenchChild,
  postgresqlPort: number,
  mail: ReceivedMail[],
  tag: string,
  isCold: boolean,
): Promise<Round> {
  const context = {
    ...testActorContext(database),
    octets: createOctetStore({ database, log: pino({ level: 'silent' }) }),
  };
  if (!isCold) for (const { rawId, raw } of mail) context.octets.keep(rawId, raw);
  const serverBefore = postgresqlCpuMs(postgresqlPort);
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.timeOrigin + performance.now();
  const actor = await startDeliveryActor(context, {
    publicUrl: 'https://mail.example.test',
    allowedPrivateNetworks: ['127.0.0.0/8'],
    refusedPorts: [],
    secretKey: new Uint8Array(32),
  });
  const endedAt = await lastArrival(receiver, tag, mail.length);
  for (;;) {
    const { rows } = await database.pool.query(`select 1 from delivery where status = 'pending' limit 1`);
    if (rows.length === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const cpu = process.cpuUsage(cpuBefore);
  const round = {
    perSecond: (mail.length * 1_000) / (endedAt - startedAt),
    cpuMs: {
      own: (cpu.user + cpu.system) / 1_000 / mail.length,
      postgresql: (postgresqlCpuMs(postgresqlPort) - serverBefore) / mail.length,
    },
  };
  await actor.stop();
  return round;
}

async function postBare(
  url: string,
  mailbox: TestMailbox,
  mail: ReceivedMail[],
  receiver: BenchChild,
  tag: string,
): Promise<Round> {
  const requests = mail.map(({ emailId, raw }, n) => {
    const text = raw.toString('utf8').split('\r\n\r\n')[1] ?? '';
    const addresses = { from: null, to: null, cc: null, bcc: null, replyTo: null };
    const options = { payload: 'nested', maxPayloadOctets: 4_000_000, attachments: 'content' } as const;
    const payload = buildWebhookPayload(options, {
      userId: mailbox.userId,
      linkKey: new Uint8Array(32),
      timestamp: new Date(),
      email: {
        id: emailId,
        messageId: '',
        subject: '',
        recipient: '',
        receivedAt: new Date(),
        date: null,
        threadId: '',
        threadPosition: 0,
      },
      content: {
        headers: [],
        addresses,
        inReplyTo: [],
        references: [],
        textBody: text,
        htmlBody: null,
        cleanedText: text,
        cleanedHtml: null,
        attachments: [],
        priority: null,
        isTruncated: false,
      },
      raw,
      endpoint: { id: mailbox.endpointId ?? '', name: 'test', type: 'webhook' },
      publicUrl: '',
    });
    const body = Buffer.from(payload);
    const headers = webhookHeaders({
      deliveryId: `dlv_${n}`,
      endpointId: mailbox.endpointId ?? '',
      emailId,
      messageId: `<${tag}.${n}@bench.test>`,
      body,
      sentAt: new Date(),
      verificationToken: 'a'.repeat(64),
      signatureScheme: 'token',
      secrets: [],
      customHeaders: {},
    });
    return { body, headers };
  });
  const agent = new Agent();
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.timeOrigin + performance.now();
  let next = 0;
  const session = async () => {
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      const response = await agent.request({ origin: new URL(url).origin, path: '/hook', method: 'POST', ...request });
      await response.body.dump();
    }
  };
  await Promise.all(Array.from({ length: BARE_CONCURRENCY }, session));
  const endedAt = await lastArrival(receiver, tag, mail.length);
  const cpu = process.cpuUsage(cpuBefore);
  await agent.close();
  return {
    perSecond: (mail.length * 1_000) / (endedAt - startedAt),
    cpuMs: { own: (cpu.user + cpu.system) / 1_000 / mail.length, postgresql: 0 },
  };
}

async function lastArrival(receiver: BenchChild, tag: string, count: number): Promise<number> {
  const deadline = Date.now() + 120_000;
  while (Date.now() < deadline) {
    if ((await receiver.ask<{ count: number }>({ countOf: tag })).count >= count) {
      const { arrivals } = await receiver.ask<{ arrivals: [string, number][] }>({ arrivalsOf: tag });
      return Math.max(...arrivals.map(([, at]) => at));
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`webhooks of ${tag} did not all arrive`);
}

function describe(round: Round): string {
  return `${round.perSecond.toFixed(0)}/s, CPU own ${round.cpuMs.own.toFixed(3)} ms, PostgreSQL ${round.cpuMs.postgresql.toFixed(3)} ms`;
}

/** CPU time of the server on that port and all its processes, by their command lines and parents in /proc; milliseconds. */
function postgresqlCpuMs(port: number): number {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const stats = new Map<string, { parent: string; ms: number }>();
  let postmaster = '';
  for (const pid of processes) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      // a clock tick is 10 ms; ended children count in their parent
      const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0);
      stats.set(pid, { parent: fields[1] ?? '', ms: ticks * 10 });
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (line.includes('postgres') && line.includes('-D') && line.includes(String(port))) postmaster = pid;
    } catch {
      // it ended meanwhile
    }
  }
  let sum = 0;
  for (const [pid, { parent, ms }] of stats) if (pid === postmaster || parent === postmaster) sum += ms;
  return sum;
}
