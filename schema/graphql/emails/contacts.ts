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
  description: 'Somebody whom you have had mail with. Strangers wrote name and address.',
  fields: (t) => ({
    name: t.exposeString('name', { nullable: true, description: 'As messages show it; null when none does.' }),
    address: t.exposeString('address', { description: 'In lower case.' }),
  }),
});

const SenderRef = builder.objectRef<SenderAddress>('Sender').implement({
  description: 'An address that you may send from. Of a verified domain every address serves, be it told here or not.',
  fields: (t) => ({
    address: t.exposeString('address', { description: 'The address.' }),
    emailAddress: t.field({
      type: EmailAddressNode,
      nullable: true,
      description: 'The same with all that is known of it; null: it was deleted meanwhile.',
      resolve: ({ id }) => id,
    }),
    domain: t.field({
      type: DomainNode,
      nullable: true,
      description: 'Its domain; null: it was deleted meanwhile.',
      resolve: ({ domainId }) => domainId,
    }),
  }),
});

const USUAL_SUGGESTIONS = 10;

builder.queryFields((t) => ({
  contacts: t.field({
    type: [ContactRef],
    access: access.readAccount,
    description:
      'For a field of addresses: whom you have had mail with, those of the newest threads first. Of a long history the newest 300 threads are looked through, and by three characters and more of an address the newest 300 that have them.',
    complexity: ({ first }) => ({ field: 5, multiplier: first ?? USUAL_SUGGESTIONS }),
    args: {
      prefix: t.arg.string({
        defaultValue: '',
        description: 'How the address, its domain or a word of the name begins, in any case.',
      }),
      first: t.arg.int({ defaultValue: USUAL_SUGGESTIONS, description: `So many at most: 1 to ${MAX_CONTACTS}.` }),
    },
    resolve: (_root, { prefix, first }, { reads }) => suggestContacts(reads, prefix ?? '', first ?? USUAL_SUGGESTIONS),
  }),
  senders: t.field({
    type: [SenderRef],
    access: access.readAccount,
    description: 'Addresses that you may send from: active ones on verified domains, those that mail reaches first.',
    complexity: ({ first }) => ({ field: 1, multiplier: first ?? MAX_CONTACTS }),
    args: {
      prefix: t.arg.string({ defaultValue: '', description: 'How the address begins, in any case.' }),
      first: t.arg.int({ defaultValue: MAX_CONTACTS, description: `So many at most: 1 to ${MAX_CONTACTS}.` }),
    },
    resolve: (_root, { prefix, first }, { reads }) => listSenders(reads, prefix ?? '', first ?? MAX_CONTACTS),
  }),
}));
