import type { Serializable } from 'node:child_process';
import { z } from 'zod';

/** One end of the channel between a process and one that it started, by node:child_process or node:cluster. */
export interface Channel {
  send?(message: Serializable, onSent: (error: Error | null) => void): unknown;
  on(event: 'message', take: (message: unknown) => void): unknown;
  off(event: 'message', take: (message: unknown) => void): unknown;
}

/** What a process asks of those that it started: their metrics, and what they miss to do their work. */
export type ProcessQuestion = 'metrics' | 'missing';

/** Who does not answer within this time is left out: less for those whose answer somebody else waits for. Milliseconds. */
const ANSWER_LIMIT_MS = 2_000;
export const NESTED_ANSWER_LIMIT_MS = 1_000;

const question = z.object({ postroom: z.literal('ask'), id: z.number(), what: z.enum(['metrics', 'missing']) });
const answer = z.object({ postroom: z.literal('answer'), id: z.number(), answer: z.unknown() });
let lastId = 0;

/** Asks a process that we started; null when it does not answer in time, or has ended. */
export function askProcess(child: Channel, what: ProcessQuestion, limitMs = ANSWER_LIMIT_MS): Promise<unknown> {
  const id = ++lastId;
  return new Promise((resolve) => {
    const settle = (value: unknown) => {
      clearTimeout(late);
      child.off('message', take);
      resolve(value);
    };
    const take = (message: unknown) => {
      const parsed = answer.safeParse(message);
      if (parsed.success && parsed.data.id === id) settle(parsed.data.answer ?? null);
    };
    const late = setTimeout(settle, limitMs, null);
    child.on('message', take);
    try {
      // Without a callback an error would go to the child's listeners, or, where there are none, end this process.
      child.send?.({ postroom: 'ask', id, what }, (error) => {
        if (error !== null) settle(null);
      });
    } catch {
      settle(null);
    }
  });
}

/** Answers whoever started this process; null is given where an answer fails. Does nothing in a process that nobody can ask. */
export function answerProcess(answers: Record<ProcessQuestion, () => Promise<unknown>>): void {
  if (process.send === undefined) return;
  process.on('message', (message) => {
    const asked = question.safeParse(message);
    if (!asked.success) return;
    const { id, what } = asked.data;
    void answers[what]()
      .catch(() => null)
      .then((given) => {
        // The channel may have been closed meanwhile.
        if (process.connected) process.send?.({ postroom: 'answer', id, answer: given }, () => undefined);
      });
  });
}
