import { z } from 'zod';
import { nameType } from '../../../core/shared/field-notes.ts';
import { newEmailShape, readNewEmail } from '../../../operations/sending/email-input.ts';
import { type Receipt, readIdempotency } from '../../../operations/sending/idempotency.ts';
import { sendBatch } from '../../../operations/sending/send-batch.ts';
import { batchEmails, limitEntries, parseInput } from '../../input-shapes.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { idempotencyInput } from '../capability-actions.ts';
import { inputFields, inputTypeFor, makeInputReader } from '../capability-shapes.ts';
import { SuppressedRecipient } from '../client-errors.ts';
import { forgetLoaded } from '../context.ts';
import { BatchNode, EmailNode } from '../nodes.ts';

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

const batchEmail = nameType(newEmailShape, { input: 'BatchEmailInput', description: 'An email in a batch.' });
const readEmail = makeInputReader(newEmailShape) as (input: unknown) => Parameters<typeof readNewEmail>[0];

const asked = z.object({ emails: batchEmails(z.unknown()) });

builder.mutationFields((t) => ({
  sendEmails: t.fieldWithInput({
    type: SendEmailsPayload,
    access: { ...access.send, shows: ['SendEmailsPayload.refused'] },
    description: 'Sends or schedules 1 to 100 emails.',
    errors: { types: [SuppressedRecipient], directResult: true },
    input: {
      emails: t.input.field({ type: [inputTypeFor(batchEmail)], required: true, description: '1 to 100 emails.' }),
      validation: t.input.field({
        type: BatchValidationMode,
        description: 'What to do if an email is invalid. The default is STRICT.',
      }),
      ...inputFields(t.input, idempotencyInput),
    },
    resolve: async (_root, { input: given }, context) => {
      const { idempotencyKey, ...input } = given as typeof given & { idempotencyKey?: string | null };
      parseInput(asked, { emails: input.emails });
      for (const [at, email] of input.emails.entries()) limitEntries(email, `emails.${at}.`);
      const { receipt } = await sendBatch(context.operations, {
        emails: input.emails.map((email) => (path: string) => readNewEmail(readEmail(email), path)),
        onRefusal: input.validation ?? 'fail',
        idempotency: readIdempotency({ key: idempotencyKey, field: 'idempotencyKey' }, 'batch', input),
      });
      forgetLoaded(context);
      return receipt;
    },
  }),
}));
