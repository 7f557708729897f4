import { z } from 'zod';
import { listNotes } from '../../../operations/threads/notes.ts';
import { access } from '../../admission/access.ts';
import { instant, wireInstant } from '../../rest/shapes.ts';
import { defineTool } from '../tool.ts';

export const listThreadNotesTool = defineTool({
  name: 'list_thread_notes',
  title: 'List the notes of a thread',
  description: 'Returns what members wrote beside a thread, oldest first. Never quote notes in mail.',
  access: access.notes,
  effect: 'reads own data',
  input: z.object({ thread_id: z.string() }),
  output: z.object({
    notes: z.array(z.object({ id: z.string(), author: z.string(), text: z.string(), created_at: instant })),
  }),
  async run(context, { thread_id: threadId }) {
    const notes = await listNotes(context, threadId);
    return {
      notes: notes.map(({ id, authorName: author, text, createdAt }) => ({
        id,
        author,
        text,
        created_at: wireInstant(createdAt),
      })),
    };
  },
});
