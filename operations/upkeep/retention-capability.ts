import { z } from 'zod';
import { named, nameType, restLiteral } from '../../core/shared/field-notes.ts';
import { MAX_RETENTION_DAYS } from '../../core/upkeep/retention.ts';
import { MAX_RETENTION_COUNT } from '../../db/queries/upkeep/retention.ts';
import { type Capability, defineAction } from '../capability/capability.ts';
import { previewRetention, readRetention, updateRetention, WOULD_ERASE } from './retention.ts';

/** It counts up to three times MAX_RETENTION_COUNT rows. */
const PREVIEW_COST = 500;
const NEVER_LONGER = 'Raw messages are deleted with the texts at the latest, and texts with the email.';

const days = z.number().int().min(1).max(MAX_RETENTION_DAYS);
const wholeText = (what: string) => ({
  description: `Days to keep ${what}, 1 to ${MAX_RETENTION_DAYS}. Null keeps them forever.`,
});
const WHAT = {
  rawDays: wholeText('raw messages and attachments'),
  bodyDays: wholeText('message texts, which searches look in'),
  metadataDays: wholeText('emails and everything about them'),
};

export const periods = z.object({
  rawDays: days.nullable().meta(WHAT.rawDays),
  bodyDays: days.nullable().meta(WHAT.bodyDays),
  metadataDays: days.nullable().meta(WHAT.metadataDays),
});
/** Omitted periods are forever. */
const omittable = { description: `Days, 1 to ${MAX_RETENTION_DAYS}. Omit it to keep mail forever.` };
/** Bounds are checked by the operation, which says what is wrong in words; REST documents them. */
const askedBy = (period: z.ZodNumber) =>
  z.object({
    rawDays: period.optional().meta(omittable),
    bodyDays: period.optional().meta(omittable),
    metadataDays: period.optional().meta(omittable),
  });
const asked = askedBy(z.number().int());
export const boundedPeriods = askedBy(days);
type Asked = z.output<typeof asked>;

export const acceptErasing = z
  .number()
  .int()
  .min(0)
  .meta({
    description: `Number of emails that may be erased now, completely or in part: the largest count of the preview. Counting stops at ${MAX_RETENTION_COUNT}, so that number accepts any. Default: none.`,
  });

const retention = z
  .object({
    object: restLiteral('retention'),
    ...periods.shape,
    isDefault: z.boolean().meta({ description: 'Whether the server’s defaults apply, because you have set none.' }),
  })
  .meta({
    id: 'Retention',
    description: `How many days mail is kept after it was received or created. Null means forever. ${NEVER_LONGER}`,
  });

const preview = nameType(
  z.object({
    object: restLiteral('retention_preview'),
    emails: z.number().int().meta({ description: 'Emails that are erased completely.' }),
    bodies: z.number().int().meta({ description: 'Emails whose text is erased.' }),
    raws: named(z.number().int(), { restName: 'raw_messages', graphqlName: 'rawMessages' }).meta({
      description: 'Emails whose raw message and attachments are erased.',
    }),
  }),
  {
    id: 'RetentionPreview',
    description: `What retention periods would erase now. Each count stops at ${MAX_RETENTION_COUNT}.`,
  },
);

export const retentionCapability: Capability = {
  feature: 'Account',
  what: 'Retention',
  difference: 'GraphQL reads it: `viewer { retention retentionPreview }`',
  tag: 'Account',
  path: '/retention',
  restCase: 'snake',
  operations: [
    defineAction({
      access: 'read',
      operationId: 'getRetention',
      summary: 'Retrieve the retention periods',
      description: `Returns how many days mail is kept after it was received or created. ${NEVER_LONGER}`,
      method: 'GET',
      path: '',
      input: z.object({}),
      output: retention,
      errors: [],
      of: { type: 'Viewer', field: 'retention', load: async (context) => [await readRetention(context)] },
      run: (context) => readRetention(context),
    }),
    defineAction({
      access: 'retention',
      operationId: 'updateRetention',
      field: 'updateRetention',
      summary: 'Set the retention periods',
      description: `Sets all three periods at once. Older mail is erased permanently within hours. ${NEVER_LONGER} Shorter periods that erase mail now need \`acceptErasing\`, \`accept_erasing\` in REST (error code \`${WOULD_ERASE}\`).`,
      method: 'PUT',
      path: '',
      input: z.object({ ...asked.shape, acceptErasing: acceptErasing.optional() }),
      inputName: 'UpdateRetention',
      example: { rawDays: 90, bodyDays: 365, metadataDays: null },
      output: retention,
      payloadField: 'retention',
      cost: PREVIEW_COST,
      errors: [],
      run: (context, { acceptErasing: accepted = 0, ...given }) =>
        updateRetention(context, fillPeriods(given), accepted),
    }),
    defineAction({
      access: 'read',
      operationId: 'previewRetention',
      summary: 'Preview retention periods',
      description: `Returns what these periods would erase now, and changes nothing. Each count stops at ${MAX_RETENTION_COUNT}.`,
      method: 'GET',
      path: '/preview',
      input: asked,
      output: preview,
      errors: [],
      of: {
        type: 'Viewer',
        field: 'retentionPreview',
        cost: PREVIEW_COST,
        load: async (context, _ids, given: Asked) => [await previewRetention(context, fillPeriods(given))],
      },
      run: (context, given) => previewRetention(context, fillPeriods(given)),
    }),
  ],
};

function fillPeriods({
  rawDays = null,
  bodyDays = null,
  metadataDays = null,
}: Partial<Record<keyof Asked, number | null | undefined>>) {
  return { rawDays, bodyDays, metadataDays };
}
