import { z } from 'zod';
import { adviceOn, refusalShape } from '../../core/sending/refusal-advice.ts';
import { SUPPRESSION_REASONS } from '../../core/sending/suppression.ts';
import { linkTo } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import {
  type Capability,
  defineChange,
  defineDelete,
  defineList,
  defineRead,
  defineResource,
} from '../capability/capability.ts';
import { MAX_ADDRESS_LENGTH, searchText, text } from '../capability/field-shapes.ts';
import * as suppressions from './suppressions.ts';

/** Characters. */
const MAX_DETAIL_LENGTH = 500;

export const suppressionReason = oneOf(SUPPRESSION_REASONS, {
  name: 'SuppressionReason',
  description: 'Why an address is suppressed.',
  values: {
    bounce: 'The server rejected the address permanently.',
    complaint: 'The recipient complained.',
    manual: 'You added the address.',
    unsubscribe: 'The recipient unsubscribed from a list.',
  },
});

/** An address to suppress, as the user enters it. */
export const suppressedAddress = text.min(1).max(MAX_ADDRESS_LENGTH);

export const suppressionFilter = z.object({
  reason: suppressionReason.optional().meta({ description: 'Returns suppressions with this reason only.' }),
  search: searchText.optional().meta({ description: 'Part of the address.' }),
});

export const newSuppression = z.object({
  address: suppressedAddress.meta({ description: 'The address, case-insensitive.' }),
  detail: text
    .max(MAX_DETAIL_LENGTH)
    .nullish()
    .meta({ description: `Your note about the suppression, up to ${MAX_DETAIL_LENGTH} characters.` }),
});

const target = {
  argument: 'idOrAddress',
  argumentDescription: 'ID of the suppression, or the address, case-insensitive.',
} as const;

export const suppressionCapability: Capability = {
  feature: 'Sending',
  what: 'Suppressions',
  tag: 'Suppressions',
  path: '/suppressions',
  restCase: 'snake',
  command: {
    name: 'suppressions',
    description: 'Lists suppressed addresses, or creates or deletes a suppression: the address gets no more mail.',
    columns: { id: 'ID', address: 'Address', reason: 'Reason', created_at: 'Since' },
    empty: 'There are no suppressions.',
    create: {
      create: { field: 'address', description: 'suppress this address' },
      detail: { field: 'detail', description: 'your note about it' },
    },
    examples: [
      'postroom suppressions',
      'postroom suppressions --create ada@example.org --detail "asked by phone"',
      'postroom suppressions --delete ada@example.org',
    ],
  },
  resource: defineResource<suppressions.Suppression>()({
    name: 'Suppression',
    identifier: 'suppression',
    description: 'An address that receives no more mail from you. Postroom refuses to send to it.',
    isOfDomain: false,
    shape: z.object({
      address: z.string().meta({ description: 'In lowercase.' }),
      reason: suppressionReason.meta({
        description:
          'Whether the server rejected the address permanently, the recipient complained or unsubscribed from a list, or you added the address.',
      }),
      list: z.string().nullable().meta({
        description:
          'Only mail of this list is suppressed, because the recipient unsubscribed from it. Null: all mail.',
      }),
      detail: z.string().nullable().meta({ description: 'Text of the server reply, the report or your note.' }),
      refusal: refusalShape.nullable().meta({ description: 'Why the email bounced. Null for other suppressions.' }),
      emailId: linkTo('Email', z.string().nullable()).meta({
        description: 'The email that bounced or caused the complaint. Null if you added the address.',
      }),
      createdAt: z.date().meta({ description: 'When the suppression was created.' }),
    }),
    computed: { refusal: ({ refusalReason }) => adviceOn(refusalReason) },
    load: suppressions.loadSuppressions,
  }),
  operations: [
    defineChange({
      kind: 'create',
      access: 'policies',
      operationId: 'createSuppression',
      field: 'suppressAddress',
      summary: 'Create a suppression',
      tool: {
        name: 'suppress_address',
        description: 'Sends no more mail to an address.',
        words: { address: '', detail: 'Your note.' },
      },
      description:
        'Suppresses an address: Postroom refuses to send to it until you delete the suppression. If the address is suppressed already, the existing suppression is returned unchanged.',
      input: newSuppression,
      example: { address: 'ada@example.org', detail: 'asked by phone' },
      errors: [],
      run: (context, input) => suppressions.suppressAddress(context, input),
    }),
    defineList({
      access: 'read',
      operationId: 'listSuppressions',
      field: 'suppressions',
      summary: 'List suppressions',
      tool: {
        name: 'list_suppressions',
        description: 'Returns addresses that get no more mail, and why.',
        words: { reason: '', search: 'Part of the address.' },
      },
      description: 'Returns suppressed addresses, newest first. Postroom refuses to send to them.',
      filter: suppressionFilter,
      isPagedByItem: true,
      page: suppressions.pageSuppressions,
      count: suppressions.countSuppressions,
      list: suppressions.listSuppressions,
    }),
    defineRead({
      access: 'read',
      operationId: 'getSuppression',
      field: 'suppression',
      summary: 'Retrieve a suppression',
      description: 'Returns why Postroom does not send to an address.',
      target,
      read: suppressions.readSuppression,
    }),
    defineDelete({
      access: 'policies',
      operationId: 'deleteSuppression',
      field: 'removeSuppression',
      summary: 'Delete a suppression',
      tool: { name: 'remove_suppression', description: 'Lets an address get mail again.' },
      description:
        'Removes a suppression. The address can receive mail again, until it bounces or its owner complains.',
      target,
      input: z.object({}),
      errors: [],
      deleted: { description: 'A removed suppression.', fields: ['address'] },
      run: (context, _input, idOrAddress) => suppressions.liftSuppression(context, idOrAddress),
    }),
  ],
};
