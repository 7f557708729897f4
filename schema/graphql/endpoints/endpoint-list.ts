import { countEndpoints, type Endpoint, pageEndpoints } from '../../../operations/endpoints/endpoints.ts';
import { parseInput, searchShape } from '../../shapes/input.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { connection } from '../connection.ts';
import { EndpointInterface } from '../nodes.ts';
import { EndpointTypeEnum } from './endpoint-enums.ts';

const EndpointFilter = builder.inputType('EndpointFilter', {
  description: 'Filters a list of endpoints. Omit a field or pass null to match all.',
  fields: (t) => ({
    type: t.field({ type: EndpointTypeEnum, description: 'Matches endpoints of this type.' }),
    isActive: t.boolean({ description: 'True matches active endpoints only, false the others.' }),
    search: t.string({ description: 'Part of the name or configuration, case-insensitive, up to 100 characters.' }),
  }),
});

builder.queryFields((t) => ({
  endpoint: t.field({
    type: EndpointInterface,
    access: access.readAccount,
    nullable: true,
    description: 'Returns the endpoint with this ID, or null if the account has no such endpoint.',
    args: { id: t.arg.id({ required: true, description: 'ID of the endpoint.' }) },
    resolve: (_root, { id }) => id,
  }),
  endpoints: t.connection(
    {
      type: EndpointInterface,
      access: access.readAccount,
      description: 'Your endpoints, newest first.',
      args: { filter: t.arg({ type: EndpointFilter, description: 'Filters the endpoints.' }) },
      complexity: connectionComplexity,
      resolve: async (_root, { filter, ...args }, { reads }) => {
        const query = {
          type: filter?.type ?? undefined,
          isActive: filter?.isActive ?? undefined,
          ...parseInput(searchShape, { search: filter?.search ?? undefined }),
        };
        const page = await connection<Endpoint>(
          args,
          (endpoint) => ({ at: endpoint.createdAt, id: endpoint.id }),
          (span) => pageEndpoints(reads, query, span),
        );
        return { ...page, count: () => countEndpoints(reads, query) };
      },
    },
    {
      name: 'EndpointConnection',
      description: 'A page of endpoints.',
      fields: (c) => ({
        totalCount: c.int({
          description: 'Number of endpoints on all pages. Counted only when requested.',
          resolve: (page) => page.count(),
        }),
      }),
    },
    { name: 'EndpointEdge', description: 'An endpoint and its cursor.' },
  ),
}));
