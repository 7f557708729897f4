import { z } from 'zod';
import { named, restLiteral, restOnly } from '../../core/shared/field-notes.ts';
import { MAX_MENTIONS, MAX_NOTE_LENGTH, MAX_NOTES } from '../../core/threads/note.ts';
import { type Capability, defineAction } from '../capability/capability.ts';
import { memberImage, text } from '../capability/field-shapes.ts';
import { memberName } from './assignee-capability.ts';
import * as notes from './notes.ts';

const note = z
  .object({
    object: restLiteral('note'),
    id: named(z.string(), { graphqlType: 'ID' }).meta({ description: 'ID of the note.' }),
    threadId: named(z.string(), { graphqlType: 'ID' }).meta({ description: 'ID of its thread.' }),
    text: z.string().meta({ description: 'Plain text.' }),
    authorId: named(z.string().nullable(), { graphqlType: 'ID' }).meta({
      description: 'ID of the person who wrote it. Null: an API key did.',
    }),
    authorName: z.string().meta({ description: 'Name or address of the author then, or the name of the API key.' }),
    authorImage: memberImage,
    isYours: z.boolean().meta({ description: 'Whether the person or the API key of the request wrote it.' }),
    mentions: z
      .array(memberName)
      .meta({ description: 'Members whom it mentions, who got a notice. Members who left are missing.' }),
    unreached: z.array(z.string()).meta({
      description: 'Addresses of members whom it mentions and who cannot read the thread. They got no notice.',
    }),
    createdAt: z.date().meta({ description: 'When it was written.' }),
    editedAt: z.date().nullable().meta({ description: 'When its text was changed last. Null: never.' }),
  })
  .meta({ id: 'Note', description: 'What a member wrote beside a thread. It never leaves the workspace.' });

const MENTIONING = `\`@ann@example.com\` mentions a member, and \`@ann\` if no other member’s address begins with \`ann@\`; at most ${MAX_MENTIONS} members.`;
const words = z.object({
  text: text.meta({ description: `Plain text of 1 to ${MAX_NOTE_LENGTH} characters. ${MENTIONING}` }),
});
const newWords = z.object({ text: text.meta({ description: 'The new text, as of a new note.' }) });
const example = { text: '@ann@example.com can you take this one?' };
const ofThread = { argument: 'threadId', argumentDescription: 'ID of the thread.' } as const;
const target = { argument: 'id', argumentDescription: 'ID of the note.' } as const;

export const noteCapability: Capability = {
  feature: 'Threads',
  what: 'Notes in a thread',
  byHand: { mcp: ['list_thread_notes'] },
  difference: 'Notes are changed and deleted by REST and GraphQL only.',
  tag: 'Threads',
  path: '/mail',
  restCase: 'snake',
  operations: [
    defineAction({
      access: 'notes',
      operationId: 'listThreadNotes',
      field: 'threadNotes',
      summary: 'List the notes of a thread',
      description: `Returns the notes of a thread, oldest first; at most ${MAX_NOTES}. No email, webhook or payload contains a note.`,
      method: 'GET',
      path: '/threads/:id/notes',
      target: ofThread,
      input: z.object({}),
      output: z.array(note).meta({ id: 'NoteList' }),
      isOfDomain: true,
      errors: [],
      run: (context, _input, threadId) => notes.listNotes(context, threadId),
    }),
    defineAction({
      access: 'organize',
      operationId: 'createThreadNote',
      field: 'addThreadNote',
      summary: 'Write a note in a thread',
      tool: {
        name: 'add_thread_note',
        description: 'Writes an internal note in a thread. `@ann@example.com` mentions a member.',
        words: { text: '' },
      },
      description:
        'Writes a note that only members see. Mentioned members who can read the thread get an email with a link to it, without the text.',
      method: 'POST',
      path: '/threads/:id/notes',
      target: ofThread,
      input: words,
      inputName: 'AddThreadNote',
      example,
      output: note,
      payloadField: 'note',
      shows: ['AddThreadNotePayload.note'],
      isOfDomain: true,
      errors: [409],
      run: (context, { text: given }, threadId) => notes.addNote(context, threadId, given),
    }),
    defineAction({
      access: 'organize',
      operationId: 'updateThreadNote',
      field: 'updateThreadNote',
      summary: 'Change a note',
      description: 'Changes the text of a note that you wrote. Members whom only the new text mentions get an email.',
      method: 'PATCH',
      path: '/notes/:id',
      target,
      input: newWords,
      inputName: 'UpdateThreadNote',
      example,
      output: note,
      payloadField: 'note',
      shows: ['UpdateThreadNotePayload.note'],
      isOfDomain: true,
      errors: [409],
      run: (context, { text: given }, id) => notes.editNote(context, id, given),
    }),
    defineAction({
      access: 'organize',
      operationId: 'deleteThreadNote',
      field: 'deleteThreadNote',
      summary: 'Delete a note',
      description: 'Deletes a note that you wrote. Admins and the owner can delete any note.',
      method: 'DELETE',
      path: '/notes/:id',
      target,
      input: z.object({}),
      output: z
        .object({
          success: restLiteral(true),
          message: restOnly(z.string()),
          id: named(z.string(), { graphqlType: 'ID' }).meta({ description: 'ID of the note.' }),
        })
        .meta({ id: 'DeletedNote', description: 'A note that was deleted.' }),
      errors: [409],
      async run(context, _input, id) {
        await notes.deleteNote(context, id);
        return { message: 'Note deleted', id };
      },
    }),
  ],
};
