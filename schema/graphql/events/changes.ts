import { cursorOf, type FeedEvent } from '../../../operations/events/events.ts';
import { builder } from '../builder.ts';
import { DeliveryNode, DomainNode, EmailNode, ThreadNode } from '../nodes.ts';
import { EventKind } from './event.ts';

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
