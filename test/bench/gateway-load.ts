import { parseArgs } from 'node:util';
import { onGround } from './ground.ts';
import type { HttpLoadResult } from './http-load.ts';
import type { HttpOrder } from './http-load-process.ts';
import type { LoadOrder, LoadReport } from './load-process.ts';
import { describeMachine } from './machine.ts';
import { startSingleMachine } from './postroom-server.ts';
import { newTag, openReceivingStage, SESSIONS, waitForArrivals } from './receiving.ts';
import { percentile } from './statistics.ts';

export const help = `Whether requests delay SMTP: the time from the first byte of a message to its 250 at a steady rate, alone and while clients read lists as fast as the gateway returns them, in turn.

  --rate N          messages per second; default 20
  --count N         messages of a round; default 300
  --connections N   of HTTP clients, one request in flight on each; default 20
  --rounds N        default 2`;

/** Mail that the lists contain. */
const LISTED = 300;
/** Requests of one order; orders follow each other until the messages of the round are accepted. */
const REQUESTS = 200;

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rate: { type: 'string', default: '20' },
      count: { type: 'string', default: '300' },
      connections: { type: 'string', default: '20' },
      rounds: { type: 'string', default: '2' },
    },
  });
  const perSecond = Number(values.rate);
  describeMachine();
  await onGround(async (ground) => {
    const { loader, receiver, webhookUrl } = await openReceivingStage(ground);
    const clients = ground.child('./http-load-process.ts');
    await clients.readResponse();
    const server = await startSingleMachine(ground.directory, { dnsServer: ground.dns.address });
    ground.keep(server);
    const recipient = await server.createWebhookAddress('box@bench.test', webhookUrl);
    const offer = async (count: number, rate?: number) => {
      const tag = newTag();
      const order: LoadOrder = {
        port: server.smtpPort,
        recipient,
        count,
        sessions: SESSIONS,
        isReusingConnections: false,
        sizeBytes: 4_096,
        tag,
        ...(rate === undefined ? {} : { perSecond: rate }),
      };
      const report = await loader.ask<LoadReport>(order);
      await waitForArrivals(receiver, tag, report.accepted);
      return report.replyMs;
    };
    const requests: HttpOrder = {
      port: server.httpPort,
      count: REQUESTS,
      connections: Number(values.connections),
      apiKey: server.apiKey,
      path: '/api/e2/emails?limit=100',
      post: null,
    };
    await offer(LISTED);
    for (let round = 1; round <= Number(values.rounds); round++) {
      tell(`round ${round}, alone`, await offer(Number(values.count), perSecond));
      let isOver = false;
      let served = 0;
      const load = (async () => {
        while (!isOver) served += (await clients.ask<HttpLoadResult>(requests)).endedAt.length;
      })();
      const startedAt = performance.now();
      const replyMs = await offer(Number(values.count), perSecond);
      const seconds = (performance.now() - startedAt) / 1_000;
      isOver = true;
      await load;
      tell(`round ${round}, beside ${(served / seconds).toFixed(0)} lists per second`, replyMs);
    }
  });
}

function tell(when: string, replyMs: number[]): void {
  const [p50, p99] = [0.5, 0.99].map((part) => percentile(replyMs, part).toFixed(0));
  console.log(`${when}: 250 p50 ${p50} ms, p99 ${p99} ms`);
}
