import { cursorOf, type FeedEvent } from '../../../operations/events/events.ts';
import { builder } from '../builder.ts';
import { DeliveryNode, DomainNode, EmailNode, ThreadNode } from '../nodes.ts';
import { EventKind } from './event.ts';

const News = builder.interfaceRef<FeedEvent>('News').implement({
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

export const EmailNews = builder.objectRef<FeedEvent>('EmailNews').implement({
  description: 'Something that happened to an email.',
  interfaces: [News],
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

export const ThreadNews = builder.objectRef<FeedEvent>('ThreadNews').implement({
  description: 'Something that happened to a thread, or to a message in it.',
  interfaces: [News],
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

export const DeliveryNews = builder.objectRef<FeedEvent>('DeliveryNews').implement({
  description: 'Something that came of a delivery.',
  interfaces: [News],
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

export const DomainNews = builder.objectRef<FeedEvent>('DomainNews').implement({
  description: 'Something that happened to a domain.',
  interfaces: [News],
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
