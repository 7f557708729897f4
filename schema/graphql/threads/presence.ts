import { followPresence, type ShownPresence } from '../../../operations/threads/presence.ts';
import { threadPresence } from '../../../operations/threads/presence-capability.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { typeFor } from '../capability-shapes.ts';

builder.subscriptionField('threadPresence', (t) =>
  t.field({
    type: [typeFor(threadPresence, { isOfDomain: true })],
    access: access.notes,
    description:
      'The members who have a thread open, at once and after each change. Those who do not renew their presence leave after a minute.',
    args: { threadId: t.arg.id({ required: true, description: 'ID of the thread.' }) },
    subscribe: (_root, { threadId }, { operations }) => followPresence(operations, threadId),
    resolve: (present: ShownPresence[]) => present,
  }),
);
