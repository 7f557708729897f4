import { decodeEventCursor, encodeEventCursor } from '../../../core/events/event-cursor.ts';
import { eventKind } from '../../../core/events/event-kinds.ts';
import { countEvents, cursorOf, type FeedEvent, pageEvents } from '../../../operations/events/events.ts';
import { loadRecipientsOf } from '../../../operations/sending/recipients.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { typeFor } from '../capability-shapes.ts';
import { type CountedConnection, connectionBy, totalCount } from '../connection.ts';
import type { GraphContext } from '../context.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { DeliveryNode, DomainNode, EmailNode, EndpointInterface, RecipientNode, ThreadNode } from '../nodes.ts';

export const EventKind = typeFor(eventKind);

/** A reply that is part of an event. */
interface Response {
  code: number | null;
  enhancedStatus: string | null;
  text: string | null;
}

const EventResponse = builder.objectRef<Response>('EventResponse').implement({
  description: 'The reply of a recipient’s server, a bounce report, or an endpoint.',
  isOfDomain: true,
  fields: (t) => ({
    code: t.exposeInt('code', {
      nullable: true,
      description: 'SMTP reply code, such as `550`; for an endpoint the HTTP status. Null if there was none.',
    }),
    enhancedStatus: t.exposeString('enhancedStatus', {
      nullable: true,
      description: 'Enhanced status code, such as `5.1.1` (RFC 3463). Null if there was none.',
    }),
    text: t.exposeString('text', {
      nullable: true,
      description: 'Text of the reply, or the error. Null if there was none.',
    }),
  }),
});

/** The data of events about a recipient or a delivery, as the actors write it. */
function responseOf({ kind, data }: FeedEvent): Response | null {
  const isDelivery = kind.startsWith('delivery.');
  if (!isDelivery && typeof data['recipient'] !== 'string') return null;
  const code = data[isDelivery ? 'statusCode' : 'code'];
  const { status } = data;
  const text = data[isDelivery ? 'error' : 'text'];
  return {
    code: typeof code === 'number' ? code : null,
    enhancedStatus: typeof status === 'string' ? status : null,
    text: typeof text === 'string' ? text : null,
  };
}

const recipientsOf = loadByOwner(({ reads }, emailIds) => loadRecipientsOf(reads, emailIds));

async function recipientOf(context: GraphContext, { emailId, data: { recipient } }: FeedEvent) {
  if (emailId === null || typeof recipient !== 'string') return null;
  const recipients = await recipientsOf(context, emailId, null);
  return recipients.find(({ address }) => address === recipient) ?? null;
}

