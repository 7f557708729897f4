/**
 * Measures how long the event loop of a process is held, in CPU time of its thread, which other processes of a busy machine do not change. Loaded
 * with `--import`; SIGUSR2 makes it print the longest time since the last signal as `{"blockMs":12.3}`, and begin anew.
 */
const TICK_MS = 1;
/** Microseconds. */
let last = process.threadCpuUsage();
let longestMs = 0;

setInterval(() => {
  const now = process.threadCpuUsage();
  longestMs = Math.max(longestMs, (now.user + now.system - last.user - last.system) / 1_000);
  last = now;
}, TICK_MS).unref();

process.on('SIGUSR2', () => {
  process.stderr.write(`${JSON.stringify({ blockMs: longestMs })}\n`);
  longestMs = 0;
});
