import { complexityFromQuery } from '@pothos/plugin-complexity';
import { GraphQLError, type GraphQLSchema, Kind } from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import { UserError } from '../../core/shared/errors.ts';
import type { GraphContext } from '../../schema/graphql/context.ts';
import { schema } from '../../schema/graphql/schema.ts';
import { maskError } from './errors.ts';
import { findOperation, type RequestedOperation } from './requested-operation.ts';

const BAD_REQUEST = { status: 400 };
const MAX_DEPTH = 10;
/** Maximum cost of one operation; docs/graphql.md tells what counts. */
const MAX_COST = 5_000;

/** Cost of one operation: `requested` is that of its fields, `limit` the maximum. */
interface OperationCost {
  requested: number;
  limit: number;
}

/**
 * Rejects operations that are too deep or too expensive, or that request a page of an invalid size, before anything is executed. Adds
 * `extensions.cost` to each response, also to that of a rejected operation; to the first one of a subscription.
 */
export const measuredOperations: Plugin<GraphContext> = {
  onExecute({ args, setResultAndStopExecution }) {
    const { refused, measured } = measureOperation(args);
    if (refused !== null) return setResultAndStopExecution({ errors: [refused], ...measured });
    return {
      onExecuteDone({ result, setResult }) {
        if (!isAsyncIterable(result)) setResult({ ...result, ...measured });
      },
    };
  },
  onSubscribe({ args, setResultAndStopExecution }) {
    const { refused, measured } = measureOperation(args);
    if (refused !== null) return setResultAndStopExecution({ errors: [refused], ...measured });
    let isFirst = true;
    return {
      onSubscribeResult({ result: opened, setResult: setOpened }) {
        if (!isAsyncIterable(opened)) setOpened({ ...opened, ...measured });
        return {
          onNext({ result, setResult }) {
            if (isFirst) setResult({ ...result, ...measured });
            isFirst = false;
          },
        };
      },
    };
  },
};

interface Measured {
  /** why the operation is not executed; null if it is */
  refused: GraphQLError | null;
  /** `extensions` of the response; empty if the operation cannot be measured */
  measured: { extensions?: { cost: OperationCost } };
}

/** Measures the operation that will be executed. */
export function measureOperation(
  asked: Omit<RequestedOperation, 'contextValue'> & Partial<Pick<RequestedOperation, 'contextValue'>>,
  of: GraphQLSchema = schema,
): Measured {
  const { document, contextValue, variableValues } = asked;
  const requested = findOperation(asked);
  if (requested === null) return { refused: null, measured: {} };
  // complexityFromQuery uses the first operation of a document.
  const definitions = document.definitions.filter(({ kind }) => kind !== Kind.OPERATION_DEFINITION);
  try {
    const { complexity, depth } = complexityFromQuery(
      { ...document, definitions: [requested, ...definitions] },
      { schema: of, ctx: contextValue ?? {}, variables: (variableValues ?? {}) as Record<string, unknown> },
    );
    return {
      refused: refuseCost(complexity, depth),
      measured: { extensions: { cost: { requested: complexity, limit: MAX_COST } } },
    };
  } catch (error) {
    // Connections refuse invalid page sizes.
    if (error instanceof UserError) return { refused: refuseArgument(error, contextValue), measured: {} };
    // A variable has an invalid value.
    if (error instanceof GraphQLError) return { refused: refuseVariable(error), measured: {} };
    throw error;
  }
}

function refuseCost(cost: number, depth: number): GraphQLError | null {
  if (depth > MAX_DEPTH) return refusal(`The query is ${depth} levels deep, more than ${MAX_DEPTH}.`);
  if (cost > MAX_COST)
    return refusal(`The query costs ${cost}, more than ${MAX_COST}. Request smaller pages or fewer fields.`);
  return null;
}

function refuseArgument(error: UserError, context: GraphContext | undefined): GraphQLError {
  if (context === undefined) return new GraphQLError(error.message);
  const { operations, requestId } = context;
  const { message, extensions } = maskError(error, { log: operations.log, requestId });
  return new GraphQLError(message, { extensions: { ...extensions, http: BAD_REQUEST } });
}

function refuseVariable({ message, nodes, source, positions }: GraphQLError): GraphQLError {
  return new GraphQLError(message, {
    nodes,
    source,
    positions,
    extensions: { code: 'validation_error', http: BAD_REQUEST },
  });
}

function refusal(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'validation_error', http: BAD_REQUEST } });
}
