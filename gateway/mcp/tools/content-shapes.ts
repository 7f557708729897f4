import { z } from 'zod';
import { secret } from '../../../core/accounts/secret-fields.ts';
import { metadata } from '../../../operations/capability/field-shapes.ts';
import { listedAs } from '../json-schema.ts';

/**
 * The fields of an email as arguments of tools: those of REST without aliases and other forms of the same value, and in few words, because
 * models read them with every conversation.
 */
const addressList = { type: 'array', items: { type: 'string' } };
const addresses = z
  .union([z.string(), z.array(z.string())])
  .meta(listedAs(addressList))
  .nullish();

const attachment = z.object({
  filename: z.string().nullish(),
  content: z.string().meta({ description: 'Base64.' }),
  content_type: z.string().nullish(),
  content_id: z.string().nullish().meta({ description: 'For `cid:` in the HTML.' }),
});

export const content = {
  text: z.string().nullish(),
  html: z.string().nullish(),
  cc: addresses,
  bcc: addresses,
  reply_to: addresses,
  headers: z.record(z.string(), z.string()).nullish(),
  attachments: z.array(attachment).nullish(),
  tags: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  metadata: metadata.meta(listedAs({ type: 'object' })),
  scheduled_at: z.string().nullish().meta({ description: 'ISO 8601, or `tomorrow at 9am`.' }),
  timezone: z.string().nullish().meta({ description: 'IANA zone. Default: UTC.' }),
};

export const envelope = {
  from: z.string().nullish().meta({ description: '`Name <address>`, on a verified domain of yours.' }),
  to: addresses,
  subject: z.string().nullish(),
};

export const listUnsubscribe = z
  .union([z.boolean(), z.object({ list: z.string().nullish() })])
  .meta(
    listedAs({
      type: 'object',
      properties: { list: { type: 'string' } },
      description: 'Adds a link to unsubscribe, for one recipient.',
    }),
  )
  .nullish();

export const claimToken = z
  .string()
  .nullish()
  .meta({ ...secret, description: '`token` of claim_thread.' });

/** Attachments of a draft, new ones and those to keep. */
export const draftAttachments = z
  .array(attachment.extend({ id: z.string().nullish(), content: attachment.shape.content.nullish() }))
  .nullish()
  .meta({ description: 'All of them: new ones with `content`, those to keep with `id`.' });
