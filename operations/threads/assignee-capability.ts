import { z } from 'zod';
import { linkTo, named, nameType, restOnly } from '../../core/shared/field-notes.ts';
import { type Capability, defineAction, OF_THREADS } from '../capability/capability.ts';
import { memberImage, text } from '../capability/field-shapes.ts';
import { assignThread } from './assign-thread.ts';

/** A member as others see the member beside what the member did. */
export const memberName = nameType(
  z.object({
    id: named(z.string(), { graphqlType: 'ID' }).meta({ description: 'ID of the person.' }),
    email: z.string().meta({ description: 'The address that the person signs in with.' }),
    name: z.string().meta({ description: 'Name of the person; may be empty.' }),
    image: memberImage,
  }),
  { type: 'MemberName', description: 'A member as shown beside what the member works on.' },
);

export const assigneeCapability: Capability = {
  feature: 'Threads',
  what: 'Assign a thread',
  ...OF_THREADS,
  operations: [
    defineAction({
      access: 'organize',
      operationId: 'assignThread',
      field: 'assignThread',
      summary: 'Assign a thread',
      tool: {
        name: 'assign_thread',
        description: 'Assigns a thread to a member of the workspace, or to none.',
        words: { assignee: '`me`, the address or ID of a member, or null.' },
      },
      description:
        'Assigns a thread to a member, who works on it until someone else gets it, or to none. The member must be able to read the thread. The event `thread.assigned` says who assigned it. Repeating the request changes nothing.',
      method: 'POST',
      path: '/:id/assign',
      target: { argument: 'threadId', argumentDescription: 'ID of the thread.' },
      input: z.object({
        assignee: text
          .nullable()
          .meta({ description: '`me`, or the ID or address of a member. Null assigns the thread to none.' }),
      }),
      inputName: 'AssignThread',
      example: { assignee: 'ann@example.com' },
      output: z
        .object({ threadId: linkTo('Thread', z.string()), assignee: restOnly(memberName.nullable()) })
        .meta({ id: 'AssignedThread', description: 'Who works on a thread.' }),
      payloadField: 'thread',
      errors: [409],
      run: (context, { assignee }, threadId) => assignThread(context, threadId, assignee),
    }),
  ],
};
