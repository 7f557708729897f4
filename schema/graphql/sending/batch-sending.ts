import { z } from 'zod';
import * as batches from '../../../operations/sending/batches.ts';
import { type Receipt, readIdempotency } from '../../../operations/sending/idempotency.ts';
import { sendBatch } from '../../../operations/sending/send-batch.ts';
import { batchEmails, refuseCrowds } from '../../shapes/outgoing.ts';
import { parseInput } from '../../shapes/parse-input.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { SuppressedRecipient } from '../client-errors.ts';
import { forgetLoaded } from '../context.ts';
import { BatchNode, EmailNode } from '../nodes.ts';
import { BatchEmailInput, idempotencyField, newEmailOf } from './outgoing.ts';

const BatchValidationMode = builder.enumType('BatchValidationMode', {
  description: 'What becomes of a batch when one of its emails cannot go.',
  values: {
    STRICT: { value: 'fail', description: 'It keeps all back.' },
    PERMISSIVE: { value: 'tell', description: 'The others go, and it is told.' },
  } as const,
});

const RefusedEmail = builder.objectRef<{ index: number; message: string }>('RefusedEmail').implement({
  description: 'An email of a batch that could not go.',
  isOfDomain: true,
  fields: (t) => ({
    index: t.exposeInt('index', { description: 'Its place in the request, from 0.' }),
    message: t.exposeString('message', { description: 'What is wrong with it, for people.' }),
  }),
});

const SendEmailsPayload = builder.objectRef<Receipt>('SendEmailsPayload').implement({
  description: 'Emails that were sent or put on the schedule together.',
  fields: (t) => ({
    batch: t.field({ type: BatchNode, description: 'The batch.', resolve: ({ batchId }) => batchId ?? '' }),
    emails: t.field({
      type: [EmailNode],
      description: 'Those that go, in the order of the request.',
      complexity: { field: 1, multiplier: 100 },
      resolve: ({ emails }) => emails.map(({ id }) => id),
    }),
    refused: t.field({
      type: [RefusedEmail],
      description: 'Those that could not go; none with STRICT.',
      resolve: ({ refused }) => refused ?? [],
    }),
  }),
});

const CancelBatchPayload = builder
  .objectRef<{ batch: batches.Batch; cancelledCount: number }>('CancelBatchPayload')
  .implement({
    description: 'A batch of which what was still on the schedule is cancelled.',
    fields: (t) => ({
      batch: t.field({ type: BatchNode, description: 'The batch.', resolve: ({ batch }) => batch }),
      cancelledCount: t.exposeInt('cancelledCount', {
        description: 'How many emails were cancelled now; 0: they were before.',
      }),
    }),
  });

const asked = z.object({ emails: batchEmails(z.unknown()) });

builder.mutationFields((t) => ({
  sendEmails: t.fieldWithInput({
    type: SendEmailsPayload,
    access: { ...access.send, shows: ['SendEmailsPayload.refused'] },
    description: 'Sends 1 to 100 emails, each at once or on its schedule.',
    errors: { types: [SuppressedRecipient], directResult: true },
    input: {
      emails: t.input.field({ type: [BatchEmailInput], required: true, description: '1 to 100.' }),
      validation: t.input.field({
        type: BatchValidationMode,
        description: 'Whether one that cannot go keeps the others back; absent: STRICT.',
      }),
      ...idempotencyField(t.input),
    },
    resolve: async (_root, { input: { idempotencyKey, ...input } }, context) => {
      parseInput(asked, { emails: input.emails });
      for (const [at, email] of input.emails.entries()) refuseCrowds(email, `emails.${at}.`);
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
    description: 'Cancels what of a batch is still on the schedule; what has left goes its way.',
    errors: { directResult: true },
    input: { id: t.input.id({ required: true, description: 'Id of the batch.' }) },
    resolve: async (_root, { input }, context) => {
      const done = await batches.cancelBatch(context.operations, input.id);
      forgetLoaded(context);
      return done;
    },
  }),
}));
