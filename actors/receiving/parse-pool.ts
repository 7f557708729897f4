import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { scanHeaders } from '../../core/mime/parse-message.ts';
import { receivingMetrics } from '../../schema/metrics.ts';
import type { ParseOutcome, ParseRequest } from './parse-messages.ts';
import { createParseThread, type ParseThread } from './parse-thread.ts';

export interface ParsePoolOptions {
  /** threads that parse in parallel */
  workers: number;
  /** host:port; the system's resolver if empty */
  dnsServers: readonly string[];
  log: Logger;
  /** replaces the program parse-worker.ts: tests plant faults in it */
  program?: URL;
  /** milliseconds of processor time until a thread without progress is ended; 5,000 by default */
  maxStillMs?: number;
  /** milliseconds until threads without work end; a minute by default */
  idleMs?: number;
}

/**
 * Threads that parse messages and check their origin. They start when there is work, and end when there is none. A thread that hangs, or that holds most of the memory when the process has grown too much, is terminated. Of its messages, the one
 * that it was parsing becomes a *suspect*, and the others go to another thread. Suspects are tried one by one in a separate thread, beside
 * the work on all others. A thread that is still for {@link SLOW_MS} is put *aside* before: it keeps its message, and a new thread takes its place. A suspect that has brought down its thread {@link MAX_TRIES} times is given up: its outcome is what its header
 * section says. Large messages are parsed one by one in a thread of their own, which ends after each: its garbage is many times the message.
 */
export interface ParsePool {
  /**
   * Returns the outcomes in the order of the messages. Best called with 10 to 25 messages at once. Rejects only when the pool is closed.
   */
  parse(messages: readonly ParseRequest[]): Promise<ParseOutcome[]>;
  /** The same, each outcome as soon as it is known. */
  parseEach(messages: readonly ParseRequest[]): Promise<ParseOutcome>[];
  /** messages that wait for a thread or are in one */
  openCount(): number;
  /** Starts a thread if none runs, because a message may come soon: a start takes about as long as it takes to receive one. */
  prepare(): void;
  /** Terminates the threads and rejects what they were parsing. */
  close(): Promise<void>;
}

const PROGRAM = new URL('./parse-worker.ts', import.meta.url);

const MAX_TRIES = 3;
/** A thread with fewer messages gets the next list: while some wait for DNS, others are parsed. */
const MAX_JOBS = 64;
/** Interval at which the threads are checked; milliseconds. */
const WATCH_MS = 250;
/**
 * How long a thread may make no progress, in milliseconds of its own CPU time, because other work on a busy machine, and other threads that
 * hang, leave it little. It is added up from check to check, so that a suspended process or a clock that jumps costs no thread.
 */
const MAX_STILL_MS = 5_000;
/**
 * The same until the messages behind go to another thread. Few messages take as long: those of about 10 MB. Not of the time of the process: where
 * others leave it little, each new thread would be slow with its first message.
 */
const SLOW_MS = 500;
/**
 * Maximum threads that are aside at once with a large message, or with another one, so that neither kind takes the place of the other. Beyond,
 * the one that has worked most without progress ends, and its message is a suspect.
 */
