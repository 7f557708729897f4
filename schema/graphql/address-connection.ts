import type { EmailAddress, EmailAddressQuery } from '../../operations/email-addresses.ts';
import { builder } from './builder.ts';
import type { Connection } from './connection.ts';
import { EmailAddressNode } from './nodes.ts';

export const EmailAddressFilter = builder.inputType('EmailAddressFilter', {
  description: 'Which addresses a list shows; what is absent or null puts no condition.',
  fields: (t) => ({
    isActive: t.boolean({ description: 'Only active addresses, or only those that are not.' }),
    isReceiving: t.boolean({ description: 'Only addresses that mail reaches, or only those that it does not.' }),
  }),
});

export const EmailAddressConnection = builder.connectionObject<
  typeof EmailAddressNode,
  Connection<EmailAddress> & { count: () => Promise<number> }
>(
  {
    type: EmailAddressNode,
    name: 'EmailAddressConnection',
    description: 'A page of addresses.',
    fields: (c) => ({
      totalCount: c.int({
        description: 'Of all pages; counted when it is asked for.',
        resolve: (page) => page.count(),
      }),
    }),
  },
  { name: 'EmailAddressEdge', description: 'An address with its cursor.' },
);

type Filter = { isActive?: boolean | null | undefined; isReceiving?: boolean | null | undefined } | null | undefined;

export function addressQuery(filter: Filter): EmailAddressQuery {
  return { isActive: filter?.isActive ?? undefined, isReceiving: filter?.isReceiving ?? undefined };
}
