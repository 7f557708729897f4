import { MAX_RETENTION_DAYS } from '../../../core/upkeep/retention.ts';
import { type AccountRetention, readRetention, updateRetention } from '../../../operations/upkeep/retention.ts';
import { access } from '../access.ts';
import { Viewer } from '../accounts/account.ts';
import { builder } from '../builder.ts';

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

builder.mutationField('updateRetention', (t) =>
  t.fieldWithInput({
    type: Retention,
    access: access.manage,
    description: `Sets how long mail is kept, all three values at once. Older mail is deleted permanently within hours. ${NEVER_LONGER}`,
    input: {
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
    resolve: (_root, { input: { rawDays, bodyDays, metadataDays } }, { operations }) =>
      updateRetention(operations, {
        rawDays: rawDays ?? null,
        bodyDays: bodyDays ?? null,
        metadataDays: metadataDays ?? null,
      }),
  }),
);
