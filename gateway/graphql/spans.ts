import { type DocumentNode, getOperationAST, Kind } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { failSpan, isTracing, traced } from '../../actors/bus/tracing.ts';
import type { GraphContext } from '../../schema/graphql/context.ts';

/** Root fields that the name of a span tells; the rest is counted by an ellipsis. */
const NAMED_FIELDS = 3;

/**
 * Records each operation as a span below its request's, named after the fields of the schema's root that it asks for: names that a client
 * gave (of the operation, aliases) are its own affair.
 */
export const tracedOperations: Plugin<GraphContext> = {
  onExecute({ executeFn, setExecuteFn }) {
    if (!isTracing()) return;
    setExecuteFn((args: Parameters<typeof executeFn>[0]) => {
      const { type, name } = nameOf(args.document as DocumentNode, args.operationName);
      return traced(name, { attributes: { 'graphql.operation.type': type } }, async (span) => {
        const result = (await executeFn(args)) as { errors?: readonly { extensions?: { code?: unknown } }[] };
        const [error] = result.errors ?? [];
        const code = error?.extensions?.code;
        if (error !== undefined) failSpan(span, typeof code === 'string' ? code : 'GraphQLError');
        return result;
      });
    });
  },
};

function nameOf(document: DocumentNode, operationName: unknown): { type: string; name: string } {
  const asked = getOperationAST(document, typeof operationName === 'string' ? operationName : null);
  if (asked == null) return { type: 'unknown', name: 'graphql' };
  const { operation: type, selectionSet } = asked;
  const fields = selectionSet.selections.flatMap((each) => (each.kind === Kind.FIELD ? [each.name.value] : []));
  const more = fields.length > NAMED_FIELDS || fields.length < selectionSet.selections.length ? ' ...' : '';
  return { type, name: `graphql ${type} ${fields.slice(0, NAMED_FIELDS).join(' ')}${more}` };
}
