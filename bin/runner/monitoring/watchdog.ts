import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';

export interface WatchdogOptions {
  /** how long the event loop may be blocked before the process is killed; milliseconds */
  limitMs?: number;
  /** how often the main thread reports and the watchdog checks; milliseconds */
  tickMs?: number;
}

/** Data of the watchdog's thread. */
export interface WatchdogData {
  /** two Int32: a counter that the main thread increments with every tick, and 1 while a debugger may stop it */
  beats: SharedArrayBuffer;
  limitMs: number;
  tickMs: number;
  /** as in the log lines of this process */
  program: string;
}

const LIMIT_MS = 60_000;
const TICK_MS = 5_000;

/**
 * Kills this process (SIGKILL, exit status 137) when its event loop has been blocked for `limitMs`, after one fatal log line on stderr, so
 * that a supervisor restarts it: a process that hangs keeps its connections open and otherwise looks alive. Its work is recovered as after
 * any crash. The watchdog's thread counts ticks that it lived through itself, so a machine or container that was paused as a whole does not
 * look like a hung process. Does not keep the process from ending.
 */
export function startWatchdog(program: string, options: WatchdogOptions = {}): void {
  const { limitMs = LIMIT_MS, tickMs = TICK_MS } = options;
  const beats = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  const state = new Int32Array(beats);
  const workerData: WatchdogData = { beats, limitMs, tickMs, program };
  new Worker(new URL('watchdog-thread.ts', import.meta.url), {
    workerData,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
  }).unref();
  const beat = () => {
    Atomics.add(state, 0, 1);
    Atomics.store(state, 1, inspectorUrl() === undefined ? 0 : 1);
  };
  beat();
  setInterval(beat, tickMs).unref();
}