const MAX_ASIDE = 2;
/** A thread that is aside ends for another one only after so much processor time of its own without progress; milliseconds. Most that are slow are done by then, and one that got none, because large messages took it, keeps its message. */
const LEAST_ASIDE_MS = 1_500;
/** A check counts for at least this much, so that a sleeping thread is terminated after 30 s. Milliseconds. */
const LEAST_STILL_MS = WATCH_MS / 6;
/** Checks until a thread that does not start is terminated. */
const MAX_START_LOOKS = 120;
/** Bytes by which the process may grow while its threads work. */
const MAX_GROWTH_BYTES = 512 * 1024 * 1024;
/** Bytes that all threads hold below which it was not they that made the process grow: none of them ends for it. */
const LEAST_HELD_BYTES = MAX_GROWTH_BYTES / 2;
/** How long the pool waits for what each thread holds. One within a long step of C++ says it afterwards. Milliseconds. */
const MEASURE_MS = 200;
/** Measurements, one behind another, after which a thread that does not reply ends. */
const MAX_MUTES = 2;
/** How long the memory of the process is taken to be the same while its threads have nothing to do; milliseconds. */
const RESTING_MS = 1_000;
/** A message from this size on is large. Bytes. */
const LARGE_BYTES = 2_000_000;
/** Memory for new objects of the thread that parses one, in MB: less than of others, because most of what it makes lasts as long as it does. */
const YOUNG_GENERATION_OF_LARGE_MB = 24;
/** Threads end when none has had work for this long: each takes 25 to 30 MiB. Milliseconds. */
const IDLE_MS = 60_000;
/** Pause before a new thread is started after one that never came up; milliseconds. */
const RESTART_MS = 1_000;

/** A message in the pool. */
interface Job {
  key: number;
  request: ParseRequest;
  /** times that it probably brought down a thread */
  tries: number;
  /** times that its thread was brought down by another message */
  mishaps: number;
  resolve: (outcome: ParseOutcome) => void;
  reject: (error: Error) => void;
}

interface Seat {
  thread: ParseThread;
  jobs: Map<number, Job>;
  /** CPU time of the thread without progress */
  workedMs: number;
  stillLooks: number;
  /** CPU time that this thread has said that it used without progress; one that gets none says nothing */
  saidMs: number;
  /** CPU time of the thread in all, as it last said, and at the last check */
  cpuMs: number;
  countedCpuMs: number;
  /** whether it has not said it since the last check */
  isSilent: boolean;
  progress: number;
  /** memory of the process when this thread was last idle, or when one was last ended for memory */
  idleBytes: number;
  /** measurements of its memory, one behind another, that it did not reply to in time */
  mutes: number;
}

