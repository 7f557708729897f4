import { followReadByMe } from '../../../operations/threads/read-state.ts';
import { readByMe } from '../../../operations/threads/read-state-capability.ts';
import type { ReadByMember } from '../../../operations/threads/read-state-hub.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { typeFor } from '../capability-shapes.ts';

builder.subscriptionField('readByMe', (t) =>
  t.field({
    type: typeFor(readByMe, { isOfDomain: true }),
    access: access.notes,
    description:
      'What you mark as read or unread, in any of your sessions. A reader that is far behind gets one change of everything.',
    subscribe: (_root, _args, { operations }) => followReadByMe(operations),
    resolve: (change: ReadByMember) => change,
  }),
);