export const Event = builder.objectRef<FeedEvent>('Event').implement({
  description: 'An event. Its objects are returned in their current state.',
  isOfDomain: true,
  fields: (t) => ({
    id: t.exposeID('id', { description: 'ID of the event.' }),
    cursor: t.string({
      description: 'Cursor of the event. Pass it as `after` to get the events that follow.',
      resolve: (event, _args, { operations }) => cursorOf(operations, event),
    }),
    kind: t.field({ type: EventKind, description: 'Kind of event.', resolve: ({ kind }) => kind }),
    at: t.expose('at', { type: 'DateTime', description: 'When it happened.' }),
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email concerned. Null if there is none or it was deleted.',
      resolve: ({ emailId }) => emailId,
    }),
    thread: t.field({
      type: ThreadNode,
      nullable: true,
      description: 'The thread concerned. Null if there is none or it was deleted.',
      resolve: ({ threadId }) => threadId,
    }),
    delivery: t.field({
      type: DeliveryNode,
      nullable: true,
      description: 'The delivery concerned. Null if there is none or it was deleted.',
      resolve: ({ deliveryId }) => deliveryId,
    }),
    endpoint: t.field({
      type: EndpointInterface,
      nullable: true,
      description: 'The endpoint concerned. Null if there is none or it was deleted.',
      resolve: ({ endpointId }) => endpointId,
    }),
    domain: t.field({
      type: DomainNode,
      nullable: true,
      description: 'The domain concerned. Null if there is none or it was deleted.',
      resolve: ({ domainId }) => domainId,
    }),
    recipient: t.field({
      type: RecipientNode,
      nullable: true,
      description: 'The recipient of a sent email that the event is about. Null if there is none or it was deleted.',
      resolve: (event, _args, context) => recipientOf(context, event),
    }),
    lastResponse: t.field({
      type: EventResponse,
      nullable: true,
      description: 'What the server or endpoint replied. Null if the event is not about a reply.',
      resolve: responseOf,
    }),
    emailId: t.exposeID('emailId', {
      nullable: true,
      description: 'ID of the email, without loading the email. Null if there is none.',
    }),
    threadId: t.exposeID('threadId', {
      nullable: true,
      description: 'ID of the thread, without loading the thread. Null if there is none.',
    }),
    deliveryId: t.exposeID('deliveryId', {
      nullable: true,
      description: 'ID of the delivery, without loading the delivery. Null if there is none.',
    }),
    endpointId: t.exposeID('endpointId', {
      nullable: true,
      description: 'ID of the endpoint, without loading the endpoint. Null if there is none.',
    }),
    domainId: t.exposeID('domainId', {
      nullable: true,
      description: 'ID of the domain, without loading the domain. Null if there is none.',
    }),
    data: t.expose('data', { type: 'JSON', description: 'Additional data; the fields depend on the kind.' }),
  }),
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
    description: 'All events, oldest first. Subscriptions use the same cursors.',
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

const Change = builder.interfaceRef<FeedEvent>('Change').implement({
  description: 'An event about one of your objects, with the current state of the object.',
  isOfDomain: true,
  fields: (t) => ({
    cursor: t.string({
      description: 'Cursor of the event. Pass it as `after` to get the events that follow.',
      resolve: (event, _args, { operations }) => cursorOf(operations, event),
    }),
    kind: t.field({ type: EventKind, description: 'Kind of event.', resolve: ({ kind }) => kind }),
    at: t.expose('at', { type: 'DateTime', description: 'When it happened.' }),
  }),
});

export const EmailChange = builder.objectRef<FeedEvent>('EmailChange').implement({
  description: 'An event about an email.',
  interfaces: [Change],
  isOfDomain: true,
  fields: (t) => ({
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email in its current state. Null if it was deleted.',
      resolve: ({ emailId }) => emailId,
    }),
  }),
});

export const ThreadChange = builder.objectRef<FeedEvent>('ThreadChange').implement({
  description: 'An event about a thread or one of its messages.',
  interfaces: [Change],
  isOfDomain: true,
  fields: (t) => ({
    thread: t.field({
      type: ThreadNode,
      nullable: true,
      description: 'The thread in its current state. Null if it was deleted.',
      resolve: ({ threadId }) => threadId,
    }),
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The message concerned. Null if the event is about the whole thread.',
      resolve: ({ emailId }) => emailId,
    }),
  }),
});

export const DeliveryChange = builder.objectRef<FeedEvent>('DeliveryChange').implement({
  description: 'An event about a delivery.',
  interfaces: [Change],
  isOfDomain: true,
  fields: (t) => ({
    delivery: t.field({
      type: DeliveryNode,
      nullable: true,
      description: 'The delivery in its current state. Null if it was deleted.',
      resolve: ({ deliveryId }) => deliveryId,
    }),
  }),
});

export const DomainChange = builder.objectRef<FeedEvent>('DomainChange').implement({
  description: 'An event about a domain.',
  interfaces: [Change],
  isOfDomain: true,
  fields: (t) => ({
    domain: t.field({
      type: DomainNode,
      nullable: true,
      description: 'The domain in its current state. Null if it was deleted.',
      resolve: ({ domainId }) => domainId,
    }),
  }),
});
