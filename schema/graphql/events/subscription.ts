import { EVENT_KINDS, type EventKind as Kind } from '../../../core/events/event-kinds.ts';
import { fitsFilter } from '../../../operations/emails/wait-for-email.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { DeliveryChange, DomainChange, EmailChange, ThreadChange } from './changes.ts';
import { Event, EventKind } from './event.ts';
import { eventOf, followEvents } from './follow-events.ts';

builder.subscriptionType({
  description:
    'What happens, as it happens, over server-sent events. Every subscription takes up where it was by `after`, the cursor of what came last; without it, it begins with what happens from now on. One that is ended from here ends with an error whose `extensions` hold `code` (TOO_FAR_BEHIND, GOING_AWAY, UNAUTHORIZED) and `cursor`.',
});

const AFTER = 'Cursor of the event that was told last; null: what happens from now on.';
const any = () => true;

builder.subscriptionFields((t) => ({
  events: t.field({
    type: Event,
    access: access.read,
    description: 'All that happens, in order and without a gap.',
    args: {
      after: t.arg.string({ description: AFTER }),
      kinds: t.arg({ type: [EventKind], description: 'Only of these kinds; null: all.' }),
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
    description: 'Each received email, when it has its thread.',
    args: {
      address: t.arg.string({
        description:
          'Only mail to this address of yours (its id, or the address itself; with a plus-tag to that tag alone).',
      }),
      domain: t.arg.string({ description: 'Only mail to this domain of yours: its id or name.' }),
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
    description: 'What happens to emails: received, threaded, read, sent, delivered, bounced and so on.',
    args: {
      id: t.arg.id({ description: 'Of this email alone; null: of all.' }),
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
    description: 'What happens to threads and to the messages in them: new ones, marks, labels, merges.',
    args: {
      id: t.arg.id({ description: 'Of this thread alone; null: of all.' }),
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
    description: 'What comes of deliveries to endpoints.',
    args: {
      endpointId: t.arg.id({ description: 'To this endpoint alone; null: to all.' }),
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
    description: 'What happens to domains: proven, failed, records lost.',
    args: {
      id: t.arg.id({ description: 'Of this domain alone; null: of all.' }),
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
