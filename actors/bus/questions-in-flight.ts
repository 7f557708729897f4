import { BusTimeout, BusUnavailable, MAX_BYTES } from '../../schema/messages.ts';
import { monotonicMs } from './transport.ts';

/**
 * Maximum bytes that one bus connection has in flight: more than one of the largest messages. Those who serve them hold as much for each
 * connection. Further questions wait for room, within their own time limits.
 */
export const MAX_BYTES_IN_FLIGHT = 20_000_000;

/** The asker's side of every transport: limits time and bytes, settles each question once, and drops late replies. */
export interface QuestionsInFlight {
  /**
   * Calls `send` with the number of the question once there is room for its bytes. The question settles by `resolve`, `fail` or `failAll`,
   * or with BusTimeout. If `send` returns a promise, the bytes count as in flight until it settles, however the question ended. Throws
   * RangeError for more than MAX_BYTES.
   */
  ask(
    subject: string,
    limitMs: number,
    sizeBytes: number,
    send: (id: number) => Promise<void> | void,
  ): Promise<unknown>;
  resolve(id: number, reply: unknown): void;
  fail(id: number, error: Error): void;
  /** Fails every question with BusUnavailable, including any that wait for room. */
  failAll(reason: string): void;
  /** Whether the asker is still waiting. */
  isAwaited(id: number): boolean;
}

interface Question {
  resolve: (reply: unknown) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout | undefined;
  sizeBytes: number;
  /** the bytes are released when the question settles, not when the work does */
  isHeldByAsker: boolean;
}

export function createQuestionsInFlight(capacityBytes = MAX_BYTES_IN_FLIGHT): QuestionsInFlight {
  const open = new Map<number, Question>();
  let lastId = 0;
  let freeBytes = capacityBytes;
  let waiting: { id: number; start: () => void }[] = [];

  const admit = () => {
    while (waiting.length > 0) {
      const next = waiting[0];
      const question = next && open.get(next.id);
      if (question && question.sizeBytes > freeBytes) return;
      waiting.shift();
      if (next && question) next.start();
    }
  };
  const giveBack = (bytes: number) => {
    if (bytes === 0) return;
    freeBytes += bytes;
    admit();
  };
  const settle = (id: number): Question | undefined => {
    const question = open.get(id);
    if (!question) return undefined;
    open.delete(id);
    clearTimeout(question.timer);
    if (question.isHeldByAsker) giveBack(question.sizeBytes);
    else admit();
    return question;
  };
  const fail = (id: number, error: Error) => settle(id)?.reject(error);

  const start = (id: number, question: Question, send: (id: number) => Promise<void> | void) => {
    freeBytes -= question.sizeBytes;
    try {
      const work = send(id);
      if (work === undefined) {
        question.isHeldByAsker = true;
        if (!open.has(id)) giveBack(question.sizeBytes);
        return;
      }
      const release = () => giveBack(question.sizeBytes);
      work.then(release, release);
    } catch (error) {
      question.isHeldByAsker = true;
      if (open.has(id)) fail(id, error as Error);
      else giveBack(question.sizeBytes);
    }
  };

  return {
    ask: (subject, limitMs, sizeBytes, send) =>
      new Promise((resolve, reject) => {
        if (sizeBytes > MAX_BYTES) throw new RangeError(`${sizeBytes} bytes are above ${MAX_BYTES}`);
        const id = ++lastId;
        const question: Question = { resolve, reject, timer: undefined, sizeBytes, isHeldByAsker: false };
        open.set(id, question);
        // A timer may fire slightly early. The server decides by this clock whether the asker gave up, so the asker does too.
        const endsAtMs = monotonicMs() + limitMs;
        const giveUp = () => {
          const leftMs = endsAtMs - monotonicMs();
          if (leftMs > 0) question.timer = setTimeout(giveUp, leftMs);
          else fail(id, new BusTimeout(`${subject}: no reply in ${limitMs} ms`));
        };
        question.timer = setTimeout(giveUp, limitMs);
        // Small questions without bytes never queue behind large ones.
        if (sizeBytes === 0 || (waiting.length === 0 && sizeBytes <= freeBytes)) start(id, question, send);
        else waiting.push({ id, start: () => start(id, question, send) });
      }),
    resolve: (id, reply) => settle(id)?.resolve(reply),
    fail,
    failAll(reason) {
      waiting = [];
      for (const id of open.keys()) fail(id, new BusUnavailable(reason));
    },
    isAwaited: (id) => open.has(id),
  };
}
