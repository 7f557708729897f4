import { decodeEventCursor, encodeEventCursor } from '../../../core/events/event-cursor.ts';
import { EVENT_KINDS, type EventKind as Kind } from '../../../core/events/event-kinds.ts';
import { countEvents, cursorOf, type FeedEvent, pageEvents } from '../../../operations/events/events.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { type Connection, connectionBy } from '../connection.ts';
import { DeliveryNode, DomainNode, EmailNode, EndpointInterface, ThreadNode } from '../nodes.ts';

export const EventKind = builder.enumType('EventKind', {
  description: 'What kind of thing happened.',
  values: Object.fromEntries(
    Object.entries(EVENT_KINDS).map(([kind, description]) => [
      kind.replaceAll('.', '_').toUpperCase(),
      { value: kind as Kind, description },
    ]),
  ),
});

export const Event = builder.objectRef<FeedEvent>('Event').implement({
  description: 'Something that happened. What it is of is shown as it is now.',
  isOfDomain: true,
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    cursor: t.string({
      description: 'Its place in the feed: what follows it is asked for with `after`.',
      resolve: (event, _args, { operations }) => cursorOf(operations, event),
    }),
    kind: t.field({ type: EventKind, description: 'What happened.', resolve: ({ kind }) => kind }),
    at: t.expose('at', { type: 'DateTime', description: 'When it happened.' }),
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email that it is of; null: of none, or it is gone.',
      resolve: ({ emailId }) => emailId,
    }),
    thread: t.field({
      type: ThreadNode,
      nullable: true,
      description: 'The thread that it is of; null: of none, or it is gone.',
      resolve: ({ threadId }) => threadId,
    }),
    delivery: t.field({
      type: DeliveryNode,
      nullable: true,
      description: 'The delivery that it is of; null: of none, or it is gone.',
      resolve: ({ deliveryId }) => deliveryId,
    }),
    endpoint: t.field({
      type: EndpointInterface,
      nullable: true,
      description: 'The endpoint that it is of; null: of none, or it is gone.',
      resolve: ({ endpointId }) => endpointId,
    }),
    domain: t.field({
      type: DomainNode,
      nullable: true,
      description: 'The domain that it is of; null: of none, or it is gone.',
      resolve: ({ domainId }) => domainId,
    }),
    emailId: t.exposeID('emailId', {
      nullable: true,
      description: 'The id of its email, without reading the email; null: of none.',
    }),
    threadId: t.exposeID('threadId', {
      nullable: true,
      description: 'The id of its thread, without reading the thread; null: of none.',
    }),
    deliveryId: t.exposeID('deliveryId', {
      nullable: true,
      description: 'The id of its delivery, without reading the delivery; null: of none.',
    }),
    endpointId: t.exposeID('endpointId', {
      nullable: true,
      description: 'The id of its endpoint, without reading the endpoint; null: of none.',
    }),
    domainId: t.exposeID('domainId', {
      nullable: true,
      description: 'The id of its domain, without reading the domain; null: of none.',
    }),
    data: t.expose('data', { type: 'JSON', description: 'What else is known, by kind.' }),
  }),
});

const EventConnection = builder.connectionObject<
  typeof Event,
  Connection<FeedEvent> & { count: () => Promise<number> }
>(
  {
    type: Event,
    name: 'EventConnection',
    description: 'A page of events.',
    fields: (c) => ({
      totalCount: c.int({
        description: 'Of all pages; counted when it is asked for.',
        resolve: (page) => page.count(),
      }),
    }),
  },
  { name: 'EventEdge', description: 'An event with its cursor.' },
);

builder.queryFields((t) => ({
  events: t.field({
    type: EventConnection,
    access: access.readAccount,
    description: 'All that happened, oldest first. The cursors are those of the subscriptions, too.',
    args: t.arg.connectionArgs(),
    complexity: connectionComplexity,
    resolve: async (_root, args, { reads }) => {
      const { userId } = reads;
      const cursors = {
        encode: (seq: number) => encodeEventCursor(userId, seq),
        decode: (cursor: string) => decodeEventCursor(userId, cursor),
      };
      const page = await connectionBy(
        cursors,
        args,
        ({ seq }: FeedEvent) => seq,
        (span) => pageEvents(reads, span),
      );
      return { ...page, count: () => countEvents(reads) };
    },
  }),
}));
