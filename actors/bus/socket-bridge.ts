import type { Socket } from 'node:net';
import { type Bus, BusUnavailable, questions, type Subscription } from '../../schema/messages.ts';
import { createFrameChannel } from './frame-channel.ts';
import type { InProcessBus } from './in-process.ts';
import { createQuestionsInFlight, MAX_BYTES_IN_FLIGHT } from './questions-in-flight.ts';
import { isBroadcast, isQuestion, isWake } from './shapes.ts';
import { type ClientFrame, carrying, clientFrame, type ServerFrame } from './socket-frames.ts';
import { activeTraceParent, below } from './tracing.ts';
import { type BusLog, describeFailure, failureError, monotonicMs } from './transport.ts';

/** Passes the frames of one client to the bus and back, until the client disconnects. */
export function bridgeSocket(socket: Socket, bus: InProcessBus, log: BusLog): void {
  const inFlight = createQuestionsInFlight();
  const joined = new Map<number, Subscription>();
  let bytesInHand = 0;

  const channel = createFrameChannel(socket, (head, bytes) => {
    const frame = clientFrame.safeParse(head);
    if (!frame.success) return void socket.destroy(new Error('malformed frame'));
    take(frame.data, bytes);
  });
  const send = (frame: ServerFrame, bytes?: Uint8Array, isWanted?: () => boolean) =>
    channel.send(frame, bytes, isWanted);

  const take = (frame: ClientFrame, bytes: Uint8Array) => {
    switch (frame.op) {
      case 'ask':
        return void ask(frame, bytes);
      case 'wake':
        return below(frame.traceParent, () => {
          if (isWake(frame.subject)) bus.wake(frame.subject, frame.message as Parameters<Bus['wake']>[1]);
        });
      case 'publish':
        return below(frame.traceParent, () => {
          if (!isBroadcast(frame.subject)) return;
          const message = frame.message as Parameters<Bus['publish']>[1];
          if (frame.isForOthers === true) bus.publishToOthers(frame.subject, message, new Set(joined.values()));
          else bus.publish(frame.subject, message);
        });
      case 'join': {
        const subscription = join(frame);
        if (subscription) joined.set(frame.member, subscription);
        return;
      }
      case 'leave':
        return void leave(frame.member);
      case 'reply':
        return inFlight.resolve(frame.id, frame.reply);
      case 'failure':
        return inFlight.fail(frame.id, failureError(frame.failure));
    }
  };

  const ask = async (frame: Extract<ClientFrame, { op: 'ask' }>, bytes: Uint8Array) => {
    const { id, subject } = frame;
    const limitMs = frame.limitMs - Math.max(0, monotonicMs() - frame.askedAtMs);
    // The asker gave up while this process was suspended, so nothing may be done on its behalf.
    if (limitMs <= 0) return;
    bytesInHand += bytes.byteLength;
    if (bytesInHand > MAX_BYTES_IN_FLIGHT) socket.pause();
    try {
      if (!isQuestion(subject)) throw new BusUnavailable(`no process serves ${subject}`);
      // The bus validates the request itself.
      const request = frame.request as Parameters<Bus['ask']>[1];
      const reply = await below(frame.traceParent, () => bus.ask(subject, request, { bytes, limitMs }));
      send({ op: 'reply', id, reply });
    } catch (error) {
      send({ op: 'failure', id, failure: describeFailure(error) });
    } finally {
      bytesInHand -= bytes.byteLength;
      if (bytesInHand <= MAX_BYTES_IN_FLIGHT && socket.isPaused()) socket.resume();
    }
  };

  const join = ({ manner, member, subject }: Extract<ClientFrame, { op: 'join' }>): Subscription | undefined => {
    if (manner === 'serve' && isQuestion(subject)) {
      return bus.serve(subject, async (request, bytes) => {
        const reply = await inFlight.ask(subject, questions[subject].limitMs, bytes.byteLength, (id) =>
          send({ op: 'question', id, member, request, ...carrying(activeTraceParent()) }, bytes, () =>
            inFlight.isAwaited(id),
          ),
        );
        return reply as Awaited<ReturnType<Parameters<typeof bus.serve<typeof subject>>[1]>>;
      });
    }
    const forward = (message: unknown) => send({ op: 'message', member, message, ...carrying(activeTraceParent()) });
    if (manner === 'wake' && isWake(subject)) return bus.onWake(subject, forward);
    if (manner === 'subscribe' && isBroadcast(subject)) return bus.subscribe(subject, forward);
    return undefined;
  };

  const leave = async (member: number) => {
    const subscription = joined.get(member);
    joined.delete(member);
    await subscription?.stop();
    send({ op: 'left', member });
  };

  socket.on('error', (error) => log.warn({ err: error }, 'bus: connection of a client failed'));
  socket.on('close', () => {
    inFlight.failAll('the connection of the server was lost');
    for (const member of joined.keys()) void leave(member);
  });
}
