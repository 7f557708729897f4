import type { FastifyReply } from 'fastify';
import { UserError } from '../../core/shared/errors.ts';
import type { Caller } from '../../operations/caller.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** the client of the request; null before admission */
    caller: Caller | null;
  }
}

/** Returns the caller of a request. Its abort signal is created on first use, because most operations never use it. */
export function openCaller(
  { raw }: FastifyReply,
  { via, isAllowed, signedInAt = null }: Pick<Caller, 'via' | 'isAllowed'> & Partial<Pick<Caller, 'signedInAt'>>,
): Caller {
  let gone: AbortSignal | null = null;
  return {
    via,
    signedInAt,
    get gone() {
      if (gone !== null) return gone;
      const controller = new AbortController();
      if (raw.destroyed || raw.writableFinished) controller.abort(closed());
      else raw.once('close', () => controller.abort(closed()));
      gone = controller.signal;
      return gone;
    },
    isAllowed,
    hangUp: () => void raw.destroy(),
  };
}

/** The reason why work for a client ends that has left; not a fault of the service. */
function closed(): UserError {
  return new UserError('unavailable', 'The connection is closed');
}
