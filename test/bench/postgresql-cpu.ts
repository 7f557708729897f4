import { readdirSync, readFileSync } from 'node:fs';

/** CPU time of the server on that port and all its processes, by their command lines and parents in /proc; milliseconds. */
export function postgresqlCpuMs(port: number): number {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const stats = new Map<string, { parent: string; ms: number }>();
  let postmaster = '';
  for (const pid of processes) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      // a clock tick is 10 ms; ended children count in their parent
      const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0);
      stats.set(pid, { parent: fields[1] ?? '', ms: ticks * 10 });
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (line.includes('postgres') && line.includes('-D') && line.includes(String(port))) postmaster = pid;
    } catch {
      // it ended meanwhile
    }
  }
  let sum = 0;
  for (const [pid, { parent, ms }] of stats) if (pid === postmaster || parent === postmaster) sum += ms;
  return sum;
}
