import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { invalid } from '../../../operations/context.ts';
import * as batches from '../../../operations/sending/batches.ts';
import type { NewEmail } from '../../../operations/sending/check-outgoing.ts';
import { sendBatch } from '../../../operations/sending/send-batch.ts';
import { batchEmails, refuseCrowds } from '../../../schema/shapes/outgoing.ts';
import { access } from '../../admission/access.ts';
import { errorBody, idInPath, instant, type RestOptions, wireInstant } from '../shapes.ts';
import { idempotencyHeader, idempotencyOf, newEmailOf, sendBody } from './outgoing-shapes.ts';

/** Octets of a body that may hold the attachments of 100 emails (decisions.md "message size"). */
const BATCH_BODY_LIMIT = 100_000_000;

const newBatch = z
  .object({
    // Read one by one, so that one that has not the shape of an email need not keep the others back.
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
    description: 'strict: one email that cannot go keeps all back; permissive: the others go, and `errors` tells',
  }),
});

const counts = z.object({
  total: z.number().int(),
  pending: z.number().int().meta({ description: 'waiting, be it for their time' }),
  processing: z.number().int().meta({ description: 'on their way' }),
  sent: z.number().int(),
  failed: z.number().int(),
  cancelled: z.number().int(),
  provider_unknown: z.number().int().meta({ description: 'always 0' }),
});

const batchBody = z
  .object({
    object: z.literal('batch'),
    id: z.string(),
    status: z.enum(['queued', 'processing', 'completed', 'partially_failed', 'failed', 'cancelled']),
    counts,
    created_at: instant,
    updated_at: instant,
    data: z.array(z.object({ id: z.string() })).meta({ description: 'the emails in the order of the request' }),
  })
  .meta({ id: 'Batch' });

const sentBatch = batchBody
  .extend({
    errors: z
      .array(z.object({ index: z.number().int(), message: z.string() }))
      .optional()
      .meta({ description: 'only with permissive validation: emails that did not go' }),
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

const cancelledBatch = batchDetails
  .extend({ success: z.literal(true), message: z.string() })
  .meta({ id: 'CancelledBatch' });

/** Emails that are asked for at once. */
export const batchRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/emails/batch',
    {
      bodyLimit: BATCH_BODY_LIMIT,
      config: { access: access.send, bodyFields: newBatch.extend({ emails: z.array(sendBody) }) },
      schema: {
        operationId: 'sendBatch',
        summary: 'Send up to 100 emails',
        description: 'Each at once or on its schedule. The body may also be the bare array of emails.',
        tags: ['Emails'],
        headers: batchHeaders,
        body: newBatch,
        response: { 202: sentBatch, 403: errorBody, 409: errorBody, default: errorBody },
      },
      preValidation: async (request) => {
        if (Array.isArray(request.body)) request.body = { emails: request.body };
        const emails: unknown = request.body?.emails;
        if (Array.isArray(emails)) for (const [at, email] of emails.entries()) refuseCrowds(email, `emails.${at}.`);
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
        summary: 'Read a batch',
        description: 'With how far each of its emails came.',
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
        summary: 'Cancel what of a batch is still scheduled',
        description: 'What has left goes its way. Cancelling it again changes nothing.',
        tags: ['Emails'],
        params: idInPath,
        response: { 200: cancelledBatch, default: errorBody },
      },
    },
    async (request) => {
      const { batch, cancelledCount } = await batches.cancelBatch(contextOf(request), request.params.id);
      const message =
        cancelledCount === 0 ? 'Batch already cancelled' : `${cancelledCount} scheduled email(s) cancelled`;
      return { success: true as const, message, ...detailsOf(batch) };
    },
  );
};

/** Throws validation when it had not the shape of an email. */
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
