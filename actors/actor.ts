import type { Logger } from 'pino';
import type { ByteStore } from '../db/byte-store.ts';
import type { Database } from '../db/connection/database.ts';
import { isTransient } from '../db/errors.ts';
import type { DueStep } from '../db/queries/upkeep/due-work.ts';
import {
  type Bus,
  BusTimeout,
  BusUnavailable,
  type QuestionSubject,
  type Reply,
  type Request,
  type Subscription,
  type Wake,
  type WakeSubject,
} from '../schema/messages.ts';
import { actorMetrics } from '../schema/metrics.ts';
import { apart } from './bus/tracing.ts';
import { createInFlight, type InFlight } from './bus/transport.ts';
import type { DirectDeliverySlot } from './direct-delivery.ts';
import { recordNoted } from './mail-spans.ts';
import { makeDueWatch } from './work/due-watch.ts';

/** What every actor gets at its start. */
export interface ActorContext {
  bus: Bus;
  /** under the role postroom_actor */
  database: Database;
  bytes: ByteStore;
  /** the delivery actor of this process */
  directDelivery: DirectDeliverySlot;
  log: Logger;
  now: () => Date;
  /** returns that many bytes from a cryptographic source */
  random: (count: number) => Uint8Array;
  /** unique among all processes; written to claimed_by */
  name: string;
}

/** A running actor. */
export interface Actor {
  /** Takes no more work, and resolves when the work in progress is done or aborted: after 10 s at most. */
  stop(): Promise<void>;
}

/** What one run of a step gets. */
export interface Run<S extends WakeSubject = WakeSubject> {
  /** the wakes since the last run; empty when the sweep starts the run, which must look at every due row */
  wakes: readonly Wake<S>[];
  /** aborted when a stopping actor's time is up (8 s): end open network calls, record them, release leases */
  signal: AbortSignal;
  /** true once stop() was called: begin no further batch */
  isStopping(): boolean;
  /** Lets work continue beyond this run. stop() waits for it, and its failure is logged. */
  keep(work: Promise<unknown>): void;
}

/**
 * One step of an actor: work on due rows, safe to run twice. It runs at the start, then by its sweeps, and as soon as wakes of its subject
 * arrive (all that arrived go to one run). It returns the number of rows done: a full batch (`batchSize`, 50 by default) means that more
 * may be due, and the step runs again at once.
 */
type Step = (SweepStep | { [S in WakeSubject]: WokenStep<S> }[WakeSubject]) & Sweep;

/**
 * When a step sweeps: when a row of that queue is due, which one statement finds out for all steps of the process (due-watch.ts), or
 * `everyMs` after its last sweep ended.
 */
type Sweep = { due: DueStep; everyMs?: undefined } | { due?: undefined; everyMs: number };

interface SweepStep {
  name: string;
  batchSize?: number;
  wake?: undefined;
  work: (run: Run<never>) => Promise<number | void>;
}

interface WokenStep<S extends WakeSubject> {
  name: string;
  batchSize?: number;
  wake: S;
  /** runs by wakes at the same time, 1 by default; the sweep never overlaps itself */
  concurrency?: number;
  work: (run: Run<S>) => Promise<number | void>;
}

/** The handlers of an actor's questions, by subject. The bytes are empty when the question has none. */
type QuestionHandlers = { [S in QuestionSubject]?: (request: Request<S>, bytes: Uint8Array) => Promise<Reply<S>> };

export interface ActorPlan {
  context: ActorContext;
  /** the name of the actor in logs: receiving, threading, ... */
  name: string;
  steps?: readonly Step[];
  questions?: QuestionHandlers;
}

export interface RunningActor extends Actor {
  /** Starts the sweep of that step now, as a wake from inside this process. */
  nudge(stepName: string): void;
  /** Lets stop() wait for this work; its failure is logged. */
  keep(work: Promise<unknown>): void;
}

/** Attempts that are still open after 8 s of drain are aborted. Then they have a moment to record that. */
const DRAIN_MS = 8_000;
const LAST_WORDS_MS = 1_500;
const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 5_000;
/** Wakes held for the next run; when there are more, a sweep runs instead. */
const MAX_WAKES_HELD = 1_000;
const BATCH_SIZE = 50;

/**
 * Runs an actor: serves its questions, starts its steps by wakes and sweeps, and survives every failure. A step whose run throws is
 * retried after a pause that doubles from 0.1 s to 5 s. While PostgreSQL or the bus is unreachable this logs one warning; any other error
 * is logged each time it is thrown.
 */
export function runActor(plan: ActorPlan): RunningActor {
  const { bus, log } = plan.context;
  const ending = new AbortController();
  const inFlight = createInFlight();
  let isStopping = false;

  const keep = (work: Promise<unknown>) => {
    inFlight.track(work);
    work.catch((error: unknown) => log.error({ err: error, actor: plan.name }, 'actor: kept work failed'));
  };
  const frame: Frame = { plan, signal: ending.signal, isStopping: () => isStopping, keep, inFlight };
  const steps = new Map((plan.steps ?? []).map((step) => [step.name, startStep(frame, step)]));
  const subscriptions = Object.entries(plan.questions ?? {}).map(([subject, handle]) =>
    // The keys are subjects, and each handler has the type of its subject.
    serveQuestion(frame, bus, subject as QuestionSubject, handle as AnyHandler),
  );
  for (const step of plan.steps ?? []) {
    const running = steps.get(step.name);
    if (step.wake !== undefined && running) subscriptions.push(bus.onWake(step.wake, (wake) => running.wake(wake)));
  }

  return {
    keep,
    nudge: (stepName) => steps.get(stepName)?.sweep(),
    async stop() {
      isStopping = true;
      for (const step of steps.values()) step.stop();
      const drained = Promise.all(subscriptions.map((subscription) => subscription.stop())).then(() =>
        inFlight.settled(),
      );
      if (await within(DRAIN_MS, drained)) return recordNoted(plan.context.database);
      log.warn({ actor: plan.name }, 'actor: drain took too long, ending the work in hand');
      ending.abort();
      if (!(await within(LAST_WORDS_MS, drained))) log.error({ actor: plan.name }, 'actor: work in hand did not end');
    },
  };
}

