import { GraphQLError } from 'graphql';
import { EVENT_KINDS, type EventKind as Kind } from '../../../core/events/event-kinds.ts';
import { fitsFilter } from '../../../operations/emails/wait-for-email.ts';
import { type EventReader, type FeedEvent, openEvents, type StreamEnd } from '../../../operations/events/events.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { forgetLoaded, type GraphContext } from '../context.ts';
import { DeliveryChange, DomainChange, EmailChange, Event, EventKind, ThreadChange } from './event.ts';

/** An event, or the reason why the subscription ends. */
type Streamed = { kind: 'event'; event: FeedEvent } | { kind: 'ended'; reason: StreamEnd; cursor: string };

interface FollowOptions {
  /** cursor to resume from; null starts with new events */
  after: string | null | undefined;
  /** null for all kinds */
  kinds: readonly Kind[] | null;
  /** returns whether an event of these kinds matches the arguments of the subscription */
  fits: (event: FeedEvent) => boolean | Promise<boolean>;
}

/** Opens the event stream of a subscription. Throws the errors of openEvents before the response starts. */
async function followEvents(
  context: GraphContext,
  { after, kinds, fits }: FollowOptions,
): Promise<AsyncIterable<Streamed>> {
  const start = after === null || after === undefined ? 'now' : { cursor: after };
  return tell(context, await openEvents(context.operations, { start, kinds }), fits);
}

/** Returns the event. Throws the reason if the gateway ended the stream; it becomes the error of the last result. */
function eventOf(told: Streamed): FeedEvent {
  if (told.kind === 'event') return told.event;
  const { reason, cursor } = told;
  throw new GraphQLError(meanings[reason], { extensions: { code: reason, cursor } });
}

const meanings: Record<StreamEnd, string> = {
  TOO_FAR_BEHIND: 'Events arrive faster than they are read. Subscribe again after the cursor.',
  GOING_AWAY: 'This gateway is stopping. Subscribe again after the cursor.',
  UNAUTHORIZED: 'The API key is no longer valid.',
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
          yield { kind: 'ended', reason: pulled.reason, cursor: pulled.cursor };
          return;
        case 'events':
          for (const event of pulled.events) {
            if (context.operations.caller.gone.aborted) return;
            if (!(await fits(event))) continue;
            // The objects of the event must show their current state, not what was loaded for an earlier event.
            forgetLoaded(context);
            yield { kind: 'event', event };
            // The event has been sent; other requests need the connection and the memory.
            void context.endReads();
            context.operations.room.giveBack();
            context.bodies.reset();
          }
      }
    }
  } finally {
    reader.close();
  }
}

builder.subscriptionType({
  description:
    'Live events over server-sent events. Pass the cursor of the last event received as `after` to resume without a gap; without it, the subscription starts with new events. If the server ends a subscription, it sends an error whose `extensions` contain `code` (TOO_FAR_BEHIND, GOING_AWAY or UNAUTHORIZED) and `cursor`.',
});

const AFTER = 'Cursor of the last event received. Null starts with new events.';
const any = () => true;

builder.subscriptionFields((t) => ({
  events: t.field({
    type: Event,
    access: access.read,
    description: 'All events, in order and without gaps.',
    args: {
      after: t.arg.string({ description: AFTER }),
      kinds: t.arg({ type: [EventKind], description: 'Kinds of events to return. Null returns all.' }),
    },
    subscribe: (_root, { after, kinds }, context) =>
      followEvents(context, {
        after,
        kinds: kinds === null || kinds === undefined || kinds.length === 0 ? null : kinds,
        fits: any,
      }),
    resolve: eventOf,
  }),
  emailReceived: t.field({
    type: EmailChange,
    access: access.read,
    description: 'Received emails, each once it has been added to a thread.',
    args: {
      address: t.arg.string({
        description:
          'ID of one of your addresses, or the address itself, to return its mail only. An address with a plus tag matches mail to that tag only.',
      }),
      domain: t.arg.string({ description: 'ID or name of one of your domains, to return its mail only.' }),
      after: t.arg.string({ description: AFTER }),
    },
    subscribe: (_root, { after, address, domain }, context) => {
      const filter = { address: address ?? undefined, domain: domain ?? undefined };
      return followEvents(context, {
        after,
        kinds: ['email.threaded'],
        // An email that the user moved to another thread was not received now.
        fits: ({ emailId, data }) => {
          if (emailId === null || data['reason'] === 'manual' || data['type'] === 'sent') return false;
          const isAny = filter.address === undefined && filter.domain === undefined;
          return (isAny && data['type'] === 'received') || fitsFilter(context.operations, emailId, filter);
        },
      });
    },
    resolve: eventOf,
  }),
  emailUpdated: t.field({
    type: EmailChange,
    access: access.read,
    description: 'Events about emails: received, threaded, read, sent, delivered, bounced and so on.',
    args: {
      id: t.arg.id({ description: 'ID of an email, to return its events only. Null returns those of all emails.' }),
      after: t.arg.string({ description: AFTER }),
    },
    subscribe: (_root, { id, after }, context) =>
      followEvents(context, {
        after,
        kinds: kindsOf('email'),
        fits: ({ emailId }) => emailId !== null && isOf(id, emailId),
      }),
    resolve: eventOf,
  }),
  threadUpdated: t.field({
    type: ThreadChange,
    access: access.read,
    description: 'Events about threads and their messages: new messages, flags, labels, merges.',
    args: {
      id: t.arg.id({ description: 'ID of a thread, to return its events only. Null returns those of all threads.' }),
      after: t.arg.string({ description: AFTER }),
    },
    subscribe: (_root, { id, after }, context) =>
      followEvents(context, {
        after,
        kinds: [...kindsOf('thread'), ...kindsOf('email')],
        // A merged thread also reports the event that merged it.
        fits: ({ threadId, data }) => threadId !== null && (isOf(id, threadId) || data['alias'] === id),
      }),
    resolve: eventOf,
  }),
  deliveryUpdated: t.field({
    type: DeliveryChange,
    access: access.read,
    description: 'Events about deliveries to endpoints.',
    args: {
      endpointId: t.arg.id({
        description: 'ID of an endpoint, to return its deliveries only. Null returns those of all endpoints.',
      }),
      after: t.arg.string({ description: AFTER }),
    },
    subscribe: (_root, { endpointId: id, after }, context) =>
      followEvents(context, {
        after,
        kinds: kindsOf('delivery'),
        fits: ({ deliveryId, endpointId }) => deliveryId !== null && isOf(id, endpointId),
      }),
    resolve: eventOf,
  }),
  domainUpdated: t.field({
    type: DomainChange,
    access: access.read,
    description: 'Events about domains: verified, failed, records missing.',
    args: {
      id: t.arg.id({ description: 'ID of a domain, to return its events only. Null returns those of all domains.' }),
      after: t.arg.string({ description: AFTER }),
    },
    subscribe: (_root, { id, after }, context) =>
      followEvents(context, {
        after,
        kinds: kindsOf('domain'),
        fits: ({ domainId }) => domainId !== null && isOf(id, domainId),
      }),
    resolve: eventOf,
  }),
}));

function kindsOf(of: 'email' | 'thread' | 'delivery' | 'domain'): Kind[] {
  return (Object.keys(EVENT_KINDS) as Kind[]).filter((kind) => kind.startsWith(`${of}.`));
}

function isOf(expected: string | null | undefined, id: string | null): boolean {
  return expected === null || expected === undefined || expected === id;
}
