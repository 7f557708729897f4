import { rmSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import {
  type Broadcast,
  type Bus,
  BusUnavailable,
  questions,
  type Reply,
  type Request,
  type Subscription,
  type Wake,
} from '../../schema/messages.ts';
import { createFrameChannel, type FrameChannel } from './frame-channel.ts';
import type { InProcessBus } from './in-process.ts';
import { createQuestionsInFlight } from './questions-in-flight.ts';
import { checkBroadcast, checkRequest, checkWake } from './shapes.ts';
import { bridgeSocket } from './socket-bridge.ts';
import { type ClientFrame, carrying, serverFrame } from './socket-frames.ts';
import { activeTraceParent, asking, below, traceReply } from './tracing.ts';
import { type BusLog, createInFlight, describeFailure, failureError, type InFlight, monotonicMs } from './transport.ts';

export interface SocketBusOptions {
  /** path of the Unix socket */
  path: string;
  log: BusLog;
  /** called when the connection is lost or restored; broadcasts in between are lost */
  onConnection?: (isConnected: boolean) => void;
  /** whether broadcasts go to all subscriptions except those of this client; by default they get a copy, too */
  isPublishingToOthers?: boolean;
}

const FIRST_RETRY_MS = 20;
const LONGEST_RETRY_MS = 500;
/** Wakes and broadcasts are dropped while this many bytes wait to be sent: they may be lost, and questions go first. */
const MAX_HINT_BACKLOG_BYTES = 8_000_000;

/**
 * A bus that connects over a Unix socket to the process that called `serveSocketBus`. Usable at once: while there is no connection,
 * questions fail with BusUnavailable, and the bus retries at most half a second apart until it is closed.
 */
export function connectSocketBus({ path, log, onConnection, isPublishingToOthers }: SocketBusOptions): Bus {
  const inFlight = createQuestionsInFlight();
  const members = new Map<number, Member>();
  let channel: FrameChannel | null = null;
  let socket: Socket | null = null;
  let retry: NodeJS.Timeout | undefined;
  let retryMs = FIRST_RETRY_MS;
  let lastMember = 0;
  let isClosed = false;

  const send = (frame: ClientFrame) => channel?.send(frame);
  const hint = (frame: ClientFrame) => {
    if (channel && channel.backlogBytes() < MAX_HINT_BACKLOG_BYTES) channel.send(frame);
  };

  const connect = () => {
    const opened = createConnection(path);
    socket = opened;
    const opening = createFrameChannel(opened, (head, bytes) => {
      const frame = serverFrame.safeParse(head);
      if (!frame.success) return opened.destroy(new Error('malformed frame'));
      switch (frame.data.op) {
        case 'reply':
          return inFlight.resolve(frame.data.id, frame.data.reply);
        case 'failure':
          return inFlight.fail(frame.data.id, failureError(frame.data.failure));
        case 'question': {
          const { id, member, request, traceParent } = frame.data;
          const replied =
            members.get(member)?.take(request, bytes, traceParent) ?? Promise.reject(new BusUnavailable('left'));
          // The reply belongs to this connection: on the next one, its number means another question.
          replied.then(
            (reply) => opening.send({ op: 'reply', id, reply } satisfies ClientFrame),
            (error: unknown) => opening.send({ op: 'failure', id, failure: describeFailure(error) }),
          );
          return;
        }
        case 'message':
          members
            .get(frame.data.member)
            ?.take(frame.data.message, bytes, frame.data.traceParent)
            .catch(() => undefined);
          return;
        case 'left':
          return members.get(frame.data.member)?.onLeft();
      }
    });
    opened.on('connect', () => {
      channel = opening;
      retryMs = FIRST_RETRY_MS;
      for (const [member, { manner, subject }] of members) send({ op: 'join', member, manner, subject });
      log.info({ path }, 'bus: connected');
      onConnection?.(true);
    });
    let failure: Error | null = null;
    opened.on('error', (error) => {
      failure = error;
    });
    opened.on('close', () => {
      const wasConnected = channel === opening;
      channel = null;
      inFlight.failAll('the connection to the bus was lost');
      for (const member of members.values()) member.onLost();
      if (wasConnected && !isClosed) log.warn({ path, err: failure }, 'bus: connection lost');
      if (wasConnected) onConnection?.(false);
      if (isClosed) return;
      retry = setTimeout(connect, retryMs);
      retryMs = Math.min(LONGEST_RETRY_MS, retryMs * 2);
    });
  };

  const join = (manner: Member['manner'], subject: string, inFlight: InFlight, take: Member['take']): Subscription => {
    const member = ++lastMember;
    let onLeft = () => {};
    members.set(member, { manner, subject, take, onLeft: () => onLeft(), onLost: () => onLeft() });
    send({ op: 'join', member, manner, subject });
    let stopped: Promise<void> | undefined;
    const stop = async () => {
      if (channel) {
        await new Promise<void>((resolve) => {
          onLeft = resolve;
          send({ op: 'leave', member });
        });
      }
      members.delete(member);
      await inFlight.settled();
    };
    return { stop: () => (stopped ??= stop()) };
  };

  connect();
  return {
    async ask(subject, request, { bytes, limitMs = questions[subject].limitMs } = {}) {
      if (!channel) throw new BusUnavailable('no connection to the bus');
      const askedAtMs = monotonicMs();
      const reply = await asking(subject, (traceParent) =>
        inFlight.ask(subject, limitMs, bytes?.byteLength ?? 0, (id) => {
          const frame: ClientFrame = { op: 'ask', id, subject, request, limitMs, askedAtMs, ...carrying(traceParent) };
          channel?.send(frame, bytes, () => inFlight.isAwaited(id));
        }),
      );
      // The reply was created and validated in the server's process, which runs the same version.
      return reply as Reply<typeof subject>;
    },
    serve(subject, handle) {
      const inFlight = createInFlight();
      return join('serve', subject, inFlight, (request, bytes, traceParent) => {
        const work = traceReply(subject, traceParent, async () =>
          handle(checkRequest(subject, request) as Request<typeof subject>, bytes),
        );
        inFlight.track(work);
        return work;
      });
    },
    wake: (subject, message) => hint({ op: 'wake', subject, message, ...carrying(activeTraceParent()) }),
    onWake(subject, work) {
      const inFlight = createInFlight();
      return join('wake', subject, inFlight, (message, _bytes, traceParent) => {
        const wake = checkWake(subject, message) as Wake<typeof subject> | null;
        const done = (async () => (wake ? below(traceParent, () => work(wake)) : undefined))();
        inFlight.track(done);
        return done.catch((error: unknown) => log.error({ err: error, wake: subject }, 'bus: woken work failed'));
      });
    },
    publish: (subject, message) =>
      hint({
        op: 'publish',
        subject,
        message,
        ...(isPublishingToOthers === true ? { isForOthers: true } : {}),
        ...carrying(activeTraceParent()),
      }),
    subscribe: (subject, take) =>
      join('subscribe', subject, createInFlight(), async (message, _bytes, traceParent) => {
        const broadcast = checkBroadcast(subject, message) as Broadcast<typeof subject> | null;
        try {
          if (broadcast) below(traceParent, () => take(broadcast));
        } catch (error) {
          log.error({ err: error, broadcast: subject }, 'bus: subscriber failed');
        }
      }),
    isConnected: () => channel !== null,
    async close() {
      isClosed = true;
      clearTimeout(retry);
      inFlight.failAll('the bus is closed');
      const closing = socket;
      if (!closing || closing.closed) return;
      await new Promise<void>((resolve) => {
        closing.once('close', () => resolve());
        closing.destroy();
      });
    },
  };
}

export interface SocketBusServer {
  /** Takes no more connections, waits up to `graceMs` for the clients to leave, ends every connection with its questions in flight, and removes the socket. */
  close(graceMs?: number): Promise<void>;
}

/**
 * Lets client processes of the same user reach the bus over a Unix socket (mode 0600). Replaces a socket that a killed process left behind.
 * Resolves when it listens; throws when it cannot.
 */
export async function serveSocketBus(options: {
  path: string;
  bus: InProcessBus;
  log: BusLog;
}): Promise<SocketBusServer> {
  const { path, bus, log } = options;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    bridgeSocket(socket, bus, log);
  });
  rmSync(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // The socket is created within the call to listen, so no other user can connect before its mode is set.
    const mask = process.umask(0o177);
    server.listen(path, () => resolve());
    process.umask(mask);
  });
  server.on('error', (error) => log.error({ err: error, path }, 'bus: socket server failed'));
  return {
    async close(graceMs = 0) {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      const end = () => {
        for (const socket of sockets) socket.destroy();
      };
      const timer = graceMs > 0 ? setTimeout(end, graceMs) : undefined;
      if (timer === undefined) end();
      await closed;
      clearTimeout(timer);
    },
  };
}

/** A subject that this client joined, and joins again after each reconnection. */
interface Member {
  manner: 'serve' | 'wake' | 'subscribe';
  subject: string;
  take: (payload: unknown, bytes: Uint8Array, traceParent: string | undefined) => Promise<unknown>;
  onLeft(): void;
  onLost(): void;
}
