import type { Batch, BatchCounts } from '../../../operations/sending/batches.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { BatchNode, EmailNode } from '../nodes.ts';

/** Emails of a batch. */
const MAX_ITEMS = 100;

const BatchStatus = builder.enumType('BatchStatus', {
  description: 'How far a batch came, which follows from its emails.',
  values: {
    QUEUED: { value: 'queued', description: 'Nothing has begun.' },
    PROCESSING: { value: 'processing', description: 'Something has, and not all is done.' },
    COMPLETED: { value: 'completed', description: 'All that was not cancelled was sent.' },
    PARTIALLY_FAILED: { value: 'partially_failed', description: 'Some were sent, some failed.' },
    FAILED: { value: 'failed', description: 'None was sent.' },
    CANCELLED: { value: 'cancelled', description: 'All were cancelled.' },
  } as const,
});

const BatchItemStatus = builder.enumType('BatchItemStatus', {
  description: 'How far an email of a batch came.',
  values: {
    PENDING: { value: 'pending', description: 'It waits, be it for its time.' },
    PROCESSING: { value: 'processing', description: 'A server was asked to take it.' },
    SENT: { value: 'sent', description: 'The servers of all its recipients took it.' },
    FAILED: { value: 'failed', description: 'It bounced or was given up.' },
    CANCELLED: { value: 'cancelled', description: 'It is never sent.' },
  } as const,
});

const BatchCountsRef = builder.objectRef<BatchCounts>('BatchCounts').implement({
  description: 'How many emails of a batch came how far.',
  isOfDomain: true,
  fields: (t) => ({
    total: t.int({
      description: 'All of them.',
      resolve: (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0),
    }),
    pending: t.exposeInt('pending', { description: 'Waiting, be it for their time.' }),
    processing: t.exposeInt('processing', { description: 'On their way.' }),
    sent: t.exposeInt('sent', { description: 'Taken by the servers of their recipients.' }),
    failed: t.exposeInt('failed', { description: 'Bounced or given up.' }),
    cancelled: t.exposeInt('cancelled', { description: 'Never sent.' }),
  }),
});

const BatchItem = builder.objectRef<Batch['items'][number]>('BatchItem').implement({
  description: 'An email of a batch.',
  isOfDomain: true,
  fields: (t) => ({
    index: t.exposeInt('index', { description: 'Its place in the request, from 0, those that could not go left out.' }),
    status: t.expose('status', { type: BatchItemStatus, description: 'How far it came.' }),
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email itself; null: it is gone.',
      resolve: ({ id }) => id,
    }),
  }),
});

BatchNode.implement({
  description: 'Emails that were asked for at once.',
  isOfDomain: true,
  fields: (t) => ({
    status: t.field({
      type: BatchStatus,
      description: 'How far it came.',
      resolve: ({ status }) => status,
    }),
    counts: t.expose('counts', { type: BatchCountsRef, description: 'How many of its emails came how far.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was asked for.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When one of its emails was last changed.' }),
    items: t.field({
      type: [BatchItem],
      description: 'Its emails, at most 100, in the order of the request.',
      complexity: { field: 1, multiplier: MAX_ITEMS },
      resolve: ({ items }) => items,
    }),
  }),
});

builder.queryField('batch', (t) =>
  t.field({
    type: BatchNode,
    access: access.read,
    nullable: true,
    description: 'A batch by its id; null when you have none with that id.',
    args: { id: t.arg.id({ required: true, description: 'Id of the batch.' }) },
    resolve: (_root, { id }) => id,
  }),
);
