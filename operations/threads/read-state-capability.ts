import { z } from 'zod';
import { nameType } from '../../core/shared/field-notes.ts';
import { type Capability, defineAction, OF_THREADS } from '../capability/capability.ts';
import { text } from '../capability/field-shapes.ts';
import { setReadByMe } from './read-state.ts';
import { MAX_THREADS } from './thread-changes.ts';

/** What a member has marked. */
export const readByMe = nameType(
  z.object({
    threadIds: z.array(z.string()).nullable().meta({
      description: 'IDs of the threads; null: everything that has come until now.',
    }),
    isRead: z.boolean().meta({ description: 'Whether they are read.' }),
  }),
  { type: 'ReadByMe', description: 'What a member has marked as read or unread.' },
);

export const readStateCapability: Capability = {
  feature: 'Threads',
  what: "A member's own read state",
  difference: 'GraphQL has the subscription `readByMe`. Agents mark mail for the workspace: `mark_threads_read`.',
  ...OF_THREADS,
  operations: [
    defineAction({
      access: 'notes',
      operationId: 'setReadByMe',
      field: 'setReadByMe',
      summary: 'Mark threads as read by you',
      description:
        'Marks threads as read or unread by the person of the session, or the member who created the API key. Others and `is_read` of emails are not affected. Repeating the request changes nothing.',
      method: 'POST',
      path: '/read-by-me',
      input: z.object({
        threadIds: z
          .array(text)
          .nullish()
          .meta({
            description: `IDs of 1 to ${MAX_THREADS} threads. Omit to mark everything that has come until now.`,
          }),
        isRead: z.boolean().meta({ description: 'True marks as read, false as unread.' }),
        emailId: text.nullish().meta({
          description:
            'ID of a message of a single thread: the last one that is read, or with `is_read: false` the first one that is unread. Omit for all messages.',
        }),
      }),
      inputName: 'SetReadByMe',
      example: { threadIds: ['th_019aa3c1b2d47e1f8a0b3c4d5e6f7a8b'], isRead: true },
      output: readByMe,
      isOfDomain: true,
      errors: [],
      run: (context, { threadIds, isRead, emailId }) =>
        setReadByMe(context, { threadIds: threadIds ?? null, isRead, emailId: emailId ?? null }),
    }),
  ],
};
