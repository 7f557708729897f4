import type { processTree } from '../support/servers/process-tree.ts';

/** What a contestant's processes hold and use. */
export interface Resources {
  /** resident memory of all its processes, MiB */
  residentMiB(): number;
  /** CPU seconds used so far by all its processes */
  cpuSeconds(): number;
  /** the same by program */
  cpuSecondsByProgram(): Map<string, number>;
}

type Processes = ReturnType<typeof processTree>;

/** The resources of the processes that are there at each look. */
export function resourcesOf(processes: () => Processes): Resources {
  return {
    residentMiB: () => processes().reduce((sum, each) => sum + each.residentMiB, 0),
    cpuSeconds: () => processes().reduce((sum, each) => sum + each.cpuSeconds, 0),
    cpuSecondsByProgram: () => {
      const sums = new Map<string, number>();
      for (const { command, cpuSeconds } of processes()) {
        const program = programOf(command);
        sums.set(program, (sums.get(program) ?? 0) + cpuSeconds);
      }
      return sums;
    },
  };
}

/** Starts counting CPU; the answer ends it: milliseconds per message in all, and by program as a line. */
export function countCpu(resources: Resources): (messages: number) => { msPerMessage: number; byProgram: string } {
  const before = resources.cpuSeconds();
  const programsBefore = resources.cpuSecondsByProgram();
  return (messages) => ({
    msPerMessage: ((resources.cpuSeconds() - before) * 1000) / messages,
    byProgram: [...resources.cpuSecondsByProgram()]
      .map(
        ([program, seconds]) => [program, ((seconds - (programsBefore.get(program) ?? 0)) * 1000) / messages] as const,
      )
      .filter(([, ms]) => ms >= 0.01)
      .map(([program, ms]) => `${program} ${ms.toFixed(2)}`)
      .join(', '),
  });
}

function programOf(command: string): string {
  // Backends call themselves `postgres: ...`, their parent goes by its path.
  if (/^(\S*\/)?postgres\b/.test(command)) return 'postgres';
  const [program = ''] = command.split(' ');
  return /(?:bin|bench)\/\S+\.ts( \w+)?/.exec(command)?.[0] ?? /nats-server/.exec(command)?.[0] ?? program;
}
