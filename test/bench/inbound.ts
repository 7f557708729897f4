import { parseArgs } from 'node:util';
import { isPostfixThere, receiverNames } from './contestants.ts';
import { onGround } from './ground.ts';
import { describeMachine } from './machine.ts';
import {
  openReceivingStage,
  type ReceivingCase,
  type ReceivingRound,
  receive,
  SESSIONS,
  withReceiver,
} from './receiving.ts';
import type { Extent, PartOutcome, Row } from './rows.ts';
import { inTurn, median, percentile, spread } from './statistics.ts';

/** Messages of a round by size: a few seconds each. */
const COUNT_BY_SIZE: Record<number, number> = { 4096: 2000, 102400: 600 };

export const help = `Mail in by SMTP to the 250 and to the webhook, beside Postfix, which stores it, and bare Haraka, which discards it.
One server runs at a time, on a fresh folder in each round.

  --rounds N       default 3
  --sizes LIST     bytes of a message; default 4096,102400
  --modes LIST     fresh: a connection each; reused: many messages per connection; default fresh,reused
  --count N        messages of a round; default 2000 of 4096 bytes, 600 of 102400
  --only LIST      of ${receiverNames.join(', ')}; default haraka,postfix,postroom
  --cpus LIST      the cores that Postroom may use (taskset): 0 or 0,1`;

/** Measures what the options say, and prints every round, medians and ratios. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '3' },
      sizes: { type: 'string', default: '4096,102400' },
      modes: { type: 'string', default: 'fresh,reused' },
      only: { type: 'string', default: 'haraka,postfix,postroom' },
      count: { type: 'string' },
      cpus: { type: 'string' },
    },
  });
  describeMachine();
  const { rounds, problems } = await measureInbound({
    rounds: Number(values.rounds),
    cases: values.sizes.split(',').flatMap((size) =>
      values.modes.split(',').map((mode) => ({
        sizeBytes: Number(size),
        isReusingConnections: mode === 'reused',
        count: Number(values.count ?? COUNT_BY_SIZE[Number(size)] ?? 1000),
      })),
    ),
    contestants: values.only.split(','),
    ...(values.cpus === undefined ? {} : { cpus: values.cpus }),
  });
  printSummary(rounds);
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

export interface InboundOptions {
  rounds: number;
  cases: readonly ReceivingCase[];
  contestants: readonly string[];
  cpus?: string;
}

/** Measures every case with every contestant, one contestant at a time, in changing order. A contestant that fails is a problem, not the end. */
export function measureInbound(options: InboundOptions): Promise<{ rounds: ReceivingRound[]; problems: string[] }> {
  return onGround(async (ground) => {
    const stage = await openReceivingStage(ground);
    const rounds: ReceivingRound[] = [];
    const problems: string[] = [];
    for (let round = 0; round < options.rounds; round++)
      for (const name of inTurn(options.contestants, round))
        await withReceiver(stage, name, options.cpus, async (contestant) => {
          for (const each of options.cases) {
            const result = await receive(stage, contestant, each);
            rounds.push(result);
            console.log(`round ${round + 1} ${describe(result)}`);
          }
        }).catch((error: unknown) => {
          problems.push(`${name}, round ${round + 1}: ${String(error)}`);
          console.error(problems.at(-1));
        });
    return { rounds, problems };
  });
}

/** The rows of docs/benchmarks.md about mail that comes in. */
export async function measurePart(extent: Extent): Promise<PartOutcome> {
  const modes = extent === 'guard' ? [false] : [false, true];
  const contestants = extent === 'guard' ? ['postfix', 'postroom'] : ['postfix', 'haraka', 'postroom'];
  const { rounds, problems } = await measureInbound({
    rounds: extent === 'full' ? 3 : 1,
    cases: Object.entries(COUNT_BY_SIZE).flatMap(([size, count]) =>
      modes.map((isReusingConnections) => ({
        sizeBytes: Number(size),
        isReusingConnections,
        count: extent === 'small' ? count / 20 : count,
      })),
    ),
    contestants: contestants.filter((name) => name !== 'postfix' || isPostfixThere()),
  });
  return { rows: listRows(rounds), foreignPercents: rounds.map((round) => round.foreignPercent), problems };
}

