import type { Batch, BatchCounts } from '../../../operations/sending/batches.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { BatchNode, EmailNode } from '../nodes.ts';

/** Emails of a batch. */
const MAX_ITEMS = 100;

const BatchStatus = builder.enumType('BatchStatus', {
  description: 'Status of a batch, derived from its emails.',
  values: {
    QUEUED: { value: 'queued', description: 'No email has been processed yet.' },
    PROCESSING: { value: 'processing', description: 'Some emails have been processed.' },
    COMPLETED: { value: 'completed', description: 'All emails that were not cancelled were sent.' },
    PARTIALLY_FAILED: { value: 'partially_failed', description: 'Some emails were sent, some failed.' },
    FAILED: { value: 'failed', description: 'No email was sent.' },
    CANCELLED: { value: 'cancelled', description: 'All emails were cancelled.' },
  } as const,
});

const BatchItemStatus = builder.enumType('BatchItemStatus', {
  description: 'Status of an email in a batch.',
  values: {
    PENDING: { value: 'pending', description: 'Waiting, or scheduled for later.' },
    PROCESSING: { value: 'processing', description: 'Being sent.' },
    SENT: { value: 'sent', description: 'Accepted by the servers of all recipients.' },
    FAILED: { value: 'failed', description: 'Bounced or given up.' },
    CANCELLED: { value: 'cancelled', description: 'Cancelled.' },
  } as const,
});

const BatchCountsRef = builder.objectRef<BatchCounts>('BatchCounts').implement({
  description: 'Number of emails in a batch by status.',
  isOfDomain: true,
  fields: (t) => ({
    total: t.int({
      description: 'Total number.',
      resolve: (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0),
    }),
    pending: t.exposeInt('pending', { description: 'Waiting, or scheduled for later.' }),
    processing: t.exposeInt('processing', { description: 'Being sent.' }),
    sent: t.exposeInt('sent', { description: 'Accepted by the servers of all recipients.' }),
    failed: t.exposeInt('failed', { description: 'Bounced or given up.' }),
    cancelled: t.exposeInt('cancelled', { description: 'Cancelled before it was sent.' }),
  }),
});

const BatchItem = builder.objectRef<Batch['items'][number]>('BatchItem').implement({
  description: 'An email in a batch.',
  isOfDomain: true,
  fields: (t) => ({
    index: t.exposeInt('index', { description: 'Position among the accepted emails of the request, starting at 0.' }),
    status: t.expose('status', { type: BatchItemStatus, description: 'Status of the email.' }),
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email. Null if it was deleted.',
      resolve: ({ id }) => id,
    }),
  }),
});

BatchNode.implement({
  description: 'Emails that were sent in one request.',
  isOfDomain: true,
  fields: (t) => ({
    status: t.field({
      type: BatchStatus,
      description: 'Status of the batch.',
      resolve: ({ status }) => status,
    }),
    counts: t.expose('counts', { type: BatchCountsRef, description: 'Number of emails by status.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the batch was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When one of its emails last changed.' }),
    items: t.field({
      type: [BatchItem],
      description: 'Emails of the batch, up to 100, in the order of the request.',
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
    description: 'Returns the batch with this ID, or null if the account has no such batch.',
    args: { id: t.arg.id({ required: true, description: 'ID of the batch.' }) },
    resolve: (_root, { id }) => id,
  }),
);
