import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { processEnvironment } from '../../environment.ts';
import type { MetricsSnapshot } from '../monitoring/process-metrics.ts';
import { askProcess } from '../monitoring/process-questions.ts';
import { ALLOCATION } from '../processes/allocation.ts';
import { makeClaimant } from '../processes/claimant.ts';
import { StartRefused } from '../start-refused.ts';
import { BEAT_MS, type Begin, fromPart, type ToPart } from './part-messages.ts';

/** The parts of the service on one machine, each a process. */
export type PartName = 'mail' | 'gateway';

const programs: Record<PartName, URL> = {
  mail: new URL('./mail.ts', import.meta.url),
  gateway: new URL('./gateway.ts', import.meta.url),
};

/** A part as its supervisor sees it: a child process that is started again whenever it ends. */
export interface SupervisedPart {
  /** Lets the part begin, now and after each restart. Until then it only loads its modules. */
  begin(facts: PartFacts): void;
  /** Resolves when the part has prepared the database at the start. Throws StartRefused. */
  prepared: Promise<void>;
  /** Resolves when the part works for the first time. Throws StartRefused. */
  ready: Promise<void>;
  /** Asks the part to print the welcome text. Returns whether it did. */
  printWelcome(): Promise<boolean>;
  /** Tells the part what the supervision of PostgreSQL found, or that it will be stopped soon. */
  tell(message: Exclude<ToPart, Begin>): void;
  /** Returns the metrics of the part; none while it is not running. */
  snapshots(): Promise<MetricsSnapshot[]>;
  /** Returns the names of what is missing for it to be ready: its own name while it is not running. */
  missing(): Promise<string[]>;
  /** Lets the part drain, and resolves when it has ended. Kills it after `limitMs`. */
  stop(limitMs: number): Promise<void>;
}

/** What each part learns at its beginning, besides its names for claims. */
type PartFacts = Omit<Begin, 'postroom' | 'claimant' | 'deadClaimants' | 'isFirst'>;

export interface SupervisedPartOptions {
  name: PartName;
  /** flags of Node for its process */
  flags: readonly string[];
  log: Logger;
}

/** Milliseconds. */
const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 10_000;
/** A part that ran this long did not fail at its start, so the back-off starts again. */
const STEADY_MS = 30_000;
/** Beats that may be missing before a part counts as hung: a minute. */
const MAX_SILENT_BEATS = 12;
const WELCOME_LIMIT_MS = 60_000;

/**
 * Starts the process of a part. It has its own session, so that a Ctrl-C in the terminal reaches only the supervisor, and an IPC channel: if
 * the supervisor is killed, the channel closes and the part ends at once. A part whose event loop is blocked for a minute is killed. The next
 * process of a dead part ends its leases, and no others.
 */
export function supervisePart(options: SupervisedPartOptions): SupervisedPart {
  const { name, log } = options;
  const prepared = Promise.withResolvers<void>();
  const ready = Promise.withResolvers<void>();
  for (const { promise } of [prepared, ready]) promise.catch(() => undefined);
  /** names of processes, of which the next one ends the leases: the present one, and ended ones whose leases may still be open */
  let claimants: string[] = [];
  let facts: PartFacts | null = null;
  let current: Running | null = null;
  let wasReady = false;
  let isStopping = false;
  let backoffMs = FIRST_BACKOFF_MS;
  let restart: NodeJS.Timeout | undefined;

  const start = () => {
    const words = [...options.flags, ...process.execArgv, fileURLToPath(programs[name])];
    const child = spawn(process.execPath, words, {
      env: { ...ALLOCATION, ...processEnvironment() },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      detached: true,
    });
    const running: Running = {
      child,
      claimant: makeClaimant(),
      startedAt: performance.now(),
      isLoaded: false,
      silent: 0,
    };
    current = running;
    child.on('message', (message) => {
      const parsed = fromPart.safeParse(message);
      running.silent = 0;
      if (!parsed.success) return;
      switch (parsed.data.postroom) {
        case 'beat':
          return;
        case 'loaded':
          running.isLoaded = true;
          return letBegin();
        case 'prepared':
          return prepared.resolve();
        case 'ready':
          if (wasReady) log.info({ event: 'part.restarted', part: name }, `${name}: works again`);
          wasReady = true;
          // It has ended the leases of its predecessors.
          claimants = [running.claimant];
          return ready.resolve();
        case 'refused':
          return refuse(new StartRefused(parsed.data.reason));
      }
    });
    child.once('exit', (code, signal) => onEnd(running, code, signal));
    // Also emitted when a message could not be sent. Only a child that never ran emits no `exit`.
    child.on('error', (error) => {
      log.error({ err: error, part: name }, `${name}: error of the process`);
      if (child.pid === undefined) onEnd(running, null, null);
    });
  };

  const letBegin = () => {
    if (facts === null || current === null || !current.isLoaded) return;
    const { claimant } = current;
    send({ postroom: 'begin', ...facts, claimant, deadClaimants: claimants, isFirst: !wasReady });
    claimants = [...claimants, claimant];
  };

  const send = (message: ToPart) => {
    // Without a callback, an error would end this process. The end of the child follows.
    if (current?.child.connected === true) current.child.send(message, () => undefined);
  };

  const refuse = (error: StartRefused) => {
    prepared.reject(error);
    ready.reject(error);
  };

  const onEnd = (ended: Running, code: number | null, signal: string | null) => {
    if (current !== ended) return;
    current = null;
    if (isStopping) return;
    // During the first start, waiting would hide the reason from the operator.
    if (!wasReady) return refuse(new StartRefused(`the ${name} process ended at its start (${code ?? signal})`));
    if (performance.now() - ended.startedAt > STEADY_MS) backoffMs = FIRST_BACKOFF_MS;
    log.error({ event: 'part.died', part: name, code, signal, backoffMs }, `${name}: process died, starting it again`);
    restart = setTimeout(start, backoffMs);
    backoffMs = Math.min(LONGEST_BACKOFF_MS, backoffMs * 2);
  };

  // Counts intervals that this process lived through itself: a machine that was paused as a whole does not look like a hung process.
  const watch = setInterval(() => {
    if (current === null || ++current.silent <= MAX_SILENT_BEATS) return;
    log.fatal(
      { event: 'part.hung', part: name },
      `${name}: the event loop was blocked for a minute, killing the process`,
    );
    current.child.kill('SIGKILL');
  }, BEAT_MS).unref();
  start();

  return {
    begin(given) {
      facts = given;
      letBegin();
    },
    prepared: prepared.promise,
    ready: ready.promise,
    async printWelcome() {
      return current !== null && (await askProcess(current.child, 'welcome', WELCOME_LIMIT_MS)) === true;
    },
    tell: send,
    async snapshots() {
      const reply = current === null ? null : await askProcess(current.child, 'metrics');
      // It comes from our own program.
      return reply === null ? [] : [reply as MetricsSnapshot];
    },
    async missing() {
      const reply = current === null ? null : await askProcess(current.child, 'missing');
      return reply === null ? [name] : (reply as string[]);
    },
    async stop(limitMs) {
      isStopping = true;
      clearInterval(watch);
      clearTimeout(restart);
      const running = current?.child;
      if (running === undefined) return;
      const ended = new Promise<void>((resolve) => void running.once('exit', () => resolve()));
      running.kill('SIGTERM');
      const end = setTimeout(() => running.kill('SIGKILL'), limitMs);
      await ended;
      clearTimeout(end);
    },
  };
}

interface Running {
  child: ChildProcess;
  claimant: string;
  startedAt: number;
  isLoaded: boolean;
  /** beats that are missing */
  silent: number;
}
