import { cursorOf, type FeedEvent } from '../../../operations/events/events.ts';
import { builder } from '../builder.ts';
import { DeliveryNode, DomainNode, EmailNode, ThreadNode } from '../nodes.ts';
import { EventKind } from './event.ts';

const Change = builder.interfaceRef<FeedEvent>('Change').implement({
  description: 'Something that happened to one of your things, with the thing as it is now.',
  isOfDomain: true,
  fields: (t) => ({
    cursor: t.string({
      description: 'Its place in the feed: what follows it is asked for with `after`.',
      resolve: (event, _args, { operations }) => cursorOf(operations, event),
    }),
    kind: t.field({ type: EventKind, description: 'What happened.', resolve: ({ kind }) => kind }),
    at: t.expose('at', { type: 'DateTime', description: 'When it happened.' }),
  }),
});

export const EmailChange = builder.objectRef<FeedEvent>('EmailChange').implement({
  description: 'Something that happened to an email.',
  interfaces: [Change],
  isOfDomain: true,
  fields: (t) => ({
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email as it is now; null: it is gone.',
      resolve: ({ emailId }) => emailId,
    }),
  }),
});

export const ThreadChange = builder.objectRef<FeedEvent>('ThreadChange').implement({
  description: 'Something that happened to a thread, or to a message in it.',
  interfaces: [Change],
  isOfDomain: true,
  fields: (t) => ({
    thread: t.field({
      type: ThreadNode,
      nullable: true,
      description: 'The thread as it is now; null: it is gone.',
      resolve: ({ threadId }) => threadId,
    }),
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The message that it happened to; null: it happened to the thread as a whole.',
      resolve: ({ emailId }) => emailId,
    }),
  }),
});

export const DeliveryChange = builder.objectRef<FeedEvent>('DeliveryChange').implement({
  description: 'Something that came of a delivery.',
  interfaces: [Change],
  isOfDomain: true,
  fields: (t) => ({
    delivery: t.field({
      type: DeliveryNode,
      nullable: true,
      description: 'The delivery as it is now; null: it is gone.',
      resolve: ({ deliveryId }) => deliveryId,
    }),
  }),
});

export const DomainChange = builder.objectRef<FeedEvent>('DomainChange').implement({
  description: 'Something that happened to a domain.',
  interfaces: [Change],
  isOfDomain: true,
  fields: (t) => ({
    domain: t.field({
      type: DomainNode,
      nullable: true,
      description: 'The domain as it is now; null: it is gone.',
      resolve: ({ domainId }) => domainId,
    }),
  }),
});
