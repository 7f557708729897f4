import { countEndpoints, type Endpoint, pageEndpoints } from '../../../operations/endpoints/endpoints.ts';
import { parseInput } from '../../shapes/parse-input.ts';
import { searchShape } from '../../shapes/search.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { connection } from '../connection.ts';
import { EndpointInterface } from '../nodes.ts';
import { EndpointTypeEnum } from './endpoint-enums.ts';

const EndpointFilter = builder.inputType('EndpointFilter', {
  description: 'Which endpoints a list shows; what is absent or null puts no condition.',
  fields: (t) => ({
    type: t.field({ type: EndpointTypeEnum, description: 'Endpoints of one type.' }),
    isActive: t.boolean({ description: 'Only those that mail goes to, or only the others.' }),
    search: t.string({ description: 'Part of the name or of the configuration, in any case; at most 100 characters.' }),
  }),
});

builder.queryFields((t) => ({
  endpoint: t.field({
    type: EndpointInterface,
    access: access.readAccount,
    nullable: true,
    description: 'An endpoint by its id; null when you have none with that id.',
    args: { id: t.arg.id({ required: true, description: 'Id of the endpoint.' }) },
    resolve: (_root, { id }) => id,
  }),
  endpoints: t.connection(
    {
      type: EndpointInterface,
      access: access.readAccount,
      description: 'Your endpoints, newest first.',
      args: { filter: t.arg({ type: EndpointFilter, description: 'Which endpoints to show.' }) },
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
          description: 'How many there are on all pages; counted only when it is asked for.',
          resolve: (page) => page.count(),
        }),
      }),
    },
    { name: 'EndpointEdge', description: 'An endpoint in a list.' },
  ),
}));
