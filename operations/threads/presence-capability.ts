import { z } from 'zod';
import { named, nameType, restOnly } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { PRESENCE_STATES } from '../../core/threads/presence.ts';
import { type Capability, defineAction, OF_THREADS } from '../capability/capability.ts';
import { setPresence } from './presence.ts';

const state = oneOf(PRESENCE_STATES, {
  name: 'PresenceState',
  description: 'What a member does with a thread.',
  values: { reading: 'Has it open.', replying: 'Writes a reply.', gone: 'Has left it.' },
});

/** A member who has a thread open. */
export const threadPresence = nameType(
  z.object({
    personId: named(z.string(), { graphqlType: 'ID' }).meta({ description: 'ID of the person.' }),
    name: z.string().meta({ description: 'Name or address of the person.' }),
    state: state.meta({ description: 'What the person does.' }),
    isYou: z.boolean().meta({ description: 'Whether this is the person of the request.' }),
  }),
  { type: 'ThreadPresence', description: 'A member who has a thread open.' },
);

export const presenceCapability: Capability = {
  feature: 'Threads',
  what: 'Who has a thread open',
  difference: 'GraphQL has the subscription `threadPresence`. Only persons are present; agents claim threads.',
  ...OF_THREADS,
  operations: [
    defineAction({
      access: 'notes',
      operationId: 'setThreadPresence',
      field: 'setThreadPresence',
      summary: 'Say that you have a thread open',
      description:
        'Shows other members for a minute what you do with a thread. Repeat it to stay present. Nothing is stored. Needs a dashboard session.',
      method: 'POST',
      path: '/:id/presence',
      target: { argument: 'threadId', argumentDescription: 'ID of the thread.' },
      input: z.object({ state: state.meta({ description: 'What you do.' }) }),
      inputName: 'SetThreadPresence',
      example: { state: 'replying' },
      output: z
        .object({
          threadId: restOnly(z.string()),
          present: z.array(threadPresence).meta({ description: 'Who has the thread open.' }),
        })
        .meta({ id: 'ThreadPresences', description: 'Who has a thread open.' }),
      isOfDomain: true,
      errors: [],
      run: (context, { state: given }, threadId) => setPresence(context, threadId, given),
    }),
  ],
};
