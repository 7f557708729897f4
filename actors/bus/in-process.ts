import type { Logger } from 'pino';
import {
  type Broadcast,
  type BroadcastSubject,
  type Bus,
  BusRemoteError,
  BusUnavailable,
  type QuestionSubject,
  questions,
  type Reply,
  type Request,
  type Subscription,
  type Wake,
  type WakeSubject,
} from '../../schema/messages.ts';
import { createQuestionsInFlight } from './questions-in-flight.ts';
import { checkBroadcast, checkRequest, checkWake } from './shapes.ts';
import { activeTraceParent, asking, below, traceReply } from './tracing.ts';
import { createInFlight } from './transport.ts';

/** The bus inside one process, and what links to another process need of it. */
export interface InProcessBus extends Bus {
  /** Whether a member in this process serves the question. */
  isServed(subject: QuestionSubject): boolean;
  /** Whether a member in this process takes the wake. */
  isAwaited(subject: WakeSubject): boolean;
  /** Publishes to all subscriptions except these. */
  publishToOthers<S extends BroadcastSubject>(
    subject: S,
    message: Broadcast<S>,
    except: ReadonlySet<Subscription>,
  ): void;
}

/**
 * The bus inside one process. The members of a group take turns. Bytes are passed by reference: the asker must not change them. The bytes
 * of a question count as in flight until its server is done with them, even when the asker gave up. As with the other transports, every
 * message carries the context of the span in which it was sent.
 */
export function createInProcessBus(options: { log?: Logger } = {}): InProcessBus {
  const servers = new Map<QuestionSubject, Rotation<Serve>>();
  const wakers = new Map<WakeSubject, Rotation<Take>>();
  const subscribers = new Map<BroadcastSubject, Map<Subscription, Take>>();
  const inFlight = createQuestionsInFlight();
  let isClosed = false;

  const publish = (subject: BroadcastSubject, message: unknown, except: ReadonlySet<Subscription>): void => {
    const checked = checkBroadcast(subject, message);
    if (!checked) return options.log?.error({ broadcast: subject }, 'bus: malformed broadcast dropped');
    const traceParent = activeTraceParent();
    for (const [subscription, take] of subscribers.get(subject) ?? [])
      if (!except.has(subscription)) take(checked, traceParent);
  };

  return {
    async ask<S extends QuestionSubject>(subject: S, request: Request<S>, { bytes = NO_BYTES, limitMs }: Ask = {}) {
      if (isClosed) throw new BusUnavailable('the bus is closed');
      const checked = checkRequest(subject, request);
      if (!servers.get(subject)?.hasMembers()) throw new BusUnavailable(`no process serves ${subject}`);
      const limit = limitMs ?? questions[subject].limitMs;
      const reply = asking(subject, (traceParent) =>
        inFlight.ask(subject, limit, bytes.byteLength, async (id) => {
          const serve = servers.get(subject)?.next();
          if (!serve) return inFlight.fail(id, new BusUnavailable(`no process serves ${subject}`));
          try {
            inFlight.resolve(id, await traceReply(subject, traceParent, () => serve(checked, bytes)));
          } catch (error) {
            inFlight.fail(id, remoteError(error));
          }
        }),
      );
      return (await reply) as Reply<S>;
    },
    serve(subject, handle) {
      const replies = createInFlight();
      const member: Serve = (request, bytes) => {
        const work = handle(request as Request<typeof subject>, bytes);
        replies.track(work);
        return work;
      };
      return leaving(join(servers, subject, member), () => replies.settled());
    },
    wake(subject, message) {
      const checked = checkWake(subject, message);
      const take = wakers.get(subject)?.next();
      if (!checked) options.log?.error({ wake: subject }, 'bus: malformed wake dropped');
      else take?.(checked, activeTraceParent());
    },
    onWake(subject, work) {
      const woken = createInFlight();
      const member: Take = (message, traceParent) => {
        // In a later turn: the sender of a wake never waits for the work.
        const done = Promise.resolve().then(() => below(traceParent, () => work(message as Wake<typeof subject>)));
        woken.track(done);
        done.catch((error: unknown) => options.log?.error({ err: error, wake: subject }, 'bus: woken work failed'));
      };
      return leaving(join(wakers, subject, member), () => woken.settled());
    },
    publish: (subject, message) => publish(subject, message, NO_SUBSCRIPTIONS),
    publishToOthers: publish,
    isServed: (subject) => servers.get(subject)?.hasMembers() === true,
    isAwaited: (subject) => wakers.get(subject)?.hasMembers() === true,
    subscribe(subject, take) {
      const members = subscribers.get(subject) ?? new Map<Subscription, Take>();
      subscribers.set(subject, members);
      const subscription = leaving(
        () => void members.delete(subscription),
        () => Promise.resolve(),
      );
      members.set(subscription, (message, traceParent) =>
        queueMicrotask(() => {
          if (!members.has(subscription)) return;
          try {
            below(traceParent, () => take(message as Broadcast<typeof subject>));
          } catch (error) {
            options.log?.error({ err: error, broadcast: subject }, 'bus: subscriber failed');
          }
        }),
      );
      return subscription;
    },
    isConnected: () => !isClosed,
    async close() {
      isClosed = true;
      inFlight.failAll('the bus is closed');
      servers.clear();
      wakers.clear();
      subscribers.clear();
    },
  };
}

const NO_BYTES = new Uint8Array(0);
const NO_SUBSCRIPTIONS: ReadonlySet<Subscription> = new Set();

type Ask = { bytes?: Uint8Array; limitMs?: number };
type Serve = (request: unknown, bytes: Uint8Array) => Promise<unknown>;
type Take = (message: unknown, traceParent: string | null) => void;

/** The members of a queue group, which take turns. */
interface Rotation<T> {
  members: T[];
  hasMembers(): boolean;
  next(): T | undefined;
}

function createRotation<T>(): Rotation<T> {
  const members: T[] = [];
  let turn = 0;
  return {
    members,
    hasMembers: () => members.length > 0,
    next: () => members[turn++ % members.length],
  };
}

/** Adds the member; the returned function removes it. */
function join<K, T>(groups: Map<K, Rotation<T>>, subject: K, member: T): () => void {
  const group = groups.get(subject) ?? createRotation<T>();
  groups.set(subject, group);
  group.members.push(member);
  return () => {
    const at = group.members.indexOf(member);
    if (at >= 0) group.members.splice(at, 1);
  };
}

function leaving(leave: () => void, settled: () => Promise<void>): Subscription {
  return {
    stop() {
      leave();
      return settled();
    },
  };
}

/** What the asker learns of a server's error. BusUnavailable, when a client of the socket bus was cut off, is kept apart. */
function remoteError(error: unknown): Error {
  if (error instanceof BusUnavailable) return error;
  return new BusRemoteError(error instanceof Error ? error.message : String(error));
}
