import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import DataloaderPlugin from '@pothos/plugin-dataloader';
import RelayPlugin from '@pothos/plugin-relay';
import WithInputPlugin from '@pothos/plugin-with-input';
import type { OperationContext } from '../../operations/context.ts';
import type { ThreadPages } from './thread-pages.ts';

/** What resolvers get; made for each request, so that nothing loaded for one user is there for another. */
export interface GraphContext {
  operations: OperationContext;
  threadPages: ThreadPages;
}

/** Rows that a connection answers when neither `first` nor `last` is given. */
export const DEFAULT_CONNECTION_SIZE = 20;

/** Which node type an id belongs to, by the prefix of core/identifiers.ts. */
const typeOfPrefix: Record<string, string> = {
  em: 'Email',
  th: 'Thread',
  dom: 'Domain',
  addr: 'EmailAddress',
  ep: 'Endpoint',
};

export const builder = new SchemaBuilder<{
  Context: GraphContext;
  DefaultFieldNullability: false;
  Scalars: { DateTime: { Input: Date; Output: Date }; ID: { Input: string; Output: string } };
}>({
  plugins: [ComplexityPlugin, DataloaderPlugin, RelayPlugin, WithInputPlugin],
  defaultFieldNullability: false,
  complexity: { defaultComplexity: 1, defaultListMultiplier: 1 },
  relay: {
    // The ids of the REST interface are global already. One that is none belongs to nobody.
    encodeGlobalID: (_typename, id) => String(id),
    decodeGlobalID: (id) => ({ typename: typeOfPrefix[id.split('_', 1)[0] ?? ''] ?? 'Email', id }),
    nodesQueryOptions: { complexity: ({ ids }) => ({ field: 1, multiplier: ids.length }) },
  },
});

builder.queryType({});
builder.mutationType({});

builder.scalarType('DateTime', {
  description: 'An instant as ISO 8601 text in UTC.',
  serialize: (instant) => instant.toISOString(),
  parseValue: (value) => {
    const instant = new Date(String(value));
    if (Number.isNaN(instant.getTime())) throw new TypeError('not an instant');
    return instant;
  },
});

/** The cost of a connection: its fields as often as it may answer rows. */
export function connectionComplexity(args: { first?: number | null | undefined; last?: number | null | undefined }) {
  return { field: 1, multiplier: Math.max(1, args.first ?? args.last ?? DEFAULT_CONNECTION_SIZE) };
}
