import type { EmailAddress, EmailAddressQuery } from '../../../operations/domains/email-addresses.ts';
import { parseInput, searchShape } from '../../shapes/input.ts';
import { builder } from '../builder.ts';
import type { Connection } from '../connection.ts';
import { EmailAddressNode } from '../nodes.ts';

export const EmailAddressFilter = builder.inputType('EmailAddressFilter', {
  description: 'Filters a list of email addresses. Omit a field or pass null to match all.',
  fields: (t) => ({
    isActive: t.boolean({ description: 'True matches active addresses only, false inactive ones.' }),
    isReceiving: t.boolean({ description: 'True matches addresses that can receive mail, false the others.' }),
    search: t.string({ description: 'Part of the address, case-insensitive, up to 100 characters.' }),
  }),
});

export const EmailAddressConnection = builder.connectionObject<
  typeof EmailAddressNode,
  Connection<EmailAddress> & { count: () => Promise<number> }
>(
  {
    type: EmailAddressNode,
    name: 'EmailAddressConnection',
    description: 'A page of email addresses.',
    fields: (c) => ({
      totalCount: c.int({
        description: 'Number of addresses on all pages. Counted only when requested.',
        resolve: (page) => page.count(),
      }),
    }),
  },
  { name: 'EmailAddressEdge', description: 'An email address and its cursor.' },
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
