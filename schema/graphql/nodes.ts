import { brandWithType } from '@pothos/core';
import { type Domain, loadDomains } from '../../operations/domains/domains.ts';
import { type EmailAddress, loadEmailAddresses } from '../../operations/domains/email-addresses.ts';
import { type EmailSummary, loadEmails } from '../../operations/emails/emails.ts';
import { type DeliverySummary, loadDeliveries } from '../../operations/endpoints/deliveries.ts';
import { type Endpoint, loadEndpoints } from '../../operations/endpoints/endpoints.ts';
import { type GuardRule, loadGuardRules } from '../../operations/routing/guard-rules.ts';
import { type Batch, loadBatches } from '../../operations/sending/batches.ts';
import { loadRecipients, type Recipient } from '../../operations/sending/recipients.ts';
import { loadThreads, type Thread } from '../../operations/threads/threads.ts';
import { builder } from './builder.ts';
import type { GraphContext } from './context.ts';
import { addNodeKind } from './node-kinds.ts';

/**
 * The types that `node(id:)` returns, declared apart from their fields so that they can refer to each other. All loads use operations of
 * the current user: IDs of other users return null, like IDs that do not exist. A field of one of these types may resolve to an ID.
 */
export const EmailNode = builder.loadableNodeRef<EmailSummary, string, string>('Email', {
  id: { resolve: (email) => email.id },
  load: (ids: string[], { reads }) => loadEmails(reads, ids).then(orNull),
});
addNodeKind('em', loaderOf('Email', EmailNode));

export const RecipientNode = builder.loadableNodeRef<Recipient, string, string>('Recipient', {
  id: { resolve: (recipient) => recipient.id },
  load: (ids: string[], { reads }) => loadRecipients(reads, ids).then(orNull),
});
addNodeKind('rcp', loaderOf('Recipient', RecipientNode));

export const BatchNode = builder.loadableNodeRef<Batch, string, string>('Batch', {
  id: { resolve: (batch) => batch.id },
  load: (ids: string[], { reads }) => loadBatches(reads, ids).then(orNull),
});
addNodeKind('bat', loaderOf('Batch', BatchNode));

export const ThreadNode = builder.loadableNodeRef<Thread, string, string>('Thread', {
  id: { resolve: (thread) => thread.id },
  load: (ids: string[], { reads }) => loadThreads(reads, ids).then(orNull),
});
addNodeKind('th', loaderOf('Thread', ThreadNode));

export const DomainNode = builder.loadableNodeRef<Domain, string, string>('Domain', {
  id: { resolve: (domain) => domain.id },
  load: (ids: string[], { reads }) => loadDomains(reads, ids).then(orNull),
});
addNodeKind('dom', loaderOf('Domain', DomainNode));

export const EmailAddressNode = builder.loadableNodeRef<EmailAddress, string, string>('EmailAddress', {
  id: { resolve: (address) => address.id },
  load: (ids: string[], { reads }) => loadEmailAddresses(reads, ids).then(orNull),
});
addNodeKind('addr', loaderOf('EmailAddress', EmailAddressNode));

/** An interface; the type of the endpoint selects the object type (endpoint.ts). */
export const EndpointInterface = builder.loadableInterfaceRef<Endpoint, string, string>('Endpoint', {
  load: (ids: string[], { reads }) => loadEndpoints(reads, ids).then(orNull),
});
addNodeKind('ep', async (id, context) => {
  const endpoint = await EndpointInterface.getDataloader(context).load(id);
  // oxlint-disable-next-line typescript/no-unnecessary-condition -- orNull hides it from the types
  if (endpoint !== null) brandWithType(endpoint, endpointTypeName(endpoint) as never);
  return endpoint;
});

export function endpointTypeName(endpoint: Pick<Endpoint, 'type'>): string {
  return { webhook: 'WebhookEndpoint', email: 'EmailEndpoint', email_group: 'EmailGroupEndpoint' }[endpoint.type];
}

export const DeliveryNode = builder.loadableNodeRef<DeliverySummary, string, string>('Delivery', {
  id: { resolve: (delivery) => delivery.id },
  load: (ids: string[], { reads }) => loadDeliveries(reads, ids).then(orNull),
});
addNodeKind('dlv', loaderOf('Delivery', DeliveryNode));

export const GuardRuleNode = builder.loadableNodeRef<GuardRule, string, string>('GuardRule', {
  id: { resolve: (rule) => rule.id },
  load: (ids: string[], { reads }) => loadGuardRules(reads, ids).then(orNull),
});
addNodeKind('grd', loaderOf('GuardRule', GuardRuleNode));

/** The types that fields of capabilities can link to, by name. */
export const nodeTypes: Record<string, object> = {
  Batch: BatchNode,
  Delivery: DeliveryNode,
  Domain: DomainNode,
  Email: EmailNode,
  EmailAddress: EmailAddressNode,
  Endpoint: EndpointInterface,
  GuardRule: GuardRuleNode,
  Recipient: RecipientNode,
  Thread: ThreadNode,
};

/** Adds a type that fields of capabilities can link to. */
export function addNodeType(name: string, type: object): void {
  nodeTypes[name] = type;
}

/** Returns the loader that `node` uses for a type. */
export function loaderOf<Node extends object>(
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
export function orNull<T>(loaded: readonly (T | null)[]): readonly T[] {
  return loaded as readonly T[];
}
