import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { measureInbound } from './inbound.ts';
import { describeMachine } from './machine.ts';
import { measureOutbound } from './outbound.ts';
import type { Extent, PartOutcome, Row } from './rows.ts';
import { UsageError } from './run-part.ts';
import { median, spread } from './statistics.ts';

/** Of the machine that capacity is calculated for. */
const CALCULATED_CORES = 8;

export const help = `What one core carries, what two carry, and what a deployment with each actor twice carries (docs/capacity.md): 4 KB to the webhook
over reused connections, and POST /emails to the sink. With one core, taskset gives Postroom and its PostgreSQL core 0, and
everything else core 1. With two, the load shares them. The last line is calculated, not measured.

  --rounds N    default 2
  --count N     messages of a round; default 2000
  --only LIST   of one,two,twice; default all`;

interface Measured {
  name: string;
  cores: number;
  /** messages per second of each round */
  rates: Record<Way, number[]>;
  /** CPU for each message, of each round; milliseconds */
  cpuMs: Record<Way, number[]>;
  foreignPercents: number[];
  problems: string[];
}

const ways = ['in', 'out'] as const;
type Way = (typeof ways)[number];

interface Size {
  rounds: number;
  count: number;
}

/** How a deployment runs: the contestant, and the cores of it and of the load. */
const deployments: Record<string, { name: string; contestant: string; cpus: string; load: string; cores: number }> = {
  one: { name: 'npm start on one core', contestant: 'postroom', cpus: '0', load: '1', cores: 1 },
  two: { name: 'npm start on two cores', contestant: 'postroom', cpus: '0,1', load: '0,1', cores: 2 },
  twice: { name: 'each actor twice, on two cores', contestant: 'twice', cpus: '0,1', load: '0,1', cores: 2 },
};

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '2' },
      count: { type: 'string', default: '2000' },
      only: { type: 'string', default: Object.keys(deployments).join(',') },
    },
  });
  describeMachine();
  const names = values.only.split(',');
  const size = { rounds: Number(values.rounds), count: Number(values.count) };
  const { measured, problems } = await measureCores(names, size);
  console.log(
    '\n| | in: messages/s | CPU per message | share of its cores | out: messages/s | CPU per message | share |',
  );
  console.log('|---|---|---|---|---|---|---|');
  for (const { name, cores, rates, cpuMs } of measured.values()) {
    const cells = ways.flatMap((way) => [
      spread(rates[way]),
      `${median(cpuMs[way]).toFixed(2)} ms`,
      `${((median(rates[way]) * median(cpuMs[way])) / 10 / cores).toFixed(0)} %`,
    ]);
    console.log(`| ${[name, ...cells].join(' | ')} |`);
  }
  const one = measured.get('one');
  if (one !== undefined)
    console.log(
      `\ncalculated, not measured: ${CALCULATED_CORES} cores at the CPU per message of one core carry at most ${calculated(one, 'in')} messages/s in, ${calculated(one, 'out')} out`,
    );
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

/** The rows of docs/benchmarks.md about cores. */
export async function measurePart(extent: Extent): Promise<PartOutcome> {
  const size = extent === 'small' ? { rounds: 1, count: 100 } : { rounds: 1, count: 2_000 };
  const { measured, problems } = await measureCores(Object.keys(deployments), size);
  const works = { in: '4 KB to the webhook, reused connections', out: 'POST /emails to the sink, 4 KB' };
  const rows = ways.flatMap((way): Row[] => {
    const rate = (name: string, peer: string | null): Row => ({
      id: `cores-${name}-${way}`,
      work: `${works[way]}: ${deployments[name]?.name}`,
      unit: 'messages/s',
      better: 'higher',
      ours: measured.get(name)?.rates[way] ?? [],
      peer:
        peer === null ? null : { name: deployments[peer]?.name ?? '', values: measured.get(peer)?.rates[way] ?? [] },
    });
    const one = measured.get('one');
    return [
      rate('one', null),
      rate('two', 'one'),
      rate('twice', 'two'),
      {
        id: `cores-cpu-${way}`,
        work: `${works[way]}: CPU per message on one core`,
        unit: 'ms',
        better: 'lower',
        ours: one?.cpuMs[way] ?? [],
        peer: null,
      },
      {
        id: `cores-calculated-${way}`,
        work: `${works[way]}: ${CALCULATED_CORES} cores at that CPU per message, calculated and not measured`,
        unit: 'messages/s',
        better: 'higher',
        ours: one === undefined ? [] : [calculated(one, way)],
        peer: null,
      },
    ];
  });
  return { rows, foreignPercents: [...measured.values()].flatMap(({ foreignPercents }) => foreignPercents), problems };
}

function calculated(one: Measured, way: Way): number {
  return Math.round((CALCULATED_CORES * 1_000) / median(one.cpuMs[way]));
}

async function measureCores(
  names: readonly string[],
  size: Size,
): Promise<{ measured: Map<string, Measured>; problems: string[] }> {
  if (cpus().length < 2) throw new Error('two cores are needed: one of them for the load');
  const measured = new Map<string, Measured>();
  const problems: string[] = [];
  for (const name of names)
    await measure(name, size).then(
      (each) => {
        measured.set(name, each);
        problems.push(...each.problems);
      },
      (error: unknown) => problems.push(`${name}: ${String(error)}`),
    );
  return { measured, problems };
}

async function measure(key: string, { rounds, count }: Size): Promise<Measured> {
  const deployment = deployments[key];
  if (deployment === undefined) throw new UsageError(`--only takes ${Object.keys(deployments).join(', ')}`);
  const { name, contestant, cpus: own, load, cores } = deployment;
  console.log(`\n${name}`);
  useCores(load);
  const inbound = await measureInbound({
    rounds,
    cases: [{ sizeBytes: 4_096, isReusingConnections: true, count }],
    contestants: [contestant],
    cpus: own,
  });
  const options = { rounds, count, sizeBytes: 4_096, connections: 50, senders: [contestant], cpus: own };
  const outbound = await measureOutbound(options);
  return {
    problems: [...inbound.problems, ...outbound.problems],
    name,
    cores,
    rates: {
      in: inbound.rounds.map((round) => round.donePerSecond),
      out: outbound.rounds.map((round) => round.perSecond),
    },
    cpuMs: {
      in: inbound.rounds.map((round) => round.cpuMsPerMessage),
      out: outbound.rounds.map((round) => round.cpuMsPerMessage),
    },
    foreignPercents: [...inbound.rounds, ...outbound.rounds].map((round) => round.foreignPercent),
  };
}

/** This process and everything that it starts from now on run on these cores. */
function useCores(list: string): void {
  execFileSync('taskset', ['-apc', list, String(process.pid)], { stdio: 'ignore' });
}
