import { MOST_RETENTION_DAYS } from '../../../core/upkeep/retention.ts';
import { type AccountRetention, readRetention, updateRetention } from '../../../operations/upkeep/retention.ts';
import { access } from '../access.ts';
import { Viewer } from '../accounts/account.ts';
import { builder } from '../builder.ts';

const NEVER_LONGER =
  'Nothing outlives what it hangs on: raw messages end with the bodies, and these with the metadata, at the latest.';

const Retention = builder.objectRef<AccountRetention>('Retention').implement({
  description: `For how many days mail is kept, counted from when it came or was made; null: for ever. ${NEVER_LONGER}`,
  fields: (t) => ({
    rawDays: t.exposeInt('rawDays', { nullable: true, description: 'Raw messages, and with them attachments.' }),
    bodyDays: t.exposeInt('bodyDays', { nullable: true, description: 'Texts, and what searches find in them.' }),
    metadataDays: t.exposeInt('metadataDays', { nullable: true, description: 'All that is known of a mail.' }),
    isDefault: t.exposeBoolean('isDefault', { description: 'Whether the service decides, as nothing was chosen.' }),
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
    description: `Changes how long mail is kept, all three at once. Older mail is removed within hours, and for good. ${NEVER_LONGER}`,
    input: {
      rawDays: t.input.int({ description: `1 to ${MOST_RETENTION_DAYS}; absent or null: for ever.` }),
      bodyDays: t.input.int({ description: `1 to ${MOST_RETENTION_DAYS}; absent or null: for ever.` }),
      metadataDays: t.input.int({ description: `1 to ${MOST_RETENTION_DAYS}; absent or null: for ever.` }),
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
