import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { invalid } from '../../../operations/context.ts';
import * as batches from '../../../operations/sending/batches.ts';
import type { NewEmail } from '../../../operations/sending/check-outgoing.ts';
import { sendBatch } from '../../../operations/sending/send-batch.ts';
import { batchEmails, limitEntries } from '../../../schema/input-shapes.ts';
import { access } from '../../admission/access.ts';
import { errorBody, idInPath, instant, type RestOptions, wireInstant } from '../shapes.ts';
import { idempotencyHeader, idempotencyOf, newEmailOf, sendBody } from './outgoing-shapes.ts';

/** Maximum size of a body, which can contain the attachments of 100 emails; bytes. @limit */
export const BATCH_BODY_LIMIT = 100_000_000;

const newBatch = z
  .object({
    // Parsed one by one, so that an invalid email does not prevent the others.
    emails: batchEmails(z.unknown().meta({ $ref: '#/components/schemas/SendEmailInput' })),
  })
  .meta({
    id: 'SendBatch',
    examples: [
      {
        emails: [
          { from: 'Ada <ada@example.com>', to: 'bob@example.org', subject: 'One', text: 'Hello' },
          {
            from: 'ada@example.com',
            to: 'eve@example.org',
            subject: 'Two',
            text: 'Hi',
            scheduled_at: 'tomorrow at 9am',
          },
        ],
      },
    ],
  });

const batchHeaders = idempotencyHeader.extend({
  'x-batch-validation': z.enum(['strict', 'permissive']).default('strict').meta({
    description:
      '`strict`: if one email is invalid, none is sent. `permissive`: valid emails are sent, and `errors` lists the others.',
  }),
});

const counts = z.object({
  total: z.number().int(),
  pending: z.number().int().meta({ description: 'Waiting, or scheduled for later.' }),
  processing: z.number().int().meta({ description: 'Being sent.' }),
  sent: z.number().int(),
  failed: z.number().int(),
  cancelled: z.number().int(),
  provider_unknown: z.number().int().meta({ description: 'Always 0.' }),
});

const batchBody = z
  .object({
    object: z.literal('batch'),
    id: z.string(),
    status: z.enum(['queued', 'processing', 'completed', 'partially_failed', 'failed', 'cancelled']),
    counts,
    created_at: instant,
    updated_at: instant,
    data: z.array(z.object({ id: z.string() })).meta({ description: 'Emails in the order of the request.' }),
  })
  .meta({ id: 'Batch' });

const sentBatch = batchBody
  .extend({
    errors: z
      .array(z.object({ index: z.number().int(), message: z.string() }))
      .optional()
      .meta({ description: 'With permissive validation only: emails that were not accepted.' }),
  })
  .meta({ id: 'SentBatch' });

const batchDetails = batchBody
  .extend({
    items: z.array(
      z.object({
        id: z.string(),
        batch_index: z.number().int(),
        status: z.enum(['pending', 'processing', 'sent', 'failed', 'cancelled']),
        message_id: z.string(),
        failure_reason: z.string().nullable(),
        created_at: instant,
        sent_at: instant.nullable(),
        scheduled_at: instant.nullable(),
      }),
    ),
  })
  .meta({ id: 'BatchDetails' });

const changedBatch = batchDetails
  .extend({ success: z.literal(true), message: z.string() })
  .meta({ id: 'ChangedBatch' });

