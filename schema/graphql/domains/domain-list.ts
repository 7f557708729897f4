import type { DomainList, DomainQuery } from '../../../operations/domains/domains.ts';
import * as domains from '../../../operations/domains/domains.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { connection } from '../connection.ts';
import { DomainNode } from '../nodes.ts';
import { DomainConnection, placeOfDomain } from './domain.ts';
import { DomainStatus } from './domain-enums.ts';

const DomainFilter = builder.inputType('DomainFilter', {
  description: 'Filters a list of domains. Omit a field or pass null to match all.',
  fields: (t) => ({
    status: t.field({ type: DomainStatus, description: 'Matches domains with this status.' }),
    canReceive: t.boolean({ description: 'True matches domains that can receive mail, false the others.' }),
  }),
});

const DomainCounts = builder.objectRef<DomainList['counts']>('DomainCounts').implement({
  description: 'Number of your domains by status.',
  isOfDomain: true,
  fields: (t) => ({
    total: t.int({
      description: 'Total number.',
      resolve: ({ pending, verified, failed }) => pending + verified + failed,
    }),
    pending: t.exposeInt('pending', { description: 'Number with status PENDING.' }),
    verified: t.exposeInt('verified', { description: 'Number with status VERIFIED.' }),
    failed: t.exposeInt('failed', { description: 'Number with status FAILED.' }),
  }),
});

builder.queryFields((t) => ({
  domain: t.field({
    type: DomainNode,
    access: access.read,
    nullable: true,
    description: 'Returns the domain with this ID, or null if the account has no such domain.',
    args: { id: t.arg.id({ required: true, description: 'ID of the domain.' }) },
    resolve: (_root, { id }) => id,
  }),
  domainByName: t.field({
    type: DomainNode,
    access: access.read,
    nullable: true,
    description: 'Returns the domain with this name, or null if the account has no such domain.',
    args: { name: t.arg.string({ required: true, description: 'Case-insensitive, in ASCII (punycode) or Unicode.' }) },
    resolve: (_root, { name }, { reads }) => domains.findDomainByName(reads, name),
  }),
  domains: t.connection(
    {
      type: DomainNode,
      access: access.read,
      description: 'Your domains, newest first.',
      args: { filter: t.arg({ type: DomainFilter, description: 'Filters the domains.' }) },
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
    description: 'Number of your domains by status.',
    resolve: (_root, _args, { reads }) => domains.countDomainsByStatus(reads),
  }),
}));
