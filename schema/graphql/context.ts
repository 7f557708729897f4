import { contextCacheSymbol } from '@pothos/core';
import { openReadSession } from '../../db/connection/read-session.ts';
import type { OperationContext } from '../../operations/context.ts';
import { createThreadPages, type ThreadPages } from './threads/thread-pages.ts';

/** What resolvers get; made for each request, so that nothing loaded for one user is there for another. */
export interface GraphContext {
  /** for mutations, whose operations have transactions of their own */
  operations: OperationContext;
  /** for what is only read: all of it in one transaction (db/connection/read-session.ts) */
  reads: OperationContext;
  threadPages: ThreadPages;
  /** by which the log tells of the request */
  requestId: string;
  /** what loaders remember hangs on this object */
  [contextCacheSymbol]: object;
  /** Gives the request so long from now, in place of the usual time. Milliseconds. */
  answerWithin: (milliseconds: number) => void;
  /** Gives back the connection by which was read, at the end of what was to be shown; later reads take another. */
  endReads: () => Promise<void>;
  /** whether what a client wants to be told goes on: not after it hung up */
  signal: AbortSignal;
}

export interface GraphContextOptions {
  operations: OperationContext;
  requestId: string;
  answerWithin: (milliseconds: number) => void;
  signal: AbortSignal;
}

/** `stopReads`: nobody waits for what is still to be read; so it is when the client hangs up. */
export function createGraphContext(options: GraphContextOptions): { context: GraphContext; stopReads: () => void } {
  const { operations, requestId, answerWithin, signal } = options;
  const session = openReadSession(operations.database, operations.userId);
  const reads = { ...operations, database: session.database };
  const context = {
    operations,
    reads,
    requestId,
    threadPages: createThreadPages(reads),
    [contextCacheSymbol]: {},
    answerWithin,
    endReads: () => session.end(),
    signal,
  };
  const stopReads = () => session.stop();
  signal.addEventListener('abort', stopReads, { once: true });
  return { context, stopReads };
}

/**
 * Forgets what was loaded. Whoever resolves an event of a subscription calls this first: its context lives as long as the subscription, and
 * loaders would answer what they read for earlier events. So does a mutation that several stand beside, through its own payload.
 */
export function forgetLoaded(context: GraphContext): void {
  context[contextCacheSymbol] = {};
  context.threadPages = createThreadPages(context.reads);
}
