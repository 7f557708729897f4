/** Milliseconds for which this process has had a core: what work costs, whoever else is at work on the machine. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
