import { z } from 'zod';
import { graphqlOnly, linkTo, named, nameType, restLiteral, restOnly, usually } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { type Capability, defineAction, defineRead, defineResource, OF_EMAILS } from '../capability/capability.ts';
import * as batches from './batches.ts';

const count = z.number().int();

const counts = nameType(
  z.object({
    total: count.meta({ description: 'Total number.' }),
    pending: count.meta({ description: 'Waiting, or scheduled for later.' }),
    processing: count.meta({ description: 'Being sent.' }),
    sent: count.meta({ description: 'Accepted by the servers of all recipients.' }),
    failed: count.meta({ description: 'Bounced or given up.' }),
    cancelled: count.meta({ description: 'Cancelled before it was sent.' }),
    providerUnknown: restOnly(count).meta({ description: 'Always 0.' }),
  }),
  { type: 'BatchCounts', description: 'Number of emails in a batch by status.' },
);

const item = nameType(
  z.object({
    id: restOnly(z.string()),
    index: named(count, { restName: 'batch_index' }).meta({
      description: 'Position among the accepted emails of the request, starting at 0.',
    }),
    status: oneOf(['pending', 'processing', 'sent', 'failed', 'cancelled'], {
      name: 'BatchItemStatus',
      description: 'Status of an email in a batch.',
      values: {
        pending: 'Waiting, or scheduled for later.',
        processing: 'Being sent.',
        sent: 'Accepted by the servers of all recipients.',
        failed: 'Bounced or given up.',
        cancelled: 'Cancelled.',
      },
    }).meta({ description: 'Status of the email.' }),
    emailId: linkTo('Email', graphqlOnly(z.string().nullable())).meta({
      description: 'The email. Null if it was deleted.',
    }),
    messageId: restOnly(z.string()),
    failureReason: restOnly(z.string().nullable()),
    createdAt: restOnly(z.date()),
    sentAt: restOnly(z.date().nullable()),
    scheduledAt: restOnly(z.date().nullable()),
  }),
  { type: 'BatchItem', description: 'An email in a batch.' },
);

/** Emails of a batch, at most; the cost limit of GraphQL assumes as many. */
const MAX_ITEMS = 100;

/** A batch without its emails; with their IDs in REST. */
export const batchFrame = z.object({
  status: oneOf(['queued', 'processing', 'completed', 'partially_failed', 'failed', 'cancelled'], {
    name: 'BatchStatus',
    description: 'Status of a batch, derived from its emails.',
    values: {
      queued: 'No email has been processed yet.',
      processing: 'Some emails have been processed.',
      completed: 'All emails that were not cancelled were sent.',
      partially_failed: 'Some emails were sent, some failed.',
      failed: 'No email was sent.',
      cancelled: 'All emails were cancelled.',
    },
  }).meta({ description: 'Status of the batch.' }),
  counts: counts.meta({ description: 'Number of emails by status.' }),
  createdAt: z.date().meta({ description: 'When the batch was created.' }),
  updatedAt: z.date().meta({ description: 'When one of its emails last changed.' }),
  data: restOnly(z.array(z.object({ id: z.string() }))).meta({ description: 'Emails in the order of the request.' }),
});

const batchShape = batchFrame.extend({
  items: usually(MAX_ITEMS, z.array(item)).meta({
    description: 'Emails of the batch, up to 100, in the order of the request.',
  }),
});

type Frame = Pick<batches.Batch, 'counts' | 'createdAt' | 'updatedAt'> & { items: readonly { id: string }[] };

/** Returns a batch in the form of its shape, without its emails. */
export function describeFrame({ counts: found, createdAt, updatedAt, items }: Frame): z.output<typeof batchFrame> {
  const total = Object.values(found).reduce((sum, each) => sum + each, 0);
  return {
    status: batches.summarizeBatch(found),
    counts: { total, ...found, providerUnknown: 0 },
    createdAt,
    updatedAt,
    data: items.map(({ id }) => ({ id })),
  };
}

export const batchResource = defineResource<batches.Batch>()({
  name: 'Batch',
  identifier: 'batch',
  description: 'Emails that were sent in one request.',
  isOfDomain: true,
  shape: batchShape,
  computed: {
    counts: (batch) => describeFrame(batch).counts,
    data: (batch) => describeFrame(batch).data,
    items: ({ items }) => items.map((each) => ({ ...each, emailId: each.id })),
  },
  load: batches.loadBatches,
});

const target = { argument: 'id', argumentDescription: 'ID of the batch.' } as const;

/** What a change of a batch returns: REST has the batch itself. */
const changed = {
  success: restLiteral(true),
  message: restOnly(z.string()),
  batchId: linkTo('Batch', graphqlOnly(z.string())).meta({ description: 'The batch.' }),
};

export const batchCapability: Capability = {
  feature: 'Sending',
  what: 'Read, cancel and retry a batch',
  ...OF_EMAILS,
  resource: batchResource,
  operations: [
    defineRead<batches.Batch>({
      access: 'read',
      operationId: 'getBatch',
      field: 'batch',
      summary: 'Retrieve a batch',
      description: 'Returns the batch with the status of each email.',
      path: '/batch/:id',
      target,
      read: batches.readBatch,
    }),
    defineAction({
      access: 'send',
      operationId: 'cancelBatch',
      field: 'cancelBatch',
      summary: 'Cancel a batch',
      description:
        'Cancels the emails of the batch that are still scheduled. Emails that were sent are not affected. Cancelling again changes nothing.',
      method: 'POST',
      path: '/batch/:id/cancel',
      target,
      input: z.object({}),
      output: z
        .object({
          ...changed,
          cancelledCount: graphqlOnly(count).meta({
            description: 'Number of emails that this request cancelled. 0 if they were cancelled before.',
          }),
        })
        .meta({ description: 'A batch whose scheduled emails were cancelled.' }),
      errors: [],
      async run(context, _input, id) {
        const { batch, cancelledCount } = await batches.cancelBatch(context, id);
        const message =
          cancelledCount === 0 ? 'Batch already cancelled' : `${cancelledCount} scheduled email(s) cancelled`;
        return { message, batchId: id, batch, cancelledCount };
      },
    }),
    defineAction({
      access: 'send',
      operationId: 'retryBatch',
      field: 'retryBatch',
      summary: 'Send the failed emails of a batch again',
      description:
        'Sends the emails that failed or bounced again, to the recipients that did not get them. Recipients that are suppressed now, and emails whose content is gone, are left out.',
      method: 'POST',
      path: '/batch/:id/retry',
      target,
      input: z.object({}),
      output: z
        .object({
          ...changed,
          retriedCount: graphqlOnly(count).meta({ description: 'Number of emails that are sent again.' }),
        })
        .meta({ description: 'A batch whose failed emails are sent again.' }),
      errors: [],
      async run(context, _input, id) {
        const { batch, retriedCount } = await batches.retryBatch(context, id);
        const message = retriedCount === 0 ? 'No email can be sent again' : `${retriedCount} email(s) are sent again`;
        return { message, batchId: id, batch, retriedCount };
      },
    }),
  ],
};
