import { type DocumentNode, type GraphQLError, getOperationAST, type OperationDefinitionNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { GraphContext } from '../../schema/graphql/context.ts';

/** What a request asks for, before it is executed. */
export interface RequestedOperation {
  document: DocumentNode;
  contextValue: GraphContext;
  operationName?: unknown;
  variableValues?: unknown;
}

/** Returns the operation to execute; null if the document does not determine it, so that none is executed. */
export function findOperation({
  document,
  operationName,
}: Pick<RequestedOperation, 'document' | 'operationName'>): OperationDefinitionNode | null {
  return getOperationAST(document, typeof operationName === 'string' ? operationName : null) ?? null;
}

/** Returns a plugin that rejects operations before anything is executed. `findRefusal` returns null for others. */
export function refuseOperations(
  findRefusal: (requested: RequestedOperation) => GraphQLError | null,
): Plugin<GraphContext> {
  const refuse: NonNullable<Plugin<GraphContext>['onExecute'] & Plugin<GraphContext>['onSubscribe']> = ({
    args,
    setResultAndStopExecution,
  }) => {
    const refused = findRefusal(args);
    if (refused !== null) setResultAndStopExecution({ errors: [refused] });
  };
  return { onExecute: refuse, onSubscribe: refuse };
}
