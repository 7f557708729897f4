import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { measureInbound } from './inbound.ts';
import { describeMachine } from './machine.ts';
import { measureOutbound } from './outbound.ts';
import { median, spread } from './statistics.ts';

/** Of the machine that capacity is calculated for. */
const CALCULATED_CORES = 8;

export const help = `What one core carries, what two carry, and what a deployment with each actor twice carries (docs/capacity.md): 4 KB to the webhook
over reused connections, and POST /emails to the sink. With one core, taskset gives Postroom and its PostgreSQL core 0, and
everything else core 1. With two, everything shares both. The last line is calculated, not measured.

  --rounds N    default 2
  --count N     messages of a round; default 2000
  --only LIST   of one,two,twice; default all`;

interface Measured {
  name: string;
  cores: number;
  /** messages per second of each round */
  rates: { in: number[]; out: number[] };
  cpuMs: { in: number; out: number };
}

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '2' },
      count: { type: 'string', default: '2000' },
      only: { type: 'string', default: 'one,two,twice' },
    },
  });
  if (cpus().length < 2) throw new Error('two cores are needed: one of them for the load');
  describeMachine();
  const wanted = values.only.split(',');
  const measured: Measured[] = [];
  const size = { rounds: Number(values.rounds), count: Number(values.count) };
  if (wanted.includes('one')) {
    useCores('1');
    measured.push(await measure('npm start on one core', 'postroom', '0', 1, size));
    useCores('0,1');
  }
  if (wanted.includes('two')) measured.push(await measure('npm start on two cores', 'postroom', '0,1', 2, size));
  if (wanted.includes('twice')) measured.push(await measure('each actor twice, on two cores', 'twice', '0,1', 2, size));
  console.log(
    '\n| | in: messages/s | CPU per message | share of its cores | out: messages/s | CPU per message | share |',
  );
  console.log('|---|---|---|---|---|---|---|');
  for (const { name, cores, rates, cpuMs } of measured) {
    const cells = (['in', 'out'] as const).flatMap((way) => [
      spread(rates[way]),
      `${cpuMs[way].toFixed(2)} ms`,
      `${((median(rates[way]) * cpuMs[way]) / 10 / cores).toFixed(0)} %`,
    ]);
    console.log(`| ${[name, ...cells].join(' | ')} |`);
  }
  const [one] = measured;
  if (one?.cores !== 1) return;
  const carried = (way: 'in' | 'out') => Math.round((CALCULATED_CORES * 1_000) / one.cpuMs[way]);
  console.log(
    `\ncalculated: ${CALCULATED_CORES} cores, all of them busy with the CPU per message of one core: at most ${carried('in')} messages/s in, ${carried('out')} out`,
  );
}

async function measure(
  name: string,
  contestant: string,
  cpusOfServer: string,
  cores: number,
  { rounds, count }: { rounds: number; count: number },
): Promise<Measured> {
  console.log(`\n=== ${name}`);
  const inbound = await measureInbound({
    rounds,
    cases: [{ sizeBytes: 4_096, isReusingConnections: true, count }],
    contestants: [contestant],
    cpus: cpusOfServer,
  });
  const outbound = await measureOutbound({
    rounds,
    count,
    sizeBytes: 4_096,
    connections: 50,
    senders: [contestant],
    cpus: cpusOfServer,
  });
  const problems = [...inbound.problems, ...outbound.problems];
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return {
    name,
    cores,
    rates: {
      in: inbound.rounds.map((round) => round.donePerSecond),
      out: outbound.rounds.map((round) => round.perSecond),
    },
    cpuMs: {
      in: median(inbound.rounds.map((round) => round.cpuMsPerMessage)),
      out: median(outbound.rounds.map((round) => round.cpuMsPerMessage)),
    },
  };
}

/** This process and everything that it starts from now on run on these cores. */
function useCores(list: string): void {
  execFileSync('taskset', ['-apc', list, String(process.pid)], { stdio: 'ignore' });
}
