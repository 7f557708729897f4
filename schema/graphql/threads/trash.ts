import * as trash from '../../../operations/threads/trash.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { forgetLoaded } from '../context.ts';
import { EmailNode } from '../nodes.ts';
import { changedThreadsPayload } from './changed-threads.ts';

const threadIdsDescription = 'IDs of 1 to 100 threads.';

builder.mutationField('trashThreads', (t) =>
  t.fieldWithInput({
    type: changedThreadsPayload('TrashThreadsPayload'),
    access: access.organize,
    description:
      'Moves whole threads to the trash: all of them or none. Lists, counts and searches leave them out. They are deleted after 30 days; a new message brings its thread back.',
    input: { threadIds: t.input.idList({ required: true, description: threadIdsDescription }) },
    errors: { directResult: true },
    resolve: async (_root, { input }, context) => {
      const changed = await trash.trashThreads(context.operations, input.threadIds);
      forgetLoaded(context);
      return changed;
    },
  }),
);

builder.mutationField('restoreThreads', (t) =>
  t.fieldWithInput({
    type: changedThreadsPayload('RestoreThreadsPayload'),
    access: access.organize,
    description:
      'Moves threads back from the trash: all of them or none. A message that was moved there alone returns to its thread.',
    input: { threadIds: t.input.idList({ required: true, description: threadIdsDescription }) },
    errors: { directResult: true },
    resolve: async (_root, { input }, context) => {
      const changed = await trash.restoreThreads(context.operations, input.threadIds);
      forgetLoaded(context);
      return changed;
    },
  }),
);

builder.mutationField('trashEmails', (t) =>
  t.fieldWithInput({
    type: [EmailNode],
    access: access.organize,
    description:
      'Moves emails that have arrived or left to the trash: all of them or none. An email whose thread has other messages gets a thread of its own there, and returns when you restore that thread. Scheduled emails are cancelled instead: cancelEmail.',
    input: { emailIds: t.input.idList({ required: true, description: 'IDs of 1 to 100 emails.' }) },
    errors: { dataField: { name: 'emails' } },
    resolve: async (_root, { input }, context) => {
      const trashed = await trash.trashEmails(context.operations, input.emailIds);
      forgetLoaded(context);
      return trashed.map(({ emailId }) => emailId);
    },
  }),
);

const DeleteForeverPayload = builder.objectRef<trash.RemovedMail>('DeleteForeverPayload').implement({
  description: 'Result of deleting mail forever.',
  fields: (t) => ({
    deletedEmailCount: t.exposeInt('removed', { description: 'Number of emails that are gone.' }),
    keptEmailCount: t.exposeInt('inWork', {
      description:
        'Number of emails that stay in the trash because they are still sent, routed or delivered. Delete them again later.',
    }),
  }),
});

builder.mutationField('deleteThreadsForever', (t) =>
  t.fieldWithInput({
    type: DeleteForeverPayload,
    access: access.remove,
    description:
      'Deletes threads with everything that belongs to their messages, whether they are in the trash or not. This cannot be undone.',
    input: { threadIds: t.input.idList({ required: true, description: threadIdsDescription }) },
    errors: { directResult: true },
    resolve: async (_root, { input }, context) => {
      const removed = await trash.removeThreads(context.operations, input.threadIds);
      forgetLoaded(context);
      return removed;
    },
  }),
);
