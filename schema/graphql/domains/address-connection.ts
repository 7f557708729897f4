import type { EmailAddress, EmailAddressQuery } from '../../../operations/domains/email-addresses.ts';
import { parseInput } from '../../shapes/parse-input.ts';
import { searchShape } from '../../shapes/search.ts';
import { builder } from '../builder.ts';
import type { Connection } from '../connection.ts';
import { EmailAddressNode } from '../nodes.ts';

export const EmailAddressFilter = builder.inputType('EmailAddressFilter', {
  description: 'Which addresses a list shows; what is absent or null puts no condition.',
  fields: (t) => ({
    isActive: t.boolean({ description: 'Only active addresses, or only those that are not.' }),
    isReceiving: t.boolean({ description: 'Only addresses that mail reaches, or only those that it does not.' }),
    search: t.string({ description: 'Part of the address, in any case; at most 100 characters.' }),
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

interface Filter {
  isActive?: boolean | null | undefined;
  isReceiving?: boolean | null | undefined;
  search?: string | null | undefined;
}

export function addressQuery(filter: Filter | null | undefined): EmailAddressQuery {
  const { isActive, isReceiving, search } = filter ?? {};
  return {
    isActive: isActive ?? undefined,
    isReceiving: isReceiving ?? undefined,
    search: parseInput(searchShape, { search: search ?? undefined }).search,
  };
}