type AnyHandler = (request: unknown, bytes: Uint8Array) => Promise<Reply<QuestionSubject>>;

interface Frame {
  plan: ActorPlan;
  signal: AbortSignal;
  isStopping: () => boolean;
  keep: (work: Promise<unknown>) => void;
  inFlight: InFlight;
}

interface RunningStep {
  wake(message: Wake<WakeSubject>): void;
  sweep(): void;
  stop(): void;
}

function serveQuestion(frame: Frame, bus: Bus, subject: QuestionSubject, handle: AnyHandler): Subscription {
  const labels = { actor: frame.plan.name, question: subject };
  return bus.serve(subject, async (request, bytes) => {
    const end = actorMetrics.replySeconds.startTimer(labels);
    try {
      const reply = await handle(request, bytes);
      end({ outcome: 'answered' });
      return reply;
    } catch (error) {
      end({ outcome: 'failed' });
      frame.plan.context.log.error({ err: error, actor: frame.plan.name, question: subject }, 'actor: question failed');
      throw error;
    }
  });
}

function startStep(frame: Frame, step: Step): RunningStep {
  const log = frame.plan.context.log;
  const labels = { actor: frame.plan.name, step: step.name };
  const concurrency = step.wake === undefined ? 1 : (step.concurrency ?? 1);
  let wakes: Wake<WakeSubject>[] = [];
  let isSweepDue = true;
  let isSweeping = false;
  let wokenRuns = 0;
  let backoffMs = 0;
  let away: unknown = null;
  let pause: NodeJS.Timeout | undefined;
  let nextSweep: NodeJS.Timeout | undefined;

  const start = () => {
    if (frame.isStopping() || pause) return;
    if (isSweepDue && !isSweeping) {
      isSweepDue = false;
      isSweeping = true;
      clearTimeout(nextSweep);
      frame.inFlight.track(
        run([]).finally(() => {
          isSweeping = false;
          if (frame.isStopping()) return;
          if (step.everyMs !== undefined) nextSweep = setTimeout(sweep, step.everyMs);
          start();
        }),
      );
    }
    if (wakes.length > 0 && wokenRuns < concurrency) {
      const taken = wakes;
      wakes = [];
      wokenRuns++;
      frame.inFlight.track(
        run(taken).finally(() => {
          wokenRuns--;
          start();
        }),
      );
    }
  };

  const run = async (taken: Wake<WakeSubject>[]) => {
    actorMetrics.stepRuns.inc({ ...labels, trigger: taken.length > 0 ? 'wake' : 'sweep' });
    const end = actorMetrics.stepSeconds.startTimer(labels);
    try {
      // Only the subject of the step is subscribed, so its wakes have that type.
      const work = step.work as (run: Run) => Promise<number | void>;
      const { signal, isStopping, keep } = frame;
      const count = await apart(() => work({ wakes: taken, signal, isStopping, keep }));
      if ((count ?? 0) >= (step.batchSize ?? BATCH_SIZE)) isSweepDue = true;
      backoffMs = 0;
      if (away !== null) log.info({ ...labels, err: away }, 'actor: step works again');
      away = null;
    } catch (error) {
      onFailure(error);
    } finally {
      end();
    }
  };

  const onFailure = (error: unknown) => {
    actorMetrics.stepFailures.inc({ ...labels, reason: isUnavailable(error) ? 'away' : 'fault' });
    if (isUnavailable(error)) {
      if (away === null) log.warn({ ...labels, err: error }, 'actor: step waits for PostgreSQL or the bus');
      away = error;
    } else {
      log.error({ ...labels, err: error }, 'actor: step failed');
    }
    isSweepDue = true;
    backoffMs = Math.min(LONGEST_BACKOFF_MS, Math.max(FIRST_BACKOFF_MS, backoffMs * 2));
    clearTimeout(pause);
    pause = setTimeout(() => {
      pause = undefined;
      start();
    }, backoffMs);
  };

  const sweep = () => {
    isSweepDue = true;
    start();
  };

  /** A sweep under way need not be repeated: the watch asks again. */
  const endWatch =
    step.due === undefined
      ? undefined
      : makeDueWatch(frame.plan.context.database, log).add(step.due, () => {
          if (!isSweeping) sweep();
        });

  // Not in this turn of the event loop: the actor is still being built.
  nextSweep = setTimeout(start, 0);
  return {
    wake(message) {
      if (wakes.length < MAX_WAKES_HELD) wakes.push(message);
      else isSweepDue = true;
      start();
    },
    sweep,
    stop() {
      endWatch?.();
      clearTimeout(pause);
      clearTimeout(nextSweep);
    },
  };
}

function isUnavailable(error: unknown): boolean {
  return isTransient(error) || error instanceof BusUnavailable || error instanceof BusTimeout;
}

/** Whether the work settled in time. */
async function within(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs);
  });
  const settled = work.then(() => true as const);
  try {
    return await Promise.race([settled, late]);
  } finally {
    clearTimeout(timer);
  }
}
