import { decodeEventCursor, encodeEventCursor } from '../../../core/events/event-cursor.ts';
import { eventKind } from '../../../core/events/event-kinds.ts';
import type { Fields } from '../../../operations/capability/capability.ts';
import { changeShape, changeShapes, eventShape, readResponse } from '../../../operations/events/event-shapes.ts';
import {
  countEvents,
  encodeCursor,
  type FeedEvent,
  MAX_COUNTED_EVENTS,
  pageEvents,
} from '../../../operations/events/events.ts';
import { loadSentRecipients } from '../../../operations/sending/recipients.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { describe, objectFields, typeFor } from '../capability-shapes.ts';
import { type CountedConnection, connectionBy, totalCount } from '../connection.ts';
import type { GraphContext } from '../context.ts';
import { loadByOwner } from '../load-by-owner.ts';

export const EventKind = typeFor(eventKind);

const recipientsOf = loadByOwner(({ reads }, emailIds) => loadSentRecipients(reads, emailIds));

async function findRecipient(context: GraphContext, { emailId, data: { recipient } }: FeedEvent) {
  if (emailId === null || typeof recipient !== 'string') return null;
  const recipients = await recipientsOf(context, emailId, null);
  return recipients.find(({ address }) => address === recipient) ?? null;
}

/** Fields that are more than a field of the row. */
const computed: Readonly<Record<string, (event: FeedEvent, context: GraphContext) => unknown>> = {
  cursor: (event, { operations }) => encodeCursor(operations, event),
  email: ({ emailId }) => emailId,
  thread: ({ threadId }) => threadId,
  delivery: ({ deliveryId }) => deliveryId,
  endpoint: ({ endpointId }) => endpointId,
  domain: ({ domainId }) => domainId,
  recipient: (event, context) => findRecipient(context, event),
  lastResponse: readResponse,
};

function eventFields(shape: Fields) {
  return (t: unknown) =>
    objectFields(t as never, shape, {
      isOfDomain: true,
      read: (event: FeedEvent, field, context) =>
        computed[field]?.(event, context) ?? event[field as keyof FeedEvent] ?? null,
    }) as never;
}

export const Event = builder.objectRef<FeedEvent>('Event').implement({
  description: describe(eventShape),
  isOfDomain: true,
  fields: eventFields(eventShape),
});

const EventConnection = builder.connectionObject<typeof Event, CountedConnection<FeedEvent>>(
  {
    type: Event,
    name: 'EventConnection',
    description: 'A page of events.',
    fields: (c) => totalCount(c),
  },
  { name: 'EventEdge', description: 'An event and its cursor.' },
);

builder.queryFields((t) => ({
  events: t.field({
    type: EventConnection,
    access: access.read,
    description: `All events, oldest first. Subscriptions use the same cursors. For limited keys and members, the total counts up to ${MAX_COUNTED_EVENTS.toLocaleString('en')}.`,
    args: t.arg.connectionArgs(),
    complexity: connectionComplexity,
    resolve: async (_root, args, { reads }) => {
      const { workspaceId } = reads;
      const cursors = {
        encode: (seq: number) => encodeEventCursor(workspaceId, seq),
        decode: (cursor: string) => decodeEventCursor(workspaceId, cursor),
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

const Change = builder.interfaceRef<FeedEvent>('Change').implement({
  description: describe(changeShape),
  isOfDomain: true,
  fields: eventFields(changeShape),
});

function addChangeType(name: keyof typeof changeShapes) {
  const shape = changeShapes[name];
  return builder.objectRef<FeedEvent>(name).implement({
    description: describe(shape),
    interfaces: [Change],
    isOfDomain: true,
    fields: eventFields(shape),
  });
}

export const EmailChange = addChangeType('EmailChange');
export const ThreadChange = addChangeType('ThreadChange');
export const DeliveryChange = addChangeType('DeliveryChange');
export const DomainChange = addChangeType('DomainChange');
