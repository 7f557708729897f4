import { MAX_RETENTION_DAYS } from '../../../core/upkeep/retention.ts';
import { MAX_RETENTION_COUNT, type RetentionCounts } from '../../../db/queries/upkeep/retention.ts';
import {
  type AccountRetention,
  previewRetention,
  readRetention,
  updateRetention,
  WOULD_ERASE,
} from '../../../operations/upkeep/retention.ts';
import { access } from '../access.ts';
import { Viewer } from '../accounts/account.ts';
import { builder } from '../builder.ts';

/** It counts up to three times MAX_RETENTION_COUNT rows. */
const PREVIEW_COST = 500;
const NEVER_LONGER = 'Raw messages are deleted with the texts at the latest, and texts with the email.';

const Retention = builder.objectRef<AccountRetention>('Retention').implement({
  description: `How many days mail is kept after it was received or created. Null means forever. ${NEVER_LONGER}`,
  fields: (t) => ({
    rawDays: t.exposeInt('rawDays', { nullable: true, description: 'Days to keep raw messages and attachments.' }),
    bodyDays: t.exposeInt('bodyDays', {
      nullable: true,
      description: 'Days to keep message texts, which searches look in.',
    }),
    metadataDays: t.exposeInt('metadataDays', {
      nullable: true,
      description: 'Days to keep the email and everything about it.',
    }),
    isDefault: t.exposeBoolean('isDefault', {
      description: 'Whether the server’s defaults apply because you have not set any values.',
    }),
  }),
});

builder.objectField(Viewer, 'retention', (t) =>
  t.field({
    type: Retention,
    description: 'How long mail is kept.',
    resolve: (_viewer, _args, { reads }) => readRetention(reads),
  }),
);

const RetentionPreview = builder.objectRef<RetentionCounts>('RetentionPreview').implement({
  description: `What retention periods would erase now. Each count stops at ${MAX_RETENTION_COUNT}.`,
  fields: (t) => ({
    emails: t.exposeInt('emails', { description: 'Emails that are erased completely.' }),
    bodies: t.exposeInt('bodies', { description: 'Emails whose text is erased.' }),
    rawMessages: t.exposeInt('raws', { description: 'Emails whose raw message and attachments are erased.' }),
  }),
});

builder.objectField(Viewer, 'retentionPreview', (t) =>
  t.field({
    type: RetentionPreview,
    description: 'What `updateRetention` with these values would erase. Changes nothing.',
    args: {
      rawDays: t.arg.int({ description: 'Days to keep raw messages and attachments. Null means forever.' }),
      bodyDays: t.arg.int({ description: 'Days to keep message texts. Null means forever.' }),
      metadataDays: t.arg.int({ description: 'Days to keep emails. Null means forever.' }),
    },
    complexity: PREVIEW_COST,
    resolve: (_viewer, { rawDays, bodyDays, metadataDays }, { reads }) =>
      previewRetention(reads, {
        rawDays: rawDays ?? null,
        bodyDays: bodyDays ?? null,
        metadataDays: metadataDays ?? null,
      }),
  }),
);

builder.mutationField('updateRetention', (t) =>
  t.fieldWithInput({
    type: Retention,
    access: access.manage,
    description: `Sets how long mail is kept, all three values at once. Older mail is deleted permanently within hours. ${NEVER_LONGER} Shorter periods that erase mail now need \`acceptErasing\` (error code \`${WOULD_ERASE}\`).`,
    complexity: PREVIEW_COST,
    input: {
      acceptErasing: t.input.int({
        description: `Number of emails that may be erased now, completely or in part: the largest count of \`retentionPreview\`. Counting stops at ${MAX_RETENTION_COUNT}, so that number accepts any. Omit or pass null for none.`,
      }),
      rawDays: t.input.int({
        description: `Days, 1 to ${MAX_RETENTION_DAYS}. Omit or pass null to keep raw messages and attachments forever.`,
      }),
      bodyDays: t.input.int({
        description: `Days, 1 to ${MAX_RETENTION_DAYS}. Omit or pass null to keep message texts forever.`,
      }),
      metadataDays: t.input.int({
        description: `Days, 1 to ${MAX_RETENTION_DAYS}. Omit or pass null to keep emails forever.`,
      }),
    },
    errors: { dataField: { name: 'retention' } },
    resolve: (_root, { input: { rawDays, bodyDays, metadataDays, acceptErasing } }, { operations }) =>
      updateRetention(
        operations,
        {
          rawDays: rawDays ?? null,
          bodyDays: bodyDays ?? null,
          metadataDays: metadataDays ?? null,
        },
        acceptErasing ?? 0,
      ),
  }),
);