/** Sending several emails in one request. */
export const batchRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/emails/batch',
    {
      bodyLimit: BATCH_BODY_LIMIT,
      config: { access: access.send, bodyFields: newBatch.extend({ emails: z.array(sendBody) }) },
      schema: {
        operationId: 'sendBatch',
        summary: 'Send a batch of emails',
        description: 'Sends or schedules up to 100 emails. The body can also be the array of emails itself.',
        tags: ['Emails'],
        headers: batchHeaders,
        body: newBatch,
        response: { 202: sentBatch, 403: errorBody, 409: errorBody, default: errorBody },
      },
      preValidation: async (request) => {
        if (Array.isArray(request.body)) request.body = { emails: request.body };
        // Before validation the body may be anything.
        const emails = (request.body as { emails?: unknown } | null | undefined)?.emails;
        if (Array.isArray(emails)) for (const [at, email] of emails.entries()) limitEntries(email, `emails.${at}.`);
      },
    },
    async (request, reply) => {
      const emails = request.body.emails.map((given) => ({ given, read: sendBody.safeParse(given) }));
      const validation = request.headers['x-batch-validation'];
      const asked = [validation, ...emails.map(({ given, read }) => read.data ?? given)];
      const { receipt, at } = await sendBatch(contextOf(request), {
        emails: emails.map(
          ({ read }) =>
            (path: string) =>
              emailOf(read, path),
        ),
        onRefusal: validation === 'permissive' ? 'tell' : 'fail',
        idempotency: idempotencyOf(request.headers, 'batch', asked),
      });
      const items = receipt.emails.map(() => 'pending' as const);
      return reply.code(202).send({
        ...frameOf({ id: receipt.batchId ?? '', counts: batches.countItems(items), createdAt: at, updatedAt: at }),
        data: receipt.emails.map(({ id }) => ({ id })),
        ...(validation === 'permissive' ? { errors: receipt.refused ?? [] } : {}),
      });
    },
  );

  app.get(
    '/emails/batch/:id',
    {
      config: { access: access.read },
      schema: {
        operationId: 'getBatch',
        summary: 'Retrieve a batch',
        description: 'Returns the batch with the status of each email.',
        tags: ['Emails'],
        params: idInPath,
        response: { 200: batchDetails, default: errorBody },
      },
    },
    async (request) => detailsOf(await batches.readBatch(contextOf(request), request.params.id)),
  );

  app.post(
    '/emails/batch/:id/cancel',
    {
      config: { access: access.send },
      schema: {
        operationId: 'cancelBatch',
        summary: 'Cancel a batch',
        description:
          'Cancels the emails of the batch that are still scheduled. Emails that were sent are not affected. Cancelling again changes nothing.',
        tags: ['Emails'],
        params: idInPath,
        response: { 200: changedBatch, default: errorBody },
      },
    },
    async (request) => {
      const { batch, cancelledCount } = await batches.cancelBatch(contextOf(request), request.params.id);
      const message =
        cancelledCount === 0 ? 'Batch already cancelled' : `${cancelledCount} scheduled email(s) cancelled`;
      return { success: true as const, message, ...detailsOf(batch) };
    },
  );

  app.post(
    '/emails/batch/:id/retry',
    {
      config: { access: access.send },
      schema: {
        operationId: 'retryBatch',
        summary: 'Send the failed emails of a batch again',
        description:
          'Sends the emails that failed or bounced again, to the recipients that did not get them. Recipients that are suppressed now, and emails whose content is gone, are left out.',
        tags: ['Emails'],
        params: idInPath,
        response: { 200: changedBatch, default: errorBody },
      },
    },
    async (request) => {
      const { batch, retriedCount } = await batches.retryBatch(contextOf(request), request.params.id);
      const message = retriedCount === 0 ? 'No email can be sent again' : `${retriedCount} email(s) are sent again`;
      return { success: true as const, message, ...detailsOf(batch) };
    },
  );
};

/** Returns the parsed email. Throws validation if it was invalid. */
function emailOf(read: ReturnType<typeof sendBody.safeParse>, path: string): NewEmail {
  if (read.success) return newEmailOf(read.data, path);
  const [issue] = read.error.issues;
  throw invalid(issue?.message ?? 'Invalid value', `${path}${issue?.path.join('.') ?? ''}`);
}

function frameOf({
  id,
  counts,
  createdAt,
  updatedAt,
}: Pick<batches.Batch, 'id' | 'counts' | 'createdAt' | 'updatedAt'>) {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return {
    object: 'batch' as const,
    id,
    status: batches.batchStatusOf(counts),
    counts: { total, ...counts, provider_unknown: 0 },
    created_at: wireInstant(createdAt),
    updated_at: wireInstant(updatedAt),
  };
}

function detailsOf(batch: batches.Batch): z.infer<typeof batchDetails> {
  return {
    ...frameOf(batch),
    data: batch.items.map(({ id }) => ({ id })),
    items: batch.items.map((item) => ({
      id: item.id,
      batch_index: item.index,
      status: item.status,
      message_id: item.messageId,
      failure_reason: item.failureReason,
      created_at: wireInstant(item.createdAt),
      sent_at: wireInstant(item.sentAt),
      scheduled_at: wireInstant(item.scheduledAt),
    })),
  };
}
