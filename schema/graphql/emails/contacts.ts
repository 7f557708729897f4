import {
  type Contact,
  listSenders,
  MAX_CONTACTS,
  type SenderAddress,
  suggestContacts,
} from '../../../operations/emails/contacts.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { DomainNode, EmailAddressNode } from '../nodes.ts';

const ContactRef = builder.objectRef<Contact>('Contact').implement({
  description: 'A person you have exchanged email with. The name and address come from other people’s emails.',
  fields: (t) => ({
    name: t.exposeString('name', { nullable: true, description: 'Display name in emails. Null if there is none.' }),
    address: t.exposeString('address', { description: 'In lowercase.' }),
  }),
});

const SenderRef = builder.objectRef<SenderAddress>('Sender').implement({
  description: 'An address you can send from. You can also send from any other address of a verified domain.',
  fields: (t) => ({
    address: t.exposeString('address', { description: 'The address.' }),
    emailAddress: t.field({
      type: EmailAddressNode,
      nullable: true,
      description: 'The address as an object. Null if it was deleted in the meantime.',
      resolve: ({ id }) => id,
    }),
    domain: t.field({
      type: DomainNode,
      nullable: true,
      description: 'Domain of the address. Null if it was deleted in the meantime.',
      resolve: ({ domainId }) => domainId,
    }),
  }),
});

const USUAL_SUGGESTIONS = 10;

builder.queryFields((t) => ({
  contacts: t.field({
    type: [ContactRef],
    access: access.read,
    description:
      'Suggestions for an address field: people you have exchanged email with, from the newest threads first. Searches the newest 300 threads; with three or more characters of an address, the newest 300 threads that contain it.',
    complexity: ({ first }) => ({ field: 5, multiplier: first ?? USUAL_SUGGESTIONS }),
    args: {
      prefix: t.arg.string({
        defaultValue: '',
        description: 'Start of the address, of its domain or of a word in the name, case-insensitive.',
      }),
      first: t.arg.int({
        defaultValue: USUAL_SUGGESTIONS,
        description: `Number of contacts to return, 1 to ${MAX_CONTACTS}.`,
      }),
    },
    resolve: (_root, { prefix, first }, { reads }) => suggestContacts(reads, prefix ?? '', first ?? USUAL_SUGGESTIONS),
  }),
  senders: t.field({
    type: [SenderRef],
    access: access.read,
    description:
      'Addresses you can send from: active ones on verified domains. Those that can receive mail come first.',
    complexity: ({ first }) => ({ field: 1, multiplier: first ?? MAX_CONTACTS }),
    args: {
      prefix: t.arg.string({ defaultValue: '', description: 'Start of the address, case-insensitive.' }),
      first: t.arg.int({
        defaultValue: MAX_CONTACTS,
        description: `Number of addresses to return, 1 to ${MAX_CONTACTS}.`,
      }),
    },
    resolve: (_root, { prefix, first }, { reads }) => listSenders(reads, prefix ?? '', first ?? MAX_CONTACTS),
  }),
}));
