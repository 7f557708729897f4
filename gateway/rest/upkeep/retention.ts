import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { MAX_RETENTION_DAYS } from '../../../core/upkeep/retention.ts';
import { MAX_RETENTION_COUNT } from '../../../db/queries/upkeep/retention.ts';
import {
  type AccountRetention,
  previewRetention,
  readRetention,
  updateRetention,
  WOULD_ERASE,
} from '../../../operations/upkeep/retention.ts';
import { access } from '../../admission/access.ts';
import { sendSnakeCaseError } from '../../http/error-response.ts';
import { errorBody, type RestOptions } from '../shapes.ts';

const days = (what: string) =>
  z
    .number()
    .int()
    .min(1)
    .max(MAX_RETENTION_DAYS)
    .nullable()
    .meta({ description: `Days to keep ${what}, 1 to ${MAX_RETENTION_DAYS}. Null keeps them forever.` });

const periods = {
  raw_days: days('raw messages and attachments'),
  body_days: days('message texts, which searches look in'),
  metadata_days: days('emails and everything about them'),
};

const retentionBody = z
  .object({
    object: z.literal('retention'),
    ...periods,
    is_default: z.boolean().meta({ description: 'Whether the server’s defaults apply, because you have set none.' }),
  })
  .meta({ id: 'Retention' });

const updateBody = z
  .object({
    ...periods,
    accept_erasing: z
      .number()
      .int()
      .min(0)
      .default(0)
      .meta({
        description: `Number of emails that may be erased now, completely or in part: the largest count of the preview. Counting stops at ${MAX_RETENTION_COUNT}, so that number accepts any.`,
      }),
  })
  .meta({ id: 'UpdateRetention', examples: [{ raw_days: 90, body_days: 365, metadata_days: null }] });

const daysInQuery = z.coerce
  .number()
  .int()
  .min(1)
  .max(MAX_RETENTION_DAYS)
  .optional()
  .meta({
    description: `Days, 1 to ${MAX_RETENTION_DAYS}. Omit it to keep mail forever.`,
  });

const previewBody = z
  .object({
    object: z.literal('retention_preview'),
    emails: z.number().int().meta({ description: 'Emails that are erased completely.' }),
    bodies: z.number().int().meta({ description: 'Emails whose text is erased.' }),
    raw_messages: z.number().int().meta({ description: 'Emails whose raw message and attachments are erased.' }),
  })
  .meta({ id: 'RetentionPreview' });

const NEVER_LONGER = 'Raw messages are deleted with the texts at the latest, and texts with the email.';

/** How long the mail of an account is kept. */
export const retentionRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/retention',
    {
      config: { access: access.read },
      schema: {
        operationId: 'getRetention',
        summary: 'Retrieve the retention periods',
        description: `Returns how many days mail is kept after it was received or created. ${NEVER_LONGER}`,
        tags: ['Account'],
        response: { 200: retentionBody, default: errorBody },
      },
    },
    async (request) => retentionBodyOf(await readRetention(contextOf(request))),
  );

  app.put(
    '/retention',
    {
      errorHandler: sendSnakeCaseError,
      config: { access: access.manage },
      schema: {
        operationId: 'updateRetention',
        summary: 'Set the retention periods',
        description: `Sets all three periods at once. Older mail is erased permanently within hours. ${NEVER_LONGER} Shorter periods that erase mail now need \`accept_erasing\` (error code \`${WOULD_ERASE}\`).`,
        tags: ['Account'],
        body: updateBody,
        response: { 200: retentionBody, default: errorBody },
      },
    },
    async (request) => {
      const { raw_days: rawDays, body_days: bodyDays, metadata_days: metadataDays } = request.body;
      const given = { rawDays, bodyDays, metadataDays };
      return retentionBodyOf(await updateRetention(contextOf(request), given, request.body.accept_erasing));
    },
  );

  app.get(
    '/retention/preview',
    {
      errorHandler: sendSnakeCaseError,
      config: { access: access.read },
      schema: {
        operationId: 'previewRetention',
        summary: 'Preview retention periods',
        description: `Returns what these periods would erase now, and changes nothing. Each count stops at ${MAX_RETENTION_COUNT}.`,
        tags: ['Account'],
        querystring: z.object({ raw_days: daysInQuery, body_days: daysInQuery, metadata_days: daysInQuery }),
        response: { 200: previewBody, default: errorBody },
      },
    },
    async (request) => {
      const { raw_days: rawDays, body_days: bodyDays, metadata_days: metadataDays } = request.query;
      const counts = await previewRetention(contextOf(request), {
        rawDays: rawDays ?? null,
        bodyDays: bodyDays ?? null,
        metadataDays: metadataDays ?? null,
      });
      const { emails, bodies, raws } = counts;
      return { object: 'retention_preview' as const, emails, bodies, raw_messages: raws };
    },
  );
};

function retentionBodyOf(retention: AccountRetention): z.infer<typeof retentionBody> {
  return {
    object: 'retention',
    raw_days: retention.rawDays,
    body_days: retention.bodyDays,
    metadata_days: retention.metadataDays,
    is_default: retention.isDefault,
  };
}
