import type { Place } from '../../../core/shared/page.ts';
import type { Domain } from '../../../operations/domains/domains.ts';
import { builder } from '../builder.ts';
import type { Connection } from '../connection.ts';
import { DomainNode } from '../nodes.ts';

export const DomainConnection = builder.connectionObject<
  typeof DomainNode,
  Connection<Domain> & { count: () => Promise<number> }
>(
  {
    type: DomainNode,
    name: 'DomainConnection',
    description: 'A page of domains.',
    fields: (c) => ({
      totalCount: c.int({
        description: 'Number of domains on all pages. Counted only when requested.',
        resolve: (page) => page.count(),
      }),
    }),
  },
  { name: 'DomainEdge', description: 'A domain and its cursor.' },
);

export function placeOfDomain(domain: Domain): Place {
  return { at: domain.createdAt, id: domain.id };
}
