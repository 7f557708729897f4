import type { DomainList, DomainQuery } from '../../../operations/domains/domains.ts';
import * as domains from '../../../operations/domains/domains.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { connection } from '../connection.ts';
import { DomainNode } from '../nodes.ts';
import { DomainConnection, placeOfDomain } from './domain-connection.ts';
import { DomainStatus } from './domain-enums.ts';

const DomainFilter = builder.inputType('DomainFilter', {
  description: 'Which domains a list shows; what is absent or null puts no condition.',
  fields: (t) => ({
    status: t.field({ type: DomainStatus, description: 'Domains of one status.' }),
    canReceive: t.boolean({ description: 'Only domains that mail can reach, or only those that it cannot.' }),
  }),
});

const DomainCounts = builder.objectRef<DomainList['counts']>('DomainCounts').implement({
  description: 'How many domains you have.',
  isOfDomain: true,
  fields: (t) => ({
    total: t.int({ description: 'All.', resolve: ({ pending, verified, failed }) => pending + verified + failed }),
    pending: t.exposeInt('pending', { description: 'Of status PENDING.' }),
    verified: t.exposeInt('verified', { description: 'Of status VERIFIED.' }),
    failed: t.exposeInt('failed', { description: 'Of status FAILED.' }),
  }),
});

builder.queryFields((t) => ({
  domain: t.field({
    type: DomainNode,
    access: access.read,
    nullable: true,
    description: 'A domain by its id; null when you have none with that id.',
    args: { id: t.arg.id({ required: true, description: 'Id of the domain.' }) },
    resolve: (_root, { id }) => id,
  }),
  domainByName: t.field({
    type: DomainNode,
    access: access.read,
    nullable: true,
    description: 'A domain by its name; null when you have none of that name.',
    args: { name: t.arg.string({ required: true, description: 'In any case, with A-labels or U-labels.' }) },
    resolve: (_root, { name }, { reads }) => domains.findDomainByName(reads, name),
  }),
  domains: t.connection(
    {
      type: DomainNode,
      access: access.read,
      description: 'Your domains, newest first.',
      args: { filter: t.arg({ type: DomainFilter, description: 'Which domains to show.' }) },
      complexity: connectionComplexity,
      resolve: async (_root, args, { reads }) => {
        const query: DomainQuery = {
          status: args.filter?.status ?? undefined,
          canReceive: args.filter?.canReceive ?? undefined,
        };
        const page = await connection(args, placeOfDomain, (span) => domains.pageDomains(reads, query, span));
        return { ...page, count: () => domains.countDomainList(reads, query) };
      },
    },
    DomainConnection,
  ),
  domainCounts: t.field({
    type: DomainCounts,
    access: access.read,
    description: 'How many domains you have in each status.',
    resolve: (_root, _args, { reads }) => domains.countDomainsByStatus(reads),
  }),
}));
