import type { Serializable } from 'node:child_process';
import { z } from 'zod';

/** One end of the channel between a process and its child, from node:child_process or node:cluster. */
export interface Channel {
  send?(message: Serializable, onSent: (error: Error | null) => void): unknown;
  on(event: 'message', take: (message: unknown) => void): unknown;
  off(event: 'message', take: (message: unknown) => void): unknown;
}

/**
 * Questions of a process to its children: their metrics, what they are missing to be ready, and (at the end of a start) to print the
 * welcome text.
 */
export type ProcessQuestion = 'metrics' | 'missing' | 'welcome';

/**
 * A child that does not respond within this time is left out. Shorter for questions whose reply another process waits for. Milliseconds.
 */
const REPLY_LIMIT_MS = 2_000;
export const NESTED_REPLY_LIMIT_MS = 1_000;

const question = z.object({
  postroom: z.literal('ask'),
  id: z.number(),
  what: z.enum(['metrics', 'missing', 'welcome']),
});
const reply = z.object({ postroom: z.literal('reply'), id: z.number(), reply: z.unknown() });
let lastId = 0;

/** Asks a child process. Returns null if it does not respond in time or has ended. */
export function askProcess(child: Channel, what: ProcessQuestion, limitMs = REPLY_LIMIT_MS): Promise<unknown> {
  const id = ++lastId;
  return new Promise((resolve) => {
    const settle = (value: unknown) => {
      clearTimeout(late);
      child.off('message', take);
      resolve(value);
    };
    const take = (message: unknown) => {
      const parsed = reply.safeParse(message);
      if (parsed.success && parsed.data.id === id) settle(parsed.data.reply ?? null);
    };
    const late = setTimeout(settle, limitMs, null);
    child.on('message', take);
    try {
      // Without a callback, an error would go to the child's listeners or, if it has none, end this process.
      child.send?.({ postroom: 'ask', id, what }, (error) => {
        if (error !== null) settle(null);
      });
    } catch {
      settle(null);
    }
  });
}

/** Replies to the questions of the parent process, with null if a handler fails. Does nothing in a process without a parent. */
export function respondProcess(replies: Partial<Record<ProcessQuestion, () => Promise<unknown>>>): void {
  if (process.send === undefined) return;
  process.on('message', (message) => {
    const asked = question.safeParse(message);
    if (!asked.success) return;
    const { id, what } = asked.data;
    void Promise.resolve(replies[what]?.())
      .catch(() => null)
      .then((given) => {
        // The channel may have been closed meanwhile.
        if (process.connected) process.send?.({ postroom: 'reply', id, reply: given }, () => undefined);
      });
  });
}
