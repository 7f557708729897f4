import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startDnsServer } from '../support/servers/dns.ts';
import { singleMachineDatabaseUrl } from '../support/single-machine.ts';
import { BenchChild } from './child.ts';
import { startPostroom } from './contestants.ts';
import type { LoadOrder, LoadReport } from './load-process.ts';
import { percentile } from './statistics.ts';

/** A steady rate for minutes: the backlog (accepted and not yet delivered) of each minute; it must not grow. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '600' },
      rate: { type: 'string', default: '100' },
      size: { type: 'string', default: '4096' },
    },
  });
  const [seconds, rate] = [Number(values.seconds), Number(values.rate)];
  const directory = await mkdtemp(path.join(tmpdir(), 'postroom-sustained-'));
  await chmod(directory, 0o755);
  const receiver = new BenchChild('./receiver-process.ts');
  const { port } = await receiver.answer<{ port: number }>();
  const dns = await startDnsServer();
  dns.set('load.test', 'TXT', ['v=spf1 ip4:127.0.0.1 -all']);
  const postroom = await startPostroom(directory, {
    webhookUrl: `http://127.0.0.1:${port}/hook`,
    dnsServer: `127.0.0.1:${dns.port}`,
  });
  const client = new pg.Client({ connectionString: await singleMachineDatabaseUrl(path.join(directory, 'postroom')) });
  await client.connect();
  const backlogs: number[] = [];
  let lastSecond = 0;
  const sample = async (second: number) => {
    const { rows } = await client.query<{ backlog: number }>(
      `select (select count(*)::int from reception where parsed_at is null)
            + (select count(*)::int from email where thread_id is null and type = 'received')
            + (select count(*)::int from route where outcome is null)
            + (select count(*)::int from delivery where status = 'pending') as backlog`,
    );
    backlogs.push(rows[0]?.backlog ?? Number.NaN);
    if (second % 60 === 0) {
      const minute = backlogs.slice(-60);
      console.log(
        `minute ${second / 60}: backlog median ${percentile(minute, 0.5)}, highest ${Math.max(...minute)}, rss ${postroom.residentMiB()} MiB`,
      );
    }
  };
  const timer = setInterval(() => void sample(++lastSecond), 1000);
  const loader = new BenchChild('./load-process.ts');
  try {
    const report = await loader.ask<LoadReport>({
      port: postroom.smtpPort,
      recipient: postroom.recipient,
      count: rate * seconds,
      sessions: 20,
      isReusingConnections: false,
      sizeBytes: Number(values.size),
      tag: 'sustained',
      perSecond: rate,
    } satisfies LoadOrder);
    clearInterval(timer);
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    const { count } = await receiver.ask<{ count: number }>({ countOf: 'sustained' });
    const early = percentile(backlogs.slice(60, 120), 0.5);
    const late = percentile(backlogs.slice(-60), 0.5);
    console.log(
      `${rate}/s for ${seconds} s: accepted ${report.accepted}, webhooks ${count}, 250 p50/p99 ${percentile(report.replyMs, 0.5).toFixed(1)}/${percentile(report.replyMs, 0.99).toFixed(1)} ms; ` +
        `backlog of minute 2 median ${early}, of the last minute ${late}: ${late <= Math.max(early, rate) ? 'not growing' : 'GROWING'}`,
    );
  } finally {
    clearInterval(timer);
    loader.stop();
    receiver.stop();
    await client.end();
    await postroom.stop();
    await dns.stop();
    await rm(directory, { recursive: true, force: true });
  }
}
