import { contextCacheSymbol } from '@pothos/core';
import { openReadSession } from '../../db/connection/read-session.ts';
import type { OperationContext } from '../../operations/context.ts';
import { type BodyBudget, MAX_EVENT_BYTES, openBodyBudget } from './body-budget.ts';

/** What resolvers get. Created for each request, so that data loaded for one user is never returned to another. */
export interface GraphContext {
  /** for mutations, whose operations open their own transactions */
  operations: OperationContext;
  /** for queries: all reads share one transaction (db/connection/read-session.ts) */
  reads: OperationContext;
  /** the ID of the request in the log */
  requestId: string;
  /** the object that the caches of loaders belong to */
  [contextCacheSymbol]: object;
  /** Moves the deadline of the request to this many milliseconds from now. */
  respondWithin: (milliseconds: number) => void;
  /** Releases the database connection of the reads; later reads take another one. */
  endReads: () => Promise<void>;
  /** aborted when the client disconnects */
  signal: AbortSignal;
  /** the long texts of the result */
  bodies: BodyBudget;
}

export interface GraphContextOptions {
  operations: OperationContext;
  requestId: string;
  respondWithin: (milliseconds: number) => void;
  signal: AbortSignal;
  /** whether results are events of a stream, whose texts are in memory as a whole */
  isEventStream?: boolean;
}

/** Returns the context and `stopReads`, which cancels pending reads; a disconnect of the client does the same. */
export function createGraphContext(options: GraphContextOptions): { context: GraphContext; stopReads: () => void } {
  const { operations, requestId, respondWithin, signal, isEventStream = false } = options;
  const session = openReadSession(operations.database, operations.workspaceId);
  const reads = { ...operations, database: session.database };
  const context = {
    operations,
    reads,
    requestId,
    [contextCacheSymbol]: {},
    respondWithin,
    endReads: () => session.end(),
    signal,
    bodies: openBodyBudget(
      isEventStream ? { maxBytes: MAX_EVENT_BYTES, take: (bytes) => operations.room.take(bytes) } : {},
    ),
  };
  const stopReads = () => session.stop();
  signal.addEventListener('abort', stopReads, { once: true });
  return { context, stopReads };
}

/**
 * Clears the caches of all loaders. Call it before resolving an event of a subscription, whose context lives as long as the subscription,
 * and after a mutation, whose payload and later fields must show the new state.
 */
export function forgetLoaded(context: GraphContext): void {
  context[contextCacheSymbol] = {};
}
