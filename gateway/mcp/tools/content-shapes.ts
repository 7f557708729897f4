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
const objects = { type: 'array', items: { type: 'object' } };
const tags = z.array(z.object({ name: z.string(), value: z.string() }));
const listUnsubscribe = z.union([z.boolean(), z.object({ list: z.string().nullish() })]);

/** The fields of an email. Only send_email describes them all. */
export const outgoing = {
  from: z.string().nullish(),
  to: addresses,
  subject: z.string().nullish(),
  text: z.string().nullish(),
  html: z.string().nullish(),
  cc: addresses,
  bcc: addresses,
  reply_to: addresses,
  headers: z
    .record(z.string(), z.string())
    .meta(listedAs({ type: 'object' }))
    .nullish(),
  attachments: z.array(attachment).meta(listedAs(objects)).nullish(),
  tags: tags.meta(listedAs(objects)).nullish(),
  metadata: metadata.meta(listedAs({ type: 'object' })),
  scheduled_at: z.string().nullish(),
  timezone: z.string().nullish(),
  list_unsubscribe: listUnsubscribe.meta(listedAs({ type: 'object' })).nullish(),
};

/** `outgoing` with the words of send_email. */
export const describedOutgoing = {
  ...outgoing,
  from: outgoing.from.meta({ description: '`Name <address>`, on a verified domain of yours.' }),
  attachments: z.array(attachment).nullish(),
  tags: tags.meta(listedAs({ ...objects, description: '`name`, `value`.' })).nullish(),
  metadata: metadata.meta(listedAs({ type: 'object', description: 'Replies carry it.' })),
  scheduled_at: outgoing.scheduled_at.meta({ description: 'ISO 8601, or `tomorrow at 9am`.' }),
  timezone: outgoing.timezone.meta({ description: 'IANA zone. Default: UTC.' }),
  list_unsubscribe: listUnsubscribe
    .meta(listedAs({ type: 'object', description: '`list`: adds a link to unsubscribe, for one recipient.' }))
    .nullish(),
};

export const claimToken = z
  .string()
  .nullish()
  .meta({ ...secret, description: 'From claim_thread.' });

/** Attachments of a draft, new ones and those to keep. */
export const draftAttachments = z
  .array(attachment.extend({ id: z.string().nullish(), content: attachment.shape.content.nullish() }))
  .meta(listedAs({ ...objects, description: 'All of them: new ones, and those to keep by their `id`.' }))
  .nullish();
