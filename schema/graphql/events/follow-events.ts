import { GraphQLError } from 'graphql';
import type { EventKind } from '../../../core/events/event-kinds.ts';
import { type EventReader, type FeedEvent, openEvents, type StreamEnd } from '../../../operations/events/events.ts';
import { forgetLoaded, type GraphContext } from '../context.ts';

/** What the source of a subscription hands over: an event, or why no more come. */
export type Streamed = { kind: 'event'; event: FeedEvent } | { kind: 'ended'; reason: StreamEnd; cursor: string };

export interface FollowOptions {
  /** cursor; null: what happens from now on */
  after: string | null | undefined;
  /** null: every kind */
  kinds: readonly EventKind[] | null;
  /** whether the subscriber wants to be told of an event of these kinds */
  fits: (event: FeedEvent) => boolean | Promise<boolean>;
}

/** The source of a subscription. Throws what openEvents throws, before anything is answered. */
export async function followEvents(
  context: GraphContext,
  { after, kinds, fits }: FollowOptions,
): Promise<AsyncIterable<Streamed>> {
  const start = after === null || after === undefined ? 'now' : { cursor: after };
  return tell(context, await openEvents(context.operations, { start, kinds }), fits);
}

/** The event that is told of. What ends a stream from here is an error of its last answer. */
export function eventOf(told: Streamed): FeedEvent {
  if (told.kind === 'event') return told.event;
  const { reason, cursor } = told;
  throw new GraphQLError(meanings[reason], { extensions: { code: reason, cursor } });
}

const meanings: Record<StreamEnd, string> = {
  TOO_FAR_BEHIND: 'Events come faster than they are read. Subscribe again after the cursor.',
  GOING_AWAY: 'This gateway is stopping. Subscribe again after the cursor.',
  UNAUTHORIZED: 'The API key opens nothing any more.',
};

async function* tell(
  context: GraphContext,
  reader: EventReader,
  fits: FollowOptions['fits'],
): AsyncGenerator<Streamed, void> {
  try {
    for (;;) {
      const pulled = await reader.pull();
      switch (pulled.kind) {
        case 'closed':
          return;
        case 'nothing':
          break;
        case 'ended':
          return yield { kind: 'ended', reason: pulled.reason, cursor: pulled.cursor };
        case 'events':
          for (const event of pulled.events) {
            if (context.operations.caller.gone.aborted) return;
            if (!(await fits(event))) continue;
            // The event shows its things as they are now, not as they were at the one before.
            forgetLoaded(context);
            yield { kind: 'event', event };
            // It has been told. Others wait for the connection.
            void context.endReads();
          }
      }
    }
  } finally {
    reader.close();
  }
}
