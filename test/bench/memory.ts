import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { onGround } from './ground.ts';
import type { LoadOrder, LoadReport } from './load-process.ts';
import { describeMachine } from './machine.ts';
import { createMemoryGroup } from './memory-group.ts';
import { startSingleMachine } from './postroom-server.ts';
import { openReceivingStage, SESSIONS, waitForArrivals } from './receiving.ts';
import { memoryByProgram } from './resources.ts';
import { percentile } from './statistics.ts';

export const help = `npm start on a machine with 1 GB: the memory (proportional set) of each process at rest and under a steady load, in a control group with that limit.
Exit status 1 if the kernel killed a process, or a message was not accepted or not delivered.

  --limit-mb N       of the control group; default 1024; 0: none
  --rate N           messages per second; default 50
  --seconds N        default 600
  --size N           bytes; default 4096
  --rest-seconds N   until the memory at rest is read; default 35, in which a process returns the memory of its start to the system
  --short            for 30 seconds`;

/** How often the memory is read under load. Milliseconds. */
const LOOK_MS = 2_000;
const SHORT_SECONDS = 30;
const TAG = 'memory';

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      'limit-mb': { type: 'string', default: '1024' },
      rate: { type: 'string', default: '50' },
      seconds: { type: 'string', default: '600' },
      size: { type: 'string', default: '4096' },
      'rest-seconds': { type: 'string', default: '35' },
      short: { type: 'boolean', default: false },
    },
  });
  const limitMb = Number(values['limit-mb']);
  const seconds = values.short ? SHORT_SECONDS : Number(values.seconds);
  const rate = Number(values.rate);
  describeMachine();
  await onGround(async (ground) => {
    const group = limitMb === 0 ? null : createMemoryGroup(limitMb * 1_048_576);
    if (group === null) console.log('without a limit: this user cannot create control groups, or --limit-mb is 0');
    else ground.keep({ stop: async () => group.remove() });
    const { loader, receiver, webhookUrl } = await openReceivingStage(ground);
    const server = await startSingleMachine(ground.directory, {
      dnsServer: ground.dns.address,
      ...(group === null ? {} : { memoryGroup: group.joinFile }),
    });
    ground.keep(server);
    const recipient = await server.createWebhookAddress('box@bench.test', webhookUrl);
    await sleep(Number(values['rest-seconds']) * 1_000);
    tell('at rest', [memoryByProgram(server.processes())]);

    const looks: Map<string, number>[] = [];
    const timer = setInterval(() => looks.push(memoryByProgram(server.processes())), LOOK_MS);
    const order: LoadOrder = {
      port: server.smtpPort,
      recipient,
      count: rate * seconds,
      sessions: SESSIONS,
      isReusingConnections: false,
      sizeBytes: Number(values.size),
      tag: TAG,
      perSecond: rate,
    };
    const report = await loader.ask<LoadReport>(order);
    const arrivals = await waitForArrivals(receiver, TAG, report.accepted);
    clearInterval(timer);
    tell('under load, highest sum', looks);
    const kills = group?.kills() ?? 0;
    console.log(
      `${rate}/s for ${seconds} s: accepted ${report.accepted} of ${order.count}, webhooks ${arrivals.length}, 250 p50/p99 ${percentile(report.replyMs, 0.5).toFixed(1)}/${percentile(report.replyMs, 0.99).toFixed(1)} ms`,
    );
    if (group !== null)
      console.log(
        `killed by the kernel: ${kills}; highest use of the group ${toMiB(group.peakBytes())} of ${limitMb} MiB, with page cache`,
      );
    if (kills > 0 || report.accepted < order.count || arrivals.length < report.accepted) process.exitCode = 1;
  });
}

/** Prints the look with the highest sum. */
function tell(when: string, looks: readonly Map<string, number>[]): void {
  const sum = (look: Map<string, number>) => [...look.values()].reduce((total, each) => total + each, 0);
  const [highest] = looks.toSorted((a, b) => sum(b) - sum(a));
  if (highest === undefined) return;
  const parts = [...highest].toSorted(([, a], [, b]) => b - a).map(([program, miB]) => `${program} ${miB}`);
  console.log(`${when}: ${sum(highest)} MiB: ${parts.join(', ')}`);
}

function toMiB(bytes: number): number {
  return Math.round(bytes / 1_048_576);
}
