import { z } from 'zod';
import { MAX_QUERY_LENGTH } from '../../core/search/search-query.ts';
import { named, restLiteral } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { VIEW_FOLDERS } from '../../core/threads/saved-view.ts';
import { type Capability, defineAction } from '../capability/capability.ts';
import { deletedShape, MAX_ADDRESS_LENGTH, text } from '../capability/field-shapes.ts';
import * as views from './saved-views.ts';

const folder = oneOf(VIEW_FOLDERS, {
  name: 'ViewFolder',
  description: 'A folder of the inbox.',
  values: {
    inbox: 'Threads that are not archived.',
    unread: 'Those of them with unread messages.',
    snoozed: 'Snoozed threads.',
    sent: 'Threads with sent messages.',
    archived: 'Archived threads.',
    trash: 'Threads in the trash.',
  },
});

const savedView = z
  .object({
    object: restLiteral('saved_view'),
    id: named(z.string(), { graphqlType: 'ID' }).meta({ description: 'ID of the view.' }),
    name: z.string().meta({ description: 'Its name.' }),
    folder: folder.meta({ description: 'Its folder.' }),
    search: z.string().meta({ description: 'Its search, as in `inbox`. Empty: none.' }),
    label: z.string().nullable().meta({ description: 'Label of its threads. Null: any.' }),
    address: z.string().nullable().meta({ description: 'A participant, or an address of yours. Null: any.' }),
    assigned: z
      .string()
      .nullable()
      .meta({ description: 'Who works on its threads: `me`, `none`, or the ID or address of a member. Null: anyone.' }),
    isShared: z.boolean().meta({ description: 'Whether all members see it.' }),
    createdAt: z.date().meta({ description: 'When it was saved.' }),
  })
  .meta({ id: 'SavedView', description: 'A search with filters of the inbox that is kept under a name.' });

const name = text
  .trim()
  .min(1)
  .max(views.MAX_VIEW_NAME)
  .meta({ description: `Name, 1 to ${views.MAX_VIEW_NAME} characters.` });
const conditions = {
  folder: folder.optional().meta({ description: 'Folder; `inbox` if omitted.' }),
  search: text.max(MAX_QUERY_LENGTH).optional().meta({ description: 'Words and operators, as in `inbox`.' }),
  label: text.max(MAX_ADDRESS_LENGTH).nullish().meta({ description: 'Label. Null: any.' }),
  address: text.max(MAX_ADDRESS_LENGTH).nullish().meta({ description: 'Participant, or address of yours. Null: any.' }),
  assigned: text
    .max(MAX_ADDRESS_LENGTH)
    .nullish()
    .meta({ description: '`me`, `none`, or the ID or address of a member. Null: anyone.' }),
};
const target = { argument: 'id', argumentDescription: 'ID of the view.' } as const;

export const savedViewCapability: Capability = {
  feature: 'Threads',
  what: 'Saved views',
  tag: 'Saved views',
  path: '/saved-views',
  restCase: 'snake',
  operations: [
    defineAction({
      access: 'read',
      operationId: 'listSavedViews',
      field: 'savedViews',
      summary: 'List saved views',
      description:
        'Returns the views of the workspace and those of the person of the request, by name. Requests that are limited to domains or addresses see the person’s own only.',
      method: 'GET',
      path: '',
      input: z.object({}),
      output: z.array(savedView).meta({ id: 'SavedViewList' }),
      cost: 20,
      errors: [],
      run: (context) => views.listViews(context),
    }),
    defineAction({
      access: 'organize',
      operationId: 'createSavedView',
      field: 'createSavedView',
      summary: 'Save a view',
      description: 'Keeps a search with filters under a name, for the person of the request or for all members.',
      method: 'POST',
      path: '',
      input: z.object({
        name,
        ...conditions,
        isShared: z.boolean().optional().meta({ description: 'Whether all members see it. The default is false.' }),
      }),
      inputName: 'CreateSavedView',
      example: { name: 'Invoices', search: 'subject:invoice has:attachment', isShared: true },
      output: savedView,
      payloadField: 'savedView',
      errors: [403, 409],
      run: (context, { isShared = false, ...input }) => views.createView(context, { ...input, isShared }),
    }),
    defineAction({
      access: 'organize',
      operationId: 'updateSavedView',
      field: 'updateSavedView',
      summary: 'Change a saved view',
      description: 'Changes the name or what the view shows. What is omitted stays.',
      method: 'PATCH',
      path: '/:id',
      target,
      input: z.object({ name: name.optional(), ...conditions }),
      inputName: 'UpdateSavedView',
      example: { name: 'Open invoices', search: 'subject:invoice is:unread' },
      output: savedView,
      payloadField: 'savedView',
      errors: [],
      run: (context, input, id) => views.updateView(context, id, input),
    }),
    defineAction({
      access: 'organize',
      operationId: 'deleteSavedView',
      field: 'deleteSavedView',
      summary: 'Delete a saved view',
      description: 'Deletes a view. Its threads stay as they are.',
      method: 'DELETE',
      path: '/:id',
      target,
      input: z.object({}),
      output: deletedShape('DeletedSavedView', 'saved view', 'view'),
      errors: [],
      async run(context, _input, id) {
        await views.deleteView(context, id);
        return { message: 'Saved view deleted', deletedId: id };
      },
    }),
  ],
};
