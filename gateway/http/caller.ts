import type { FastifyReply } from 'fastify';
import type { Caller } from '../../operations/caller.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** who waits for the answer; null before admission */
    caller: Caller | null;
  }
}

/** The caller at the other end of an answer. Most operations never ask whether it is gone, so that its signal is made when one does. */
export function openCaller({ raw }: FastifyReply, { via, isAllowed }: Pick<Caller, 'via' | 'isAllowed'>): Caller {
  let gone: AbortSignal | null = null;
  return {
    via,
    get gone() {
      if (gone !== null) return gone;
      const controller = new AbortController();
      if (raw.destroyed || raw.writableFinished) controller.abort();
      else raw.once('close', () => controller.abort());
      gone = controller.signal;
      return gone;
    },
    isAllowed,
    hangUp: () => void raw.destroy(),
  };
}
