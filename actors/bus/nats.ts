import { randomUUID } from 'node:crypto';
import { headers, type Msg, type MsgHdrs } from '@nats-io/transport-node';
import {
  type Broadcast,
  type Bus,
  BusUnavailable,
  MAX_BYTES,
  type QuestionSubject,
  questions,
  type Reply,
  type Request,
  type Subscription,
  type Wake,
} from '../../schema/messages.ts';
import { keepNatsConnection, readRole } from './nats-connection.ts';
import {
  envelopeBytes,
  packEnvelope,
  parseJson,
  type QuestionHead,
  questionHead,
  type ReplyHead,
  replyHead,
  SUBJECT_PREFIX,
  unpackEnvelope,
} from './nats-envelope.ts';
import { createGatherer, sendChunks } from './nats-stream.ts';
import { createQuestionAges } from './question-ages.ts';
import { createQuestionsInFlight } from './questions-in-flight.ts';
import { checkBroadcast, checkReply, checkRequest, checkWake } from './shapes.ts';
import { activeTraceParent, asking, below, TRACE_PARENT, TRACE_PARENT_BYTES, traceReply } from './tracing.ts';
import { type BusLog, createInFlight, describeFailure, failureError, monotonicMs } from './transport.ts';

export interface NatsBusOptions {
  /** nats://host:port, tls://user:password@host; several separated by commas */
  url: string;
  log: BusLog;
  /** shown by the server's monitoring */
  name: string;
  /** called when the connection is lost or restored; wakes and broadcasts in between are lost */
  onConnection?: (isConnected: boolean) => void;
}

/** The queue group of subjects whose messages go to one of several servers. */
const QUEUE_GROUP = 'postroom';
const NO_RESPONDERS = 503;
/**
 * An age is underestimated by the time that the asker's fastest question took, so a question this close to its limit counts as given up.
 */
const SERVED_PORTION = 0.9;

/**
 * The bus over NATS (2.9 or later, no JetStream). Usable at once: while there is no connection, questions fail with BusUnavailable
 * and wakes and broadcasts are dropped. Bytes travel in the question's one message, or in chunks above the server's max_payload.
 */
