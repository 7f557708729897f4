import { brandWithType } from '@pothos/core';
import { type IdentifierKind, identifierPrefix } from '../../core/shared/identifiers.ts';
import type { OperationContext } from '../../operations/context.ts';
import { loadEmailAddresses } from '../../operations/domains/email-addresses.ts';
import { type EmailSummary, openEmails } from '../../operations/emails/emails.ts';
import { loadDeliveries } from '../../operations/endpoints/deliveries.ts';
import { type Endpoint, loadEndpoints } from '../../operations/endpoints/endpoints.ts';
import { loadGuardRules } from '../../operations/routing/guard-rules.ts';
import { loadBatches } from '../../operations/sending/batches.ts';
import { loadThreads } from '../../operations/threads/threads.ts';
import { builder } from './builder.ts';
import type { GraphContext } from './context.ts';
import { addNodeKind } from './node-kinds.ts';

/**
 * The types that `node(id:)` returns, declared apart from their fields so that they can refer to each other. All loads use operations of
 * the current user: IDs of other users return null, like IDs that do not exist. A field of one of these types may resolve to an ID.
 */

/** The types that fields of capabilities can link to, by name. */
export const nodeTypes: Record<string, object> = {};

/** Declares a type without its fields. `load` returns one row per ID, null where the user has none, or an error for it. */
export function declareNode<Row extends { id: string }>(
  name: string,
  kind: IdentifierKind,
  load: (context: OperationContext, ids: readonly string[]) => Promise<readonly (Row | Error | null)[]>,
) {
  const node = builder.loadableNodeRef<Row, string, string>(name, {
    id: { resolve: ({ id }) => id },
    load: (ids: string[], { reads }) => load(reads, ids).then(orNull),
  });
  addNodeKind(identifierPrefix(kind), findLoader(name, node));
  nodeTypes[name] = node;
  return node;
}

export const BatchNode = declareNode('Batch', 'batch', loadBatches);
export const DeliveryNode = declareNode('Delivery', 'delivery', loadDeliveries);
export const EmailAddressNode = declareNode('EmailAddress', 'emailAddress', loadEmailAddresses);
export const EmailNode = declareNode<EmailSummary>('Email', 'email', openEmails);
export const GuardRuleNode = declareNode('GuardRule', 'guardRule', loadGuardRules);
export const ThreadNode = declareNode('Thread', 'thread', loadThreads);

/** An interface; the type of the endpoint selects the object type (endpoint.ts). */
export const EndpointInterface = builder.loadableInterfaceRef<Endpoint, string, string>('Endpoint', {
  load: (ids: string[], { reads }) => loadEndpoints(reads, ids).then(orNull),
});
nodeTypes['Endpoint'] = EndpointInterface;
addNodeKind(identifierPrefix('endpoint'), async (id, context) => {
  const endpoint = await EndpointInterface.getDataloader(context).load(id);
  // oxlint-disable-next-line typescript/no-unnecessary-condition -- orNull hides it from the types
  if (endpoint !== null) brandWithType(endpoint, endpointTypeName(endpoint) as never);
  return endpoint;
});

export function endpointTypeName(endpoint: Pick<Endpoint, 'type'>): string {
  return { webhook: 'WebhookEndpoint', email: 'EmailEndpoint', email_group: 'EmailGroupEndpoint' }[endpoint.type];
}

/** Adds a type that fields of capabilities can link to. */
export function addNodeType(name: string, type: object): void {
  nodeTypes[name] = type;
}

/** Returns the loader that `node` uses for a type. */
function findLoader<Node extends object>(
  typeName: string,
  ref: { getDataloader: (context: GraphContext) => { load: (id: string) => Promise<Node> } },
): (id: string, context: GraphContext) => Promise<object | null> {
  return async (id, context) => {
    const node = (await ref.getDataloader(context).load(id)) as Node | null;
    if (node !== null) brandWithType(node, typeName as never);
    return node;
  };
}

/** Casts away null: a loader may return null for an ID, but its types do not allow it. The fields that use it are nullable. */
function orNull<T>(loaded: readonly (T | null)[]): readonly T[] {
  return loaded as readonly T[];
}
