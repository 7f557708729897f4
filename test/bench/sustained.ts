import { parseArgs } from 'node:util';
import pg from 'pg';
import { onGround } from './ground.ts';
import type { LoadOrder, LoadReport } from './load-process.ts';
import { startSingleMachine } from './postroom-server.ts';
import { openReceivingStage, SESSIONS, waitForArrivals } from './receiving.ts';
import { percentile } from './statistics.ts';

export const help = `A steady rate for minutes: the backlog (accepted and not yet delivered) of each minute. It must not grow.

  --rate N      messages per second; default 100
  --seconds N   default 600
  --size N      bytes; default 4096`;

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '600' },
      rate: { type: 'string', default: '100' },
      size: { type: 'string', default: '4096' },
    },
  });
  await onGround(async (ground) => {
    const [seconds, rate] = [Number(values.seconds), Number(values.rate)];
    const { loader, receiver, webhookUrl } = await openReceivingStage(ground);
    const server = await startSingleMachine(ground.directory, { dnsServer: ground.dns.address });
    ground.keep(server);
    const recipient = await server.createWebhookAddress('box@bench.test', webhookUrl);
    const client = new pg.Client({ connectionString: server.databaseUrl });
    await client.connect();
    ground.keep({ stop: () => client.end() });
    const backlogs: number[] = [];
    const sample = async (second: number) => {
      const { rows } = await client.query<{ backlog: number }>(
        `select (select count(*)::int from reception where parsed_at is null)
              + (select count(*)::int from email where thread_id is null and type = 'received')
              + (select count(*)::int from route where outcome is null)
              + (select count(*)::int from delivery where status = 'pending') as backlog`,
      );
      backlogs.push(rows[0]?.backlog ?? Number.NaN);
      if (second % 60 !== 0) return;
      const minute = backlogs.slice(-60);
      console.log(
        `minute ${second / 60}: backlog median ${percentile(minute, 0.5)}, highest ${Math.max(...minute)}, memory ${server.residentMiB()} MiB`,
      );
    };
    let lastSecond = 0;
    const timer = setInterval(() => void sample(++lastSecond), 1000);
    const order: LoadOrder = {
      port: server.smtpPort,
      recipient,
      count: rate * seconds,
      sessions: SESSIONS,
      isReusingConnections: false,
      sizeBytes: Number(values.size),
      tag: 'sustained',
      perSecond: rate,
    };
    const report = await loader.ask<LoadReport>(order).finally(() => clearInterval(timer));
    const arrivals = await waitForArrivals(receiver, 'sustained', report.accepted);
    const early = percentile(backlogs.slice(60, 120), 0.5);
    const late = percentile(backlogs.slice(-60), 0.5);
    console.log(
      `${rate}/s for ${seconds} s: accepted ${report.accepted}, webhooks ${arrivals.length}, 250 p50/p99 ${percentile(report.replyMs, 0.5).toFixed(1)}/${percentile(report.replyMs, 0.99).toFixed(1)} ms; ` +
        `backlog of minute 2 median ${early}, of the last minute ${late}: ${late <= Math.max(early, rate) ? 'not growing' : 'GROWING'}`,
    );
  });
}
