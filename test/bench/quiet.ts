import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isPostfixThere, receiverNames } from './contestants.ts';
import { onGround } from './ground.ts';
import { describeMachine } from './machine.ts';
import { openReceivingStage, type ReceivingRound, receive, withReceiver } from './receiving.ts';
import { Meter } from './resources.ts';
import type { Extent, PartOutcome, Row } from './rows.ts';
import { percentile } from './statistics.ts';

export const help = `A quiet day: CPU and memory while nothing happens, then CPU and latencies at a low steady rate, a connection each.

  --rate N           messages per second; default 20
  --count N          default 400
  --rest-seconds N   until the idle time begins; default 35, in which a process returns the memory of its start to the system
  --idle-seconds N   default 10
  --only LIST        of ${receiverNames.join(', ')}; default postfix,haraka,postroom`;

interface QuietOptions {
  perSecond: number;
  count: number;
  restSeconds: number;
  idleSeconds: number;
  contestants: readonly string[];
}

interface Quiet {
  contestant: string;
  /** milliseconds of CPU for each second in which nothing happens */
  idleCpuMs: number;
  idleMiB: number;
  idleForeignPercent: number;
  round: ReceivingRound;
}

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rate: { type: 'string', default: '20' },
      count: { type: 'string', default: '400' },
      'rest-seconds': { type: 'string', default: '35' },
      'idle-seconds': { type: 'string', default: '10' },
      only: { type: 'string', default: 'postfix,haraka,postroom' },
    },
  });
  describeMachine();
  const { problems } = await measureQuiet({
    perSecond: Number(values.rate),
    count: Number(values.count),
    restSeconds: Number(values['rest-seconds']),
    idleSeconds: Number(values['idle-seconds']),
    contestants: values.only.split(','),
  });
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

/** The rows of docs/benchmarks.md about a quiet day. */
export async function measurePart(extent: Extent): Promise<PartOutcome> {
  const contestants = extent === 'guard' ? ['postfix', 'postroom'] : ['postfix', 'haraka', 'postroom'];
  const { quiets, problems } = await measureQuiet({
    perSecond: 20,
    count: { small: 40, guard: 200, full: 400 }[extent],
    restSeconds: extent === 'full' ? 35 : 0,
    idleSeconds: { small: 1, guard: 0, full: 10 }[extent],
    contestants: contestants.filter((name) => name !== 'postfix' || isPostfixThere()),
  });
  const row = (head: Pick<Row, 'id' | 'work' | 'unit'>, pick: (quiet: Quiet) => number, peer = 'Postfix'): Row => ({
    ...head,
    better: 'lower',
    ours: quiets.filter(({ contestant }) => contestant === 'Postroom').map(pick),
    peer: { name: peer, values: quiets.filter(({ contestant }) => contestant === peer).map(pick) },
  });
  const cpu = { work: 'CPU per 4 KB message at 20 messages/s', unit: 'ms' } as const;
  return {
    rows: [
      row({ id: 'quiet-cpu', ...cpu }, ({ round }) => round.cpuMsPerMessage),
      row({ id: 'quiet-cpu-haraka', ...cpu }, ({ round }) => round.cpuMsPerMessage, 'bare Haraka'),
      row({ id: 'idle-cpu', work: 'CPU while idle', unit: 'ms/s' }, ({ idleCpuMs }) => idleCpuMs),
      row({ id: 'idle-memory', work: 'memory while idle', unit: 'MiB' }, ({ idleMiB }) => idleMiB),
    ],
    foreignPercents: quiets.flatMap(({ idleForeignPercent, round }) => [idleForeignPercent, round.foreignPercent]),
    problems,
  };
}

function measureQuiet(options: QuietOptions): Promise<{ quiets: Quiet[]; problems: string[] }> {
  return onGround(async (ground) => {
    const stage = await openReceivingStage(ground);
    const quiets: Quiet[] = [];
    const problems: string[] = [];
    for (const name of options.contestants)
      await withReceiver(stage, name, undefined, async (contestant) => {
        await sleep(options.restSeconds * 1_000);
        const meter = new Meter(contestant);
        await sleep(options.idleSeconds * 1_000);
        const idle = meter.end();
        const { perSecond, count } = options;
        const load = { sizeBytes: 4_096, isReusingConnections: false, count, perSecond };
        const round = await receive(stage, contestant, load);
        quiets.push({
          contestant: contestant.name,
          idleCpuMs: options.idleSeconds === 0 ? Number.NaN : (idle.cpuSeconds * 1_000) / options.idleSeconds,
          idleMiB: options.idleSeconds === 0 ? Number.NaN : idle.residentMiB,
          idleForeignPercent: options.idleSeconds === 0 ? round.foreignPercent : idle.foreignPercent,
          round,
        });
        const times = (sample: number[]) =>
          `${percentile(sample, 0.5).toFixed(0)}/${percentile(sample, 0.99).toFixed(0)} ms`;
        console.log(
          `${contestant.name.padEnd(14)} idle: CPU ${((idle.cpuSeconds * 1_000) / options.idleSeconds).toFixed(1)} ms/s, memory ${idle.residentMiB} MiB; ` +
            `${perSecond}/s: CPU ${round.cpuMsPerMessage.toFixed(2)} ms/message (${round.cpuByProgram}), 250 p50/p99 ${times(round.replyMs)}` +
            `${round.webhookMs.length === 0 ? '' : `, webhook p50/p99 ${times(round.webhookMs)}`}; others ${round.foreignPercent.toFixed(0)} %`,
        );
      }).catch((error: unknown) => {
        problems.push(`${name}: ${String(error)}`);
        console.error(problems.at(-1));
      });
    return { quiets, problems };
  });
}
