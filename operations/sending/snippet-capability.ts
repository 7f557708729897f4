import { z } from 'zod';
import { SNIPPET_PLACEHOLDERS } from '../../core/sending/snippet.ts';
import { named, restLiteral } from '../../core/shared/field-notes.ts';
import { type Capability, defineAction } from '../capability/capability.ts';
import { deletedShape, text } from '../capability/field-shapes.ts';
import * as snippets from './snippets.ts';

const placeholders = Object.keys(SNIPPET_PLACEHOLDERS).map((name) => `\`{{${name}}}\``);

const snippet = z
  .object({
    object: restLiteral('snippet'),
    id: named(z.string(), { graphqlType: 'ID' }).meta({ description: 'ID of the snippet.' }),
    name: z.string().meta({ description: 'Its name; unique in the workspace, whatever the case.' }),
    text: z.string().meta({ description: `Text, with placeholders: ${placeholders.join(', ')}.` }),
    createdAt: z.date().meta({ description: 'When it was created.' }),
    updatedAt: z.date().meta({ description: 'When it last changed.' }),
  })
  .meta({ id: 'Snippet', description: 'A text of the workspace that the composer of the dashboard inserts.' });

const name = text
  .trim()
  .min(1)
  .max(snippets.MAX_SNIPPET_NAME)
  .meta({ description: `Name, 1 to ${snippets.MAX_SNIPPET_NAME} characters.` });
const body = text
  .min(1)
  .max(snippets.MAX_SNIPPET_TEXT)
  .meta({
    description: `Plain text, 1 to ${snippets.MAX_SNIPPET_TEXT} characters. Placeholders: ${placeholders.join(', ')}.`,
  });
const target = { argument: 'id', argumentDescription: 'ID of the snippet.' } as const;

export const snippetCapability: Capability = {
  feature: 'Sending',
  what: 'Snippets',
  tag: 'Snippets',
  path: '/snippets',
  restCase: 'snake',
  operations: [
    defineAction({
      access: 'send',
      operationId: 'listSnippets',
      field: 'snippets',
      summary: 'List snippets',
      description: `Returns the snippets of the workspace, by name; up to ${snippets.MAX_SNIPPETS}.`,
      method: 'GET',
      path: '',
      input: z.object({}),
      output: z.array(snippet).meta({ id: 'SnippetList' }),
      cost: 20,
      errors: [],
      run: (context) => snippets.listSnippets(context),
    }),
    defineAction({
      access: 'organizeAccount',
      operationId: 'createSnippet',
      field: 'createSnippet',
      summary: 'Create a snippet',
      description: 'Stores a text under a name. An unknown placeholder is refused.',
      method: 'POST',
      path: '',
      input: z.object({ name, text: body }),
      inputName: 'CreateSnippet',
      example: { name: 'Thanks', text: 'Dear {{recipient.first_name}},\n\nthank you!\n\n{{my.name}}' },
      output: snippet,
      payloadField: 'snippet',
      errors: [409],
      run: (context, input) => snippets.createSnippet(context, input),
    }),
    defineAction({
      access: 'organizeAccount',
      operationId: 'updateSnippet',
      field: 'updateSnippet',
      summary: 'Change a snippet',
      description: 'Changes the name or the text. What is omitted stays.',
      method: 'PATCH',
      path: '/:id',
      target,
      input: z.object({ name: name.optional(), text: body.optional() }),
      inputName: 'UpdateSnippet',
      example: { name: 'Many thanks' },
      output: snippet,
      payloadField: 'snippet',
      errors: [409],
      run: (context, input, id) => snippets.updateSnippet(context, id, input),
    }),
    defineAction({
      access: 'organizeAccount',
      operationId: 'deleteSnippet',
      field: 'deleteSnippet',
      summary: 'Delete a snippet',
      description: 'Deletes a snippet. Emails that it was inserted in stay as they are.',
      method: 'DELETE',
      path: '/:id',
      target,
      input: z.object({}),
      output: deletedShape('DeletedSnippet', 'snippet'),
      errors: [],
      async run(context, _input, id) {
        await snippets.deleteSnippet(context, id);
        return { message: 'Snippet deleted', deletedId: id };
      },
    }),
  ],
};
