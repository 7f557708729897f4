import { EVENT_KINDS, type EventKind as Kind } from '../../../core/events/event-kinds.ts';
import { fitsFilter } from '../../../operations/emails/wait-for-email.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { DeliveryChange, DomainChange, EmailChange, ThreadChange } from './changes.ts';
import { Event, EventKind } from './event.ts';
import { eventOf, followEvents } from './follow-events.ts';

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
        // Mail that was moved by hand did not come in now.
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
        // Whoever follows a thread that is merged into another learns of that.
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

function isOf(wished: string | null | undefined, id: string | null): boolean {
  return wished === null || wished === undefined || wished === id;
}