function listRows(rounds: readonly ReceivingRound[]): Row[] {
  type Figure = (round: ReceivingRound) => number;
  const of = (contestant: string, isCase: (round: ReceivingRound) => boolean, pick: Figure) =>
    rounds.filter((round) => round.contestant === contestant && isCase(round)).map(pick);
  const row = (
    head: Pick<Row, 'id' | 'work' | 'unit' | 'better'>,
    isCase: (round: ReceivingRound) => boolean,
    pick: Figure,
    peer = 'Postfix',
  ): Row => ({ ...head, ours: of('Postroom', isCase, pick), peer: { name: peer, values: of(peer, isCase, pick) } });
  const cases = [4096, 102400].flatMap((sizeBytes) =>
    [false, true].map((isReusing) => {
      const size = `${sizeBytes / 1024} KB`;
      const mode = isReusing ? 'reused connections' : 'a connection each';
      return {
        key: `${sizeBytes / 1024}k-${isReusing ? 'reused' : 'fresh'}`,
        name: (goal: string) => `${size} ${goal}, ${mode}`,
        cpu: `CPU per ${size} message, ${mode}`,
        is: (round: ReceivingRound) => round.sizeBytes === sizeBytes && round.isReusingConnections === isReusing,
      };
    }),
  );
  const rate = { unit: 'messages/s', better: 'higher' } as const;
  const isSmallMail = ({ sizeBytes, isReusingConnections }: ReceivingRound) =>
    sizeBytes === 4096 && !isReusingConnections;
  return [
    ...cases.map(({ key, name, is }) =>
      row({ id: `webhook-${key}`, work: name('to the webhook'), ...rate }, is, (round) => round.donePerSecond),
    ),
    ...cases.map(({ key, name, is }) =>
      row({ id: `accept-${key}`, work: name('to the 250'), ...rate }, is, (round) => round.acceptPerSecond),
    ),
    ...cases.map(({ key, name, is }) =>
      row(
        { id: `accept-${key}-haraka`, work: name('to the 250'), ...rate },
        is,
        (round) => round.acceptPerSecond,
        'bare Haraka',
      ),
    ),
    ...cases.map(({ key, cpu, is }) =>
      row({ id: `cpu-${key}`, work: cpu, unit: 'ms', better: 'lower' }, is, (round) => round.cpuMsPerMessage),
    ),
    row(
      { id: 'memory-inbound', work: 'memory under load', unit: 'MiB', better: 'lower' },
      () => true,
      (round) => round.residentMiB,
    ),
    row(
      { id: 'stored-4k', work: 'disk space per 4 KB message, without the log', unit: 'KiB', better: 'lower' },
      isSmallMail,
      (round) => round.storedBytes / 1024,
    ),
    row(
      { id: 'wal-4k', work: 'PostgreSQL log (WAL) per 4 KB message', unit: 'KiB', better: 'lower' },
      isSmallMail,
      (round) => round.walBytes / 1024,
    ),
  ];
}

const makeCase = (round: ReceivingRound) =>
  `${round.sizeBytes / 1024} KB ${round.isReusingConnections ? 'reused' : 'fresh'}`;

function describe(round: ReceivingRound): string {
  const done = Number.isNaN(round.donePerSecond) ? '-' : `${round.donePerSecond.toFixed(0)}/s`;
  return (
    `${makeCase(round).padEnd(13)} ${round.contestant.padEnd(14)} 250: ${round.acceptPerSecond.toFixed(0)}/s  done: ${done}  ` +
    `cpu ${round.cpuMsPerMessage.toFixed(2)} ms/message (${round.cpuByProgram})  memory ${round.residentMiB} MiB  ` +
    `stored ${kib(round.storedBytes)} + log ${kib(round.walBytes)} KiB  others ${round.foreignPercent.toFixed(0)} %`
  );
}

const kib = (bytes: number) => (Number.isNaN(bytes) ? '-' : (bytes / 1024).toFixed(1));

function printSummary(rounds: readonly ReceivingRound[]): void {
  for (const name of new Set(rounds.map(makeCase))) {
    const of = (contestant: string) =>
      rounds.filter((each) => makeCase(each) === name && each.contestant === contestant);
    console.log(`\n${name}, ${SESSIONS} sessions: messages/s, median (lowest-highest)`);
    const contestants = [...new Set(rounds.map((round) => round.contestant))];
    for (const contestant of contestants) {
      const own = of(contestant);
      if (own.length === 0) continue;
      const times = (sample: number[]) =>
        sample.length === 0 ? '-' : `${percentile(sample, 0.5).toFixed(0)}/${percentile(sample, 0.99).toFixed(0)} ms`;
      console.log(
        `  ${contestant.padEnd(15)} 250 ${spread(own.map((round) => round.acceptPerSecond)).padEnd(18)} ` +
          `done ${spread(own.map((round) => round.donePerSecond).filter(Number.isFinite)).padEnd(18)} ` +
          `250 p50/p99 ${times(own.flatMap((round) => round.replyMs))}  webhook p50/p99 ${times(own.flatMap((round) => round.webhookMs))}  ` +
          `memory ${Math.max(...own.map((round) => round.residentMiB))} MiB  cpu ${median(own.map((round) => round.cpuMsPerMessage)).toFixed(2)} ms`,
      );
    }
    for (const ours of contestants.filter((each) => each.startsWith('Postroom'))) {
      const rate = (contestant: string, pick: (round: ReceivingRound) => number) => median(of(contestant).map(pick));
      const accept = rate(ours, (round) => round.acceptPerSecond);
      const done = rate(ours, (round) => round.donePerSecond);
      for (const peer of contestants.filter((each) => !each.startsWith('Postroom')))
        console.log(
          `  ${ours}, by ${peer}: 250 ${(accept / rate(peer, (round) => round.acceptPerSecond)).toFixed(2)}, ` +
            `done ${(done / rate(peer, (round) => round.donePerSecond)).toFixed(2)}`,
        );
    }
  }
}
