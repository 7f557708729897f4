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
function toEvent(told: Streamed): FeedEvent {
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
    resolve: toEvent,
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
    resolve: toEvent,
  }),
}));

/** A subscription to events about one kind of object, or about one object. */
interface Changes {
  type: typeof EmailChange;
  of: 'email' | 'thread' | 'delivery' | 'domain';
  description: string;
  /** the argument that names one object, and its description */
  argument?: string;
  argumentDescription: string;
  /** kinds of objects with such events, if it is not this one alone */
  sources?: readonly string[];
  /** returns the IDs that the argument matches */
  idsOf: (event: FeedEvent) => readonly unknown[];
}

const SUBSCRIPTIONS: Record<string, Changes> = {
  emailUpdated: {
    type: EmailChange,
    of: 'email',
    description: 'Events about emails: received, threaded, read, sent, delivered, bounced and so on.',
    argumentDescription: 'ID of an email, to return its events only. Null returns those of all emails.',
    idsOf: ({ emailId }) => [emailId],
  },
  threadUpdated: {
    type: ThreadChange,
    of: 'thread',
    sources: ['thread', 'email'],
    description: 'Events about threads and their messages: new messages, flags, labels, merges.',
    argumentDescription: 'ID of a thread, to return its events only. Null returns those of all threads.',
    // A merged thread also reports the event that merged it.
    idsOf: ({ threadId, data }) => [threadId, data['alias']],
  },
  deliveryUpdated: {
    type: DeliveryChange,
    of: 'delivery',
    description: 'Events about deliveries to endpoints.',
    argument: 'endpointId',
    argumentDescription: 'ID of an endpoint, to return its deliveries only. Null returns those of all endpoints.',
    idsOf: ({ endpointId }) => [endpointId],
  },
  domainUpdated: {
    type: DomainChange,
    of: 'domain',
    description: 'Events about domains: verified, failed, records missing.',
    argumentDescription: 'ID of a domain, to return its events only. Null returns those of all domains.',
    idsOf: ({ domainId }) => [domainId],
  },
};

for (const [field, subscription] of Object.entries(SUBSCRIPTIONS)) {
  const { type, of, sources = [of], description, argument = 'id', argumentDescription, idsOf } = subscription;
  const kinds = (Object.keys(EVENT_KINDS) as Kind[]).filter((kind) => sources.includes(kind.split('.', 1)[0] ?? ''));
  builder.subscriptionField(field, (t) =>
    t.field({
      type,
      access: access.read,
      description,
      args: { [argument]: t.arg.id({ description: argumentDescription }), after: t.arg.string({ description: AFTER }) },
      subscribe: (_root, args, context) => {
        const { [argument]: id, after } = args as Record<string, string | null | undefined>;
        return followEvents(context, {
          after,
          kinds,
          fits: (event) => event[`${of}Id`] !== null && (id === null || id === undefined || idsOf(event).includes(id)),
        });
      },
      resolve: toEvent,
    }),
  );
}
