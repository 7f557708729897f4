import { z } from 'zod';
import { linkTo, maybeGone, named } from '../../core/shared/field-notes.ts';
import { type Capability, defineAction } from '../capability/capability.ts';
import { text } from '../capability/field-shapes.ts';
import { listSenders, MAX_CONTACTS, suggestContacts } from './contacts.ts';

const USUAL_SUGGESTIONS = 10;

/** Bounds are checked by the operation, which says what is wrong in words; REST documents them. */
const suggestionInput = (prefix: z.ZodString, limit: z.ZodNumber, usual: number) =>
  z.object({
    prefix: prefix.default('').meta({
      description: 'Start of the address, of its domain, or of a word in the name, case-insensitive.',
    }),
    limit: named(limit.default(usual), { graphqlName: 'first' }).meta({
      description: `Number of addresses to return, 1 to ${MAX_CONTACTS}.`,
    }),
  });

const contact = z
  .object({
    name: z.string().nullable().meta({ description: 'Display name in emails. Null if there is none.' }),
    address: z.string().meta({ description: 'In lowercase.' }),
  })
  .meta({
    id: 'Contact',
    description: 'A person you have exchanged email with. The name and address come from other people’s emails.',
  });

const sender = z
  .object({
    address: z.string().meta({ description: 'The address.' }),
    id: maybeGone(linkTo('EmailAddress', named(z.string(), { restName: 'address_id' }), 'emailAddress')).meta({
      description: 'The address as an object; its ID in REST. Null if it was deleted in the meantime.',
    }),
    domainId: maybeGone(linkTo('Domain', z.string())).meta({
      description: 'Domain of the address. Null if it was deleted in the meantime.',
    }),
  })
  .meta({
    id: 'Sender',
    description: 'An address you can send from. You can also send from any other address of a verified domain.',
  });

const bounded = z.number().int().min(1).max(MAX_CONTACTS);
export const contactQuery = suggestionInput(text, bounded, USUAL_SUGGESTIONS);
export const senderQuery = suggestionInput(text, bounded, MAX_CONTACTS);

export const contactCapability: Capability = {
  feature: 'Emails',
  what: 'Suggest contacts, and list addresses to send from',
  tag: 'Emails',
  path: '',
  restCase: 'snake',
  operations: [
    defineAction({
      access: 'read',
      operationId: 'listContacts',
      field: 'contacts',
      summary: 'Suggest contacts',
      description:
        'Returns people you have exchanged email with, from the newest threads first. Searches the newest 300 threads; with three or more characters of an address, the newest 300 threads that contain it.',
      method: 'GET',
      path: '/mail/contacts',
      input: suggestionInput(z.string(), z.number().int(), USUAL_SUGGESTIONS),
      output: z.array(contact).meta({ id: 'ContactList' }),
      cost: ({ first }: { first?: number | null }) => ({ field: 5, multiplier: first ?? USUAL_SUGGESTIONS }),
      errors: [],
      run: (context, { prefix, limit }) => suggestContacts(context, prefix, limit),
    }),
    defineAction({
      access: 'read',
      operationId: 'listSenders',
      field: 'senders',
      summary: 'List addresses to send from',
      description:
        'Returns active addresses on verified domains; addresses that can receive mail come first. You can also send from any other address of a verified domain.',
      tag: 'Email addresses',
      method: 'GET',
      path: '/senders',
      input: suggestionInput(z.string(), z.number().int(), MAX_CONTACTS),
      output: z.array(sender).meta({ id: 'SenderList' }),
      cost: ({ first }: { first?: number | null }) => ({ field: 1, multiplier: first ?? MAX_CONTACTS }),
      errors: [],
      run: (context, { prefix, limit }) => listSenders(context, prefix, limit),
    }),
  ],
};
