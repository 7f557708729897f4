import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { invalid, type OperationContext } from '../../../operations/context.ts';
import {
  batchCapability,
  batchFrame,
  batchResource,
  describeFrame,
} from '../../../operations/sending/batch-capability.ts';
import { type Batch, countItems } from '../../../operations/sending/batches.ts';
import type { NewEmail } from '../../../operations/sending/check-outgoing.ts';
import { sendBatch } from '../../../operations/sending/send-batch.ts';
import { batchEmails, limitEntries } from '../../../schema/input-shapes.ts';
import { access } from '../../admission/access.ts';
import { capabilityRoutes } from '../capability-routes.ts';
import { makeWriter } from '../capability-shapes.ts';
import { errorBody, type RestOptions } from '../shapes.ts';
import { plainWireObject } from '../wire-object.ts';
import { idempotencyHeader, readEmail, readIdempotencyHeader, sendBody } from './outgoing-shapes.ts';

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

const batch = plainWireObject(batchResource, 'snake');
const batchDetails = z.object(batch.shape.shape).meta({ id: 'BatchDetails' });

const sentBatch = batch.shape
  .omit({ items: true })
  .extend({
    errors: z
      .array(z.object({ index: z.number().int(), message: z.string() }))
      .optional()
      .meta({ description: 'With permissive validation only: emails that were not accepted.' }),
  })
  .meta({ id: 'SentBatch' });

const changedBatch = batch.shape.extend({ success: z.literal(true), message: z.string() }).meta({ id: 'ChangedBatch' });

/** The response has the batch itself. */
const changedResponse = {
  shape: () => changedBatch,
  bodyOf: (usual: Record<string, unknown>, result: object, context: OperationContext) => ({
    ...usual,
    ...batch.writeRow(context, (result as { batch: Batch }).batch),
  }),
};

export const batchChangeRoutes = capabilityRoutes(batchCapability, {
  operations: {
    getBatch: { response: { shape: () => batchDetails, bodyOf: (usual) => usual } },
    cancelBatch: { response: changedResponse },
    retryBatch: { response: changedResponse },
  },
});

const writeFrame = makeWriter(batchFrame, 'snake');

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
              toEmail(read, path),
        ),
        onRefusal: validation === 'permissive' ? 'tell' : 'fail',
        idempotency: readIdempotencyHeader(request.headers, 'batch', asked),
      });
      const counts = countItems(receipt.emails.map(() => 'pending' as const));
      const sent = describeFrame({ counts, createdAt: at, updatedAt: at, items: receipt.emails });
      return reply.code(202).send({
        object: 'batch',
        id: receipt.batchId ?? '',
        ...(writeFrame?.(sent) as object),
        ...(validation === 'permissive' ? { errors: receipt.refused ?? [] } : {}),
      });
    },
  );
};

/** Returns the parsed email. Throws validation if it was invalid. */
function toEmail(read: ReturnType<typeof sendBody.safeParse>, path: string): NewEmail {
  if (read.success) return readEmail(read.data, path);
  const [issue] = read.error.issues;
  throw invalid(issue?.message ?? 'Invalid value', `${path}${issue?.path.join('.') ?? ''}`);
}