/** Starts the threads. */
export function createParsePool(options: ParsePoolOptions): ParsePool {
  const { maxStillMs = MAX_STILL_MS } = options;
  const { log } = options;
  const seats: Seat[] = [];
  const waiting: Job[][] = [];
  const suspects: Job[] = [];
  let quarantine: Seat | null = null;
  const large: Job[] = [];
  /** parses a large message */
  let largeSeat: Seat | null = null;
  /** each with the one message that it is parsing */
  const aside: Seat[] = [];
  let nextKey = 1;
  let openCount = 0;
  let isClosed = false;
  /** threads that never came up, and are started again after a pause */
  let restarting = 0;
  let resting = { bytes: 0, until: Number.NEGATIVE_INFINITY };
  let usage = process.cpuUsage();
  let isMeasuring = false;
  /** runs while a thread has work */
  let watch: NodeJS.Timeout | null = null;
  /** runs while the threads have nothing to do */
  let idle: NodeJS.Timeout | undefined;
  prepare();

  /** Starts a thread if none runs, and lets it wait for a message. */
  function prepare(): void {
    if (isClosed) return;
    if (seats.length === 0) seats.push(open());
    if (watch === null) awaitIdle();
  }

  function awaitIdle(): void {
    clearTimeout(idle);
    idle = setTimeout(() => {
      for (const seat of seats.splice(0)) void seat.thread.end();
      log.debug({ event: 'parser.idle' }, 'parser threads ended because they had no work');
    }, options.idleMs ?? IDLE_MS).unref();
  }

  function open(youngGenerationMb?: number): Seat {
    const settings = { program: options.program ?? PROGRAM, dnsServers: options.dnsServers, youngGenerationMb };
    const seat: Seat = {
      thread: createParseThread(settings, {
        onResult({ key, outcome }) {
          const job = seat.jobs.get(key);
          // A message behind a slow one went to another thread.
          if (job === undefined) return;
          seat.jobs.delete(key);
          job.resolve(outcome);
          if (aside.includes(seat) && seat.jobs.size === 0) dismiss(seat);
          if (seat === largeSeat) {
            largeSeat = null;
            void seat.thread.end();
          }
          assign();
        },
        onEnd: (reason) => replace(seat, reason),
      }),
      jobs: new Map(),
      workedMs: 0,
      stillLooks: 0,
      saidMs: 0,
      cpuMs: 0,
      countedCpuMs: 0,
      isSilent: false,
      progress: 0,
      idleBytes: restingBytes(),
      mutes: 0,
    };
    return seat;
  }

  /** Returns the memory of the process, read once in a while: reading it opens a file, which one message at a time would pay for each time. */
  function restingBytes(): number {
    const now = performance.now();
    if (now > resting.until) resting = { bytes: process.memoryUsage.rss(), until: now + RESTING_MS };
    return resting.bytes;
  }

  /** Hands out waiting messages. */
  function assign(): void {
    while (waiting.length > 0) {
      const seat = seats.reduce<Seat | null>(
        (best, each) => (best === null || each.jobs.size < best.jobs.size ? each : best),
        null,
      );
      const isFull = seat === null || seat.jobs.size > 0;
      if (isFull && seats.length + restarting < options.workers) seats.push(open());
      else if (seat === null || seat.jobs.size >= MAX_JOBS) break;
      else give(seat, waiting.shift() ?? []);
    }
    const next = largeSeat === null ? large.shift() : undefined;
    if (next !== undefined) {
      largeSeat = open(YOUNG_GENERATION_OF_LARGE_MB);
      give(largeSeat, [next]);
    }
    const suspect = quarantine === null || quarantine.jobs.size === 0 ? suspects.shift() : undefined;
    if (suspect !== undefined) {
      quarantine ??= open();
      give(quarantine, [suspect]);
    } else if (quarantine?.jobs.size === 0) {
      void quarantine.thread.end();
      quarantine = null;
    }
  }

  function give(seat: Seat, jobs: readonly Job[]): void {
    if (seat.jobs.size === 0) {
      seat.workedMs = 0;
      seat.stillLooks = 0;
      seat.saidMs = 0;
      seat.mutes = 0;
      seat.idleBytes = restingBytes();
    }
    clearTimeout(idle);
    if (watch === null) {
      usage = process.cpuUsage();
      watch = setInterval(look, WATCH_MS).unref();
    }
    for (const job of jobs) seat.jobs.set(job.key, job);
    seat.thread.post(jobs.map((job) => ({ ...job.request, key: job.key })));
  }

  /** Gives the messages behind a slow one to a new thread. The slow thread ends with its message, or as any other that hangs. */
  function putAside(seat: Seat): void {
    const slow = seat.jobs.get(seat.thread.current());
    if (slow === undefined) return;
    const others = aside.filter((each) => holdsLarge(each) === isLarge(slow));
    if (others.length >= MAX_ASIDE) {
      // Large ones follow each other only while there is room: most of them are slow.
      const [longest] = isLarge(slow) ? [] : others.toSorted((one, other) => other.saidMs - one.saidMs);
      if (longest === undefined || longest.saidMs < LEAST_ASIDE_MS) return;
      replace(longest, 'made room for another slow message');
    }
    seat.thread.stopAfterCurrent();
    const behind = [...seat.jobs.values()].filter((job) => job !== slow);
    seat.jobs = new Map([[slow.key, slow]]);
    if (seat === largeSeat) largeSeat = null;
    else seats[seats.indexOf(seat)] = open();
    aside.push(seat);
    log.info({ emailId: slow.request.emailId, behind: behind.length }, 'slow message: another parser thread goes on');
    if (behind.length > 0) waiting.unshift(behind);
    assign();
  }

  /** Ends a thread that is aside. */
  function dismiss(seat: Seat): void {
    aside.splice(aside.indexOf(seat), 1);
    void seat.thread.end();
  }

  /** Replaces a thread that ended or must end, and gives its messages to others. `measured`: key of the message for which it must end. */
  function replace(seat: Seat, reason: string, measured?: number): void {
    if (isClosed) return;
    receivingMetrics.parserEnds.inc();
    resting.until = Number.NEGATIVE_INFINITY;
    const culprit = seat.jobs.get(measured ?? seat.thread.current());
    const lost = [...seat.jobs.values()];
    seat.jobs.clear();
    if (seat === quarantine) quarantine = null;
    else if (seat === largeSeat) largeSeat = null;
    else if (aside.includes(seat)) dismiss(seat);
    else if (seats.includes(seat)) reopen(seats.indexOf(seat), seat.thread.isReady());
    log.warn({ reason, emailId: culprit?.request.emailId, lost: lost.length }, 'parser thread ended');
    const again: Job[] = [];
    for (const job of lost) {
      // Alone in its thread, it is certainly the cause, unless another one was measured.
      const isCulprit = job === culprit || (lost.length === 1 && measured === undefined);
      if (isCulprit) job.tries++;
      else job.mishaps++;
      if (job.tries >= MAX_TRIES) giveUp(job, reason);
      else if (isCulprit || job.mishaps > 1 || culprit === undefined) suspects.push(job);
      else again.push(job);
    }
    if (again.length > 0) waiting.unshift(again);
    assign();
  }

  function reopen(at: number, wasReady: boolean): void {
    if (wasReady) {
      seats[at] = open();
      return;
    }
    seats.splice(at, 1);
    restarting++;
    setTimeout(() => {
      restarting--;
      if (isClosed) return;
      seats.push(open());
      assign();
    }, RESTART_MS);
  }

  function giveUp(job: Job, reason: string): void {
    const { emailId, bytes } = job.request;
    log.error({ emailId, reason, tries: job.tries }, 'message cannot be parsed');
    job.resolve({
      emailId,
      message: scanHeaders(bytes, reason),
      authentication: null,
      report: null,
      dmarcReport: null,
    });
  }

  function look(): void {
    const { user, system } = process.cpuUsage(usage);
    usage = process.cpuUsage();
    const processMs = Math.min(WATCH_MS, Math.max(LEAST_STILL_MS, (user + system) / 1_000));
    const busy = all().filter((seat) => seat.jobs.size > 0);
    if (busy.length === 0) return endWatch();
    const bytes = process.memoryUsage.rss();
    for (const seat of busy) {
      const progress = seat.thread.progress();
      const isStill = progress === seat.progress;
      // What it takes to start is not the work of its first message.
      const isWorking = isStill && seat.thread.isReady();
      const saidMs = seat.cpuMs - seat.countedCpuMs;
      const ownMs = seat.isSilent ? processMs : Math.min(WATCH_MS, Math.max(LEAST_STILL_MS, saidMs));
      seat.workedMs = isWorking ? seat.workedMs + ownMs : 0;
      seat.saidMs = isWorking ? seat.saidMs + saidMs : 0;
      askProcessor(seat);
      seat.stillLooks = isStill ? seat.stillLooks + 1 : 0;
      seat.progress = progress;
      if (seat.thread.isReady() ? seat.workedMs >= maxStillMs : seat.stillLooks >= MAX_START_LOOKS) {
        replace(seat, `took more than ${maxStillMs / 1_000} s`);
        void seat.thread.end();
      } else if (seat.workedMs >= SLOW_MS && seat.thread.isReady() && isInTheWay(seat)) putAside(seat);
    }
    const grown = bytes - Math.min(...busy.map(({ idleBytes }) => idleBytes));
    if (grown > MAX_GROWTH_BYTES && !isMeasuring) void endLargest(busy);
  }

  /** Where a thread within a long step of C++ says it afterwards, it counts as busy until then. */
  function askProcessor(seat: Seat): void {
    seat.countedCpuMs = seat.cpuMs;
    if (seat.isSilent) return;
    seat.isSilent = true;
    void seat.thread.measureProcessor().then((cpuMs) => {
      seat.cpuMs = cpuMs;
      seat.isSilent = false;
    });
  }

  /**
   * Ends the thread that holds most, if it is the threads that made the process grow: the messages of the others are innocent. One that does
   * not say what it holds may hold most: it ends when it is silent again at the next check, and until then none does.
   */
  async function endLargest(busy: readonly Seat[]): Promise<void> {
    isMeasuring = true;
    const held = new Map<Seat, number>();
    const measured = new Map(busy.map((seat) => [seat, seat.thread.current()]));
    const replies = busy.map(async (seat) => held.set(seat, await seat.thread.measureBytes()));
    await Promise.race([Promise.all(replies), sleep(MEASURE_MS, undefined, { ref: false })]);
    isMeasuring = false;
    const present = busy.filter((seat) => seat.jobs.size > 0 && all().includes(seat));
    for (const seat of present) seat.mutes = held.has(seat) || !seat.thread.isReady() ? 0 : seat.mutes + 1;
    const mute = present.find((seat) => seat.mutes >= MAX_MUTES);
    const sum = [...held].reduce((bytes, [seat, each]) => bytes + (present.includes(seat) ? each : 0), 0);
    if (mute === undefined && (present.some(({ mutes }) => mutes > 0) || sum < LEAST_HELD_BYTES)) return;
    const [largest] = present.toSorted((one, other) => (held.get(other) ?? 0) - (held.get(one) ?? 0));
    const ended = mute ?? largest;
    if (ended === undefined) return;
    replace(ended, 'took more than 512 MB', measured.get(ended));
    rebase();
    void ended.thread.end().then(rebase);
  }

  /** Has the process grow from its present memory on: what made it grow has ended, and the others must not end for the same. */
  function rebase(): void {
    const bytes = process.memoryUsage.rss();
    for (const seat of all()) seat.idleBytes = bytes;
    resting.until = Number.NEGATIVE_INFINITY;
  }

  /** Whether others wait, or may wait, for this seat. */
  function isInTheWay(seat: Seat): boolean {
    return seat === largeSeat ? large.length > 0 : seats.includes(seat);
  }

  function all(): Seat[] {
    return [...seats, ...[quarantine, largeSeat].filter((seat) => seat !== null), ...aside];
  }

  function endWatch(): void {
    clearInterval(watch ?? undefined);
    watch = null;
    if (!isClosed) awaitIdle();
  }

  function parseEach(messages: readonly ParseRequest[]): Promise<ParseOutcome>[] {
    if (isClosed) return messages.map(() => Promise.reject(new Error('the parser is closed')));
    const list: Job[] = [];
    const outcomes = messages.map(
      (request) =>
        new Promise<ParseOutcome>((resolve, reject) => {
          openCount++;
          const settle =
            <T>(pass: (value: T) => void) =>
            (value: T) => {
              openCount--;
              pass(value);
            };
          list.push({
            key: nextKey,
            request,
            tries: 0,
            mishaps: 0,
            resolve: settle(resolve),
            reject: settle<Error>(reject),
          });
          nextKey = nextKey === MAX_KEY ? 1 : nextKey + 1;
        }),
    );
    large.push(...list.filter(isLarge));
    const others = list.filter((job) => !isLarge(job));
    if (others.length > 0) waiting.push(others);
    assign();
    return outcomes;
  }

  return {
    parse: (messages) => Promise.all(parseEach(messages)),
    parseEach,
    openCount: () => openCount,
    prepare,
    async close() {
      isClosed = true;
      endWatch();
      clearTimeout(idle);
      const threads = all();
      await Promise.all(threads.map((seat) => seat.thread.end()));
      const left = [...waiting.flat(), ...large, ...suspects, ...threads.flatMap((seat) => [...seat.jobs.values()])];
      for (const job of left) job.reject(new Error('the parser was closed'));
    },
  };
}

function isLarge({ request }: Job): boolean {
  return request.bytes.length >= LARGE_BYTES;
}

function holdsLarge({ jobs }: Seat): boolean {
  return [...jobs.values()].some(isLarge);
}

/** Keys travel in 32-bit integers. */
const MAX_KEY = 2_147_483_647;
