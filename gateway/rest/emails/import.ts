import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { IMPORT_STATUSES, importEmails, MAX_IMPORTED } from '../../../operations/emails/import-emails.ts';
import { access } from '../../admission/access.ts';
import { errorBody, type RestOptions, text } from '../shapes.ts';

/** Bytes of a request; the program `postroom import` stays far below. @limit */
export const IMPORT_BODY_LIMIT = 40_000_000;

const importBody = z
  .object({
    address: text.meta({ description: 'One of your addresses, which receives the messages.' }),
    webhooks: z.boolean().default(false).meta({
      description: 'Whether guard rules and endpoints get the messages like new mail. By default they are only stored.',
    }),
    messages: z
      .array(
        z.object({
          // One pass: the usual pattern keeps a state for each group of a message of megabytes.
          raw: z
            .string()
            .min(1)
            .refine((value) => !/[^A-Za-z0-9+/=\s]/.test(value), 'must be base64')
            .meta({ description: 'The message (RFC 5322) in base64, with any line ends.' }),
          is_read: z.boolean().default(false),
          received_at: z.iso.datetime({ offset: true }).nullish().meta({
            description: 'When it was received, for messages without a valid Date header.',
          }),
        }),
      )
      .min(1)
      .max(MAX_IMPORTED),
  })
  .meta({
    id: 'ImportEmails',
    examples: [
      {
        address: 'hello@example.com',
        messages: [{ raw: 'RnJvbTogYWRhQGV4YW1wbGUub3JnDQpTdWJqZWN0OiBIaQ0KDQpIZWxsbw0K', is_read: true }],
      },
    ],
  });

const importedBody = z
  .object({
    object: z.literal('import'),
    data: z
      .array(
        z.object({
          id: z.string().nullable().meta({ description: 'ID of the email. Null if it was refused.' }),
          status: z.enum(IMPORT_STATUSES).meta({
            description: '`duplicate`: the address has this message already. `refused`: SMTP would refuse it, too.',
          }),
          reason: z.string().nullable().meta({ description: 'The SMTP reply that refuses it. Null otherwise.' }),
        }),
      )
      .meta({ description: 'One item for each message, in their order.' }),
  })
  .meta({ id: 'ImportedEmails' });

export const importRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/emails/import',
    {
      bodyLimit: IMPORT_BODY_LIMIT,
      config: { access: access.manage },
      schema: {
        operationId: 'importEmails',
        summary: 'Import emails',
        description:
          'Stores up to 100 messages of another mail system as received mail, with their own dates and read flags. Repeating a request adds nothing. The program `postroom import` reads mbox files and Maildirs.',
        tags: ['Emails'],
        body: importBody,
        response: { 200: importedBody, 404: errorBody, 503: errorBody, default: errorBody },
      },
    },
    async (request) => {
      const { address, webhooks, messages } = request.body;
      const outcomes = await importEmails(contextOf(request), {
        address,
        isRouted: webhooks,
        messages: messages.map(({ raw, is_read: isRead, received_at: receivedAt }) => ({
          raw: Buffer.from(raw, 'base64'),
          isRead,
          receivedAt: receivedAt == null ? null : new Date(receivedAt),
        })),
      });
      return { object: 'import' as const, data: outcomes };
    },
  );
};