export function connectNatsBus({ url, log, name, onConnection }: NatsBusOptions): Bus {
  const asker = randomUUID();
  const role = readRole(url);
  const inbox = `${SUBJECT_PREFIX}inbox.${role}.${asker}.`;
  const inFlight = createQuestionsInFlight();
  const streaming = new Map<number, Uint8Array>();
  const ages = createQuestionAges();
  const gatherer = createGatherer(role);
  const connection = keepNatsConnection({
    url,
    name,
    log,
    onConnection(isConnected) {
      if (!isConnected) inFlight.failAll('the connection to NATS was lost');
      onConnection?.(isConnected);
    },
  });

  connection.subscribe(`${inbox}*`, null, (message) => {
    const id = Number(message.subject.slice(inbox.length));
    if (message.headers?.code === NO_RESPONDERS) return inFlight.fail(id, new BusUnavailable('no process serves it'));
    const reply = replyHead.safeParse(parseJson(message.string()));
    if (!reply.success) return inFlight.fail(id, new BusUnavailable('malformed reply'));
    switch (reply.data.op) {
      case 'reply':
        return inFlight.resolve(id, reply.data.reply);
      case 'failure':
        return inFlight.fail(id, failureError(reply.data.failure));
      case 'stream': {
        const bytes = streaming.get(id);
        const live = connection.current();
        if (!bytes || !live) return;
        sendChunks(live, reply.data.subject, bytes, () => inFlight.isAwaited(id)).catch((error: unknown) =>
          inFlight.fail(id, new BusUnavailable('the bytes could not be sent', { cause: error })),
        );
      }
    }
  });

  const sendQuestion = (id: number, subject: QuestionSubject, question: Question) => {
    const { head, bytes, traceParent } = question;
    const live = connection.current();
    if (!live) return inFlight.fail(id, new BusUnavailable('no connection to NATS'));
    let packedHead = Buffer.from(JSON.stringify(head));
    const headerBytes = traceParent === null ? 0 : HEADER_BYTES;
    const isStreamed = envelopeBytes(packedHead, bytes.byteLength) + headerBytes > (live.info?.max_payload ?? 0);
    if (isStreamed) {
      streaming.set(id, bytes);
      packedHead = Buffer.from(JSON.stringify({ ...head, streamedBytes: bytes.byteLength } satisfies QuestionHead));
    }
    const envelope = packEnvelope(packedHead, isStreamed ? null : bytes);
    live.publish(SUBJECT_PREFIX + subject, envelope, { reply: inbox + id, ...carrying(traceParent) });
  };

  /** Returns the question's head and bytes, gathered from a stream when they did not come with it; null when its asker has given up. */
  const receive = async (subject: string, message: Msg, respond: (head: ReplyHead) => void) => {
    const envelope = unpackEnvelope(message.data);
    const head = questionHead.safeParse(envelope?.head);
    if (!envelope || !head.success) throw new Error('malformed question');
    const { limitMs, streamedBytes, request } = head.data;
    const leftMs = limitMs * SERVED_PORTION - ages.ageMs(head.data.asker, head.data.askedAtMs, monotonicMs());
    if (leftMs <= 0) {
      log.warn({ question: subject }, 'bus: question came after its asker gave up');
      return null;
    }
    if (streamedBytes === null) return { request, bytes: envelope.bytes };
    const live = connection.current();
    if (!live || streamedBytes > MAX_BYTES) throw new BusUnavailable('the bytes cannot be received');
    const bytes = await gatherer.gather(live, streamedBytes, leftMs, (opened) =>
      respond({ op: 'stream', subject: opened }),
    );
    return { request, bytes };
  };

  const take = async <S extends QuestionSubject>(
    subject: S,
    message: Msg,
    handle: (request: Request<S>, bytes: Uint8Array) => Promise<Reply<S>>,
  ) => {
    // When its connection is lost, no reply to a message is possible; the asker learned that on its own side.
    const respond = (head: ReplyHead) => connection.current() !== null && message.respond(JSON.stringify(head));
    try {
      const received = await receive(subject, message, respond);
      if (!received) return;
      const reply = await traceReply(subject, findTraceParent(message), async () =>
        handle(checkRequest(subject, received.request), received.bytes),
      );
      respond({ op: 'reply', reply });
    } catch (error) {
      respond({ op: 'failure', failure: describeFailure(error) });
    }
  };

  const hint = (subject: string, message: unknown) => {
    try {
      connection.current()?.publish(SUBJECT_PREFIX + subject, JSON.stringify(message), carrying(activeTraceParent()));
    } catch (error) {
      log.warn({ err: error, subject }, 'bus: hint dropped');
    }
  };

  return {
    async ask<S extends QuestionSubject>(
      subject: S,
      request: Request<S>,
      { bytes = NO_BYTES, limitMs = questions[subject].limitMs }: { bytes?: Uint8Array; limitMs?: number } = {},
    ) {
      if (!connection.current()) throw new BusUnavailable('no connection to NATS');
      let asked = 0;
      const askedAtMs = monotonicMs();
      try {
        const reply = await asking(subject, (traceParent) =>
          inFlight.ask(subject, limitMs, bytes.byteLength, (id) => {
            asked = id;
            const head = { request, limitMs, asker, askedAtMs, streamedBytes: null };
            sendQuestion(id, subject, { head, bytes, traceParent });
          }),
        );
        return checkReply(subject, reply);
      } finally {
        streaming.delete(asked);
      }
    },
    serve(subject, handle) {
      const inFlight = createInFlight();
      const leave = connection.subscribe(SUBJECT_PREFIX + subject, QUEUE_GROUP, (message) =>
        inFlight.track(take(subject, message, handle)),
      );
      return stopping(leave, () => inFlight.settled());
    },
    wake: hint,
    onWake(subject, work) {
      const inFlight = createInFlight();
      const leave = connection.subscribe(SUBJECT_PREFIX + subject, QUEUE_GROUP, (message) => {
        const wake: Wake<typeof subject> | null = checkWake(subject, parseJson(message.string()));
        if (!wake) return log.error({ wake: subject }, 'bus: malformed wake dropped');
        const done = (async () => below(findTraceParent(message), () => work(wake)))();
        inFlight.track(done);
        done.catch((error: unknown) => log.error({ err: error, wake: subject }, 'bus: woken work failed'));
      });
      return stopping(leave, () => inFlight.settled());
    },
    publish: hint,
    subscribe(subject, taker) {
      const leave = connection.subscribe(SUBJECT_PREFIX + subject, null, (message) => {
        const broadcast: Broadcast<typeof subject> | null = checkBroadcast(subject, parseJson(message.string()));
        if (!broadcast) return log.error({ broadcast: subject }, 'bus: malformed broadcast dropped');
        try {
          below(findTraceParent(message), () => taker(broadcast));
        } catch (error) {
          log.error({ err: error, broadcast: subject }, 'bus: subscriber failed');
        }
      });
      return stopping(leave, () => Promise.resolve());
    },
    isConnected: () => connection.current() !== null,
    async close() {
      inFlight.failAll('the bus is closed');
      await connection.close();
    },
  };
}

const NO_BYTES = new Uint8Array(0);
/** Size of a header section with a traceparent: version line, name, value and line ends. The server counts it as payload. */
const HEADER_BYTES = 'NATS/1.0\r\n'.length + `${TRACE_PARENT}: \r\n\r\n`.length + TRACE_PARENT_BYTES;

interface Question {
  head: QuestionHead;
  bytes: Uint8Array;
  /** null: no header section */
  traceParent: string | null;
}

function carrying(traceParent: string | null): { headers?: MsgHdrs } {
  if (traceParent === null) return {};
  const section = headers();
  section.set(TRACE_PARENT, traceParent);
  return { headers: section };
}

function findTraceParent({ headers: section }: Msg): string | null {
  return section?.get(TRACE_PARENT) ?? null;
}

function stopping(leave: () => Promise<void>, settled: () => Promise<void>): Subscription {
  let stopped: Promise<void> | undefined;
  return { stop: () => (stopped ??= leave().then(settled)) };
}
