import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import type { WatchdogData } from './watchdog.ts';

const { beats, limitMs, tickMs, program } = workerData as WatchdogData;
const state = new Int32Array(beats);
const STDERR = 2;

let seen = -1;
let stalledMs = 0;

setInterval(() => {
  const beat = Atomics.load(state, 0);
  const isDebugged = Atomics.load(state, 1) === 1;
  if (beat !== seen || isDebugged) {
    seen = beat;
    stalledMs = 0;
    return;
  }
  stalledMs += tickMs;
  if (stalledMs < limitMs) return;
  const line = {
    level: 60,
    time: new Date().toISOString(),
    program,
    pid: process.pid,
    event: 'process.stalled',
    msg: `the event loop has not run for ${stalledMs / 1000} s: killing this process so that it is started again`,
  };
  writeSync(STDERR, `${JSON.stringify(line)}\n`);
  process.kill(process.pid, 'SIGKILL');
}, tickMs);
