import { Kind, type OperationDefinitionNode } from 'graphql';
import { handleStreamOrSingleExecutionResult, type Plugin } from 'graphql-yoga';
import { failSpan, isTracing, traced } from '../../actors/bus/tracing.ts';
import type { GraphContext } from '../../schema/graphql/context.ts';
import { gatewayMetrics } from '../../schema/metrics.ts';
import { findOperation } from './requested-operation.ts';

/** Counts executed operations; subscriptions when they start. */
export const countedOperations: Plugin = {
  onExecute: ({ args }) => ({
    onExecuteDone: (payload) =>
      handleStreamOrSingleExecutionResult(payload, ({ result }) => {
        const kind = findOperation(args)?.operation ?? 'query';
        gatewayMetrics.operations.inc({ kind, outcome: result.errors === undefined ? 'done' : 'failed' });
      }),
  }),
  onSubscribe: () => ({
    onSubscribeResult: () => gatewayMetrics.operations.inc({ kind: 'subscription', outcome: 'done' }),
    onSubscribeError: () => gatewayMetrics.operations.inc({ kind: 'subscription', outcome: 'failed' }),
  }),
};

/** Root fields in the name of a span; an ellipsis replaces the rest. */
const NAMED_FIELDS = 3;

/**
 * Records each operation as a child span of its request, named after the root fields that it selects. Names that the client chose (operation
 * names and aliases) are left out.
 */
export const tracedOperations: Plugin<GraphContext> = {
  onExecute({ executeFn, setExecuteFn }) {
    if (!isTracing()) return;
    setExecuteFn((args: Parameters<typeof executeFn>[0]) => {
      const { type, name } = readName(findOperation(args));
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

function readName(asked: OperationDefinitionNode | null): { type: string; name: string } {
  if (asked === null) return { type: 'unknown', name: 'graphql' };
  const { operation: type, selectionSet } = asked;
  const fields = selectionSet.selections.flatMap((each) => (each.kind === Kind.FIELD ? [each.name.value] : []));
  const more = fields.length > NAMED_FIELDS || fields.length < selectionSet.selections.length ? ' ...' : '';
  return { type, name: `graphql ${type} ${fields.slice(0, NAMED_FIELDS).join(' ')}${more}` };
}
