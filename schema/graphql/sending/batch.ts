import { z } from 'zod';
import type { Batch, BatchCounts } from '../../../operations/sending/batches.ts';
import * as batches from '../../../operations/sending/batches.ts';
import { type Receipt, readIdempotency } from '../../../operations/sending/idempotency.ts';
import { sendBatch } from '../../../operations/sending/send-batch.ts';
import { batchEmails, limitEntries, parseInput } from '../../input-shapes.ts';
import { access } from '../access.ts';
import { builder, enumValues } from '../builder.ts';
import { SuppressedRecipient } from '../client-errors.ts';
import { forgetLoaded } from '../context.ts';
import { BatchNode, EmailNode } from '../nodes.ts';
import { BatchEmailInput, idempotencyField, newEmailOf } from './sending.ts';

/** Maximum number of emails in a batch. */
const MAX_ITEMS = 100;

const BatchStatus = builder.enumType('BatchStatus', {
  description: 'Status of a batch, derived from its emails.',
  values: enumValues<Batch['status']>({
    queued: 'No email has been processed yet.',
    processing: 'Some emails have been processed.',
    completed: 'All emails that were not cancelled were sent.',
    partially_failed: 'Some emails were sent, some failed.',
    failed: 'No email was sent.',
    cancelled: 'All emails were cancelled.',
  }),
});

const BatchItemStatus = builder.enumType('BatchItemStatus', {
  description: 'Status of an email in a batch.',
  values: enumValues<Batch['items'][number]['status']>({
    pending: 'Waiting, or scheduled for later.',
    processing: 'Being sent.',
    sent: 'Accepted by the servers of all recipients.',
    failed: 'Bounced or given up.',
    cancelled: 'Cancelled.',
  }),
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

const BatchValidationMode = builder.enumType('BatchValidationMode', {
  description: 'What to do if an email of a batch is invalid.',
  values: {
    STRICT: { value: 'fail', description: 'Send no email of the batch.' },
    PERMISSIVE: { value: 'tell', description: 'Send the valid emails and report the others.' },
  } as const,
});

const RefusedEmail = builder.objectRef<{ index: number; message: string }>('RefusedEmail').implement({
  description: 'An email of a batch that was not accepted.',
  isOfDomain: true,
  fields: (t) => ({
    index: t.exposeInt('index', { description: 'Position in the request, starting at 0.' }),
    message: t.exposeString('message', { description: 'What is wrong. Display text.' }),
  }),
});

const SendEmailsPayload = builder.objectRef<Receipt>('SendEmailsPayload').implement({
  description: 'Result of sending a batch.',
  fields: (t) => ({
    batch: t.field({ type: BatchNode, description: 'The batch.', resolve: ({ batchId }) => batchId ?? '' }),
    emails: t.field({
      type: [EmailNode],
      description: 'Accepted emails, in the order of the request.',
      complexity: { field: 1, multiplier: 100 },
      resolve: ({ emails }) => emails.map(({ id }) => id),
    }),
    refused: t.field({
      type: [RefusedEmail],
      description: 'Emails that were not accepted. Always empty with STRICT.',
      resolve: ({ refused }) => refused ?? [],
    }),
  }),
});

const CancelBatchPayload = builder
  .objectRef<{ batch: batches.Batch; cancelledCount: number }>('CancelBatchPayload')
  .implement({
    description: 'A batch whose scheduled emails were cancelled.',
    fields: (t) => ({
      batch: t.field({ type: BatchNode, description: 'The batch.', resolve: ({ batch }) => batch }),
      cancelledCount: t.exposeInt('cancelledCount', {
        description: 'Number of emails that this request cancelled. 0 if they were cancelled before.',
      }),
    }),
  });

const RetryBatchPayload = builder
  .objectRef<{ batch: batches.Batch; retriedCount: number }>('RetryBatchPayload')
  .implement({
    description: 'A batch whose failed emails are sent again.',
    fields: (t) => ({
      batch: t.field({ type: BatchNode, description: 'The batch.', resolve: ({ batch }) => batch }),
      retriedCount: t.exposeInt('retriedCount', { description: 'Number of emails that are sent again.' }),
    }),
  });

const asked = z.object({ emails: batchEmails(z.unknown()) });

builder.mutationFields((t) => ({
  sendEmails: t.fieldWithInput({
    type: SendEmailsPayload,
    access: { ...access.send, shows: ['SendEmailsPayload.refused'] },
    description: 'Sends or schedules 1 to 100 emails.',
    errors: { types: [SuppressedRecipient], directResult: true },
    input: {
      emails: t.input.field({ type: [BatchEmailInput], required: true, description: '1 to 100 emails.' }),
      validation: t.input.field({
        type: BatchValidationMode,
        description: 'What to do if an email is invalid. The default is STRICT.',
      }),
      ...idempotencyField(t.input),
    },
    resolve: async (_root, { input: { idempotencyKey, ...input } }, context) => {
      parseInput(asked, { emails: input.emails });
      for (const [at, email] of input.emails.entries()) limitEntries(email, `emails.${at}.`);
      const { receipt } = await sendBatch(context.operations, {
        emails: input.emails.map((email) => (path: string) => newEmailOf(email, path)),
        onRefusal: input.validation ?? 'fail',
        idempotency: readIdempotency({ key: idempotencyKey, field: 'idempotencyKey' }, 'batch', input),
      });
      forgetLoaded(context);
      return receipt;
    },
  }),
  cancelBatch: t.fieldWithInput({
    type: CancelBatchPayload,
    access: access.send,
    description: 'Cancels the emails of a batch that are still scheduled. Emails that were sent are not affected.',
    errors: { directResult: true },
    input: { id: t.input.id({ required: true, description: 'ID of the batch.' }) },
    resolve: async (_root, { input }, context) => {
      const done = await batches.cancelBatch(context.operations, input.id);
      forgetLoaded(context);
      return done;
    },
  }),
  retryBatch: t.fieldWithInput({
    type: RetryBatchPayload,
    access: access.send,
    description:
      'Sends the emails of a batch that failed or bounced again, to the recipients that did not get them. Recipients that are suppressed now, and emails whose content is gone, are left out.',
    errors: { directResult: true },
    input: { id: t.input.id({ required: true, description: 'ID of the batch.' }) },
    resolve: async (_root, { input }, context) => {
      const done = await batches.retryBatch(context.operations, input.id);
      forgetLoaded(context);
      return done;
    },
  }),
}));
