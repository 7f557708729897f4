import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { machineCpuSeconds, type ProcessUse, processTree } from '../support/servers/process-tree.ts';

/** What a contestant's processes hold and use. */
export interface Resources {
  processes(): ProcessUse[];
  /** memory of all its processes, MiB */
  residentMiB(): number;
  /** CPU seconds used so far by all its processes */
  cpuSeconds(): number;
}

/** The resources of the processes that run at each look. */
export function makeResources(processes: () => ProcessUse[]): Resources {
  return {
    processes,
    residentMiB: () => processes().reduce((sum, each) => sum + each.residentMiB, 0),
    cpuSeconds: () => processes().reduce((sum, each) => sum + each.cpuSeconds, 0),
  };
}

/** Returns the memory of these processes by program, MiB; the backends of PostgreSQL together. */
export function memoryByProgram(processes: readonly ProcessUse[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { command, residentMiB } of processes)
    sums.set(readProgram(command), (sums.get(readProgram(command)) ?? 0) + residentMiB);
  return sums;
}

/** What a contestant and the rest of the machine used between two moments. */
export interface Usage {
  cpuSeconds: number;
  /** milliseconds per message, by program */
  byProgram: (messages: number) => string;
  /** the highest memory of the looks; MiB */
  residentMiB: number;
  /** percent of all cores that neither the contestant nor the benchmark used */
  foreignPercent: number;
}

/** A machine is quiet while other processes use less of it than this; percent of all cores. */
export const QUIET_PERCENT = 5;

/** Counts from its making what a contestant uses, and what other processes use meanwhile. */
export class Meter {
  readonly #resources: Resources;
  readonly #startedTick = performance.now();
  readonly #machineBefore = machineCpuSeconds();
  readonly #before: Sums;
  #residentMiB = 0;

  constructor(resources: Resources) {
    this.#resources = resources;
    this.#before = this.#sums();
  }

  /** Looks at the memory, as `end` does. */
  look(): void {
    this.#residentMiB = Math.max(this.#residentMiB, this.#resources.residentMiB());
  }

  end(): Usage {
    const seconds = (performance.now() - this.#startedTick) / 1_000;
    const [before, after] = [this.#before, this.#sums()];
    const machine = machineCpuSeconds() - this.#machineBefore;
    this.look();
    return {
      cpuSeconds: after.own - before.own,
      byProgram: (messages) =>
        [...after.byProgram]
          .map(
            ([program, used]) => [program, ((used - (before.byProgram.get(program) ?? 0)) * 1_000) / messages] as const,
          )
          .filter(([, ms]) => ms >= 0.01)
          .map(([program, ms]) => `${program} ${ms.toFixed(2)}`)
          .join(', '),
      residentMiB: this.#residentMiB,
      foreignPercent: Math.min(
        100,
        Math.max(0, (100 * (machine - (after.all - before.all))) / seconds / cpus().length),
      ),
    };
  }

  #sums(): Sums {
    const own = this.#resources.processes();
    const all = new Map([...own, ...processTree(process.pid)].map((each) => [each.pid, each.cpuSeconds]));
    const byProgram = new Map<string, number>();
    for (const { command, cpuSeconds } of own) {
      const program = readProgram(command);
      byProgram.set(program, (byProgram.get(program) ?? 0) + cpuSeconds);
    }
    const sum = (values: Iterable<number>) => [...values].reduce((total, each) => total + each, 0);
    return { own: sum(byProgram.values()), all: sum(all.values()), byProgram };
  }
}

interface Sums {
  /** CPU seconds of the contestant */
  own: number;
  /** with those of the benchmark */
  all: number;
  byProgram: Map<string, number>;
}

/** In a look of this length, a contestant at rest uses at most this much. */
const LOOK_MS = 500;
const REST_CPU_SECONDS = 0.03;
const REST_LIMIT_MS = 20_000;

/** Resolves when the contestant has nothing left to do, or after 20 s, so that work it put off counts for its message. */
export async function settle(resources: Resources): Promise<void> {
  const deadline = performance.now() + REST_LIMIT_MS;
  let last = resources.cpuSeconds();
  for (let quietLooks = 0; quietLooks < 2 && performance.now() < deadline; ) {
    await sleep(LOOK_MS);
    const now = resources.cpuSeconds();
    quietLooks = now - last <= REST_CPU_SECONDS ? quietLooks + 1 : 0;
    last = now;
  }
}

function readProgram(command: string): string {
  // Backends call themselves `postgres: ...`, their parent goes by its path.
  if (/^(\S*\/)?postgres\b/.test(command)) return 'postgres';
  const [program = ''] = command.split(' ');
  // By the name of the source, also where it runs built.
  const source = command
    .replace(/\bbin\/run\.js (?:bin\/)?(\w+)(?:\.ts)?/, 'bin/$1.ts')
    .replace(/(\/dist\/\S+)\.js\b/, '$1.ts');
  return /(?:bin|bench)\/\S+\.ts( \w+)?/.exec(source)?.[0] ?? /nats-server/.exec(source)?.[0] ?? program;
}
