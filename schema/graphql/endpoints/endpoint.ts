import type { KeysetPage } from '../../../core/shared/page.ts';
import type { Fields } from '../../../operations/capability/capability.ts';
import { replayStatus } from '../../../operations/endpoints/endpoint-capability.ts';
import {
  emailShape,
  endpointResource,
  forwardingShape,
  groupShape,
  readForwardingField,
  readWebhookField,
  webhookShape,
} from '../../../operations/endpoints/endpoint-types.ts';
import {
  countUsingAddresses,
  type Endpoint,
  findCatchAllDomains,
  pageUsingAddresses,
  type UsingAddress,
} from '../../../operations/endpoints/endpoints.ts';
import { countReplayed, MAX_REPLAY_COUNTED } from '../../../operations/endpoints/replays.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { addOutputType, objectFields, typeFor } from '../capability-shapes.ts';
import { connection, totalCount } from '../connection.ts';
import type { GraphContext } from '../context.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { EmailAddressNode, EndpointInterface, endpointTypeName } from '../nodes.ts';

/** Endpoints: one type for each type of endpoint, with an interface for what they have in common. */

const addressesOf = loadByOwner(({ reads }, endpointIds, page: KeysetPage) =>
  pageUsingAddresses(reads, endpointIds, page),
);
const addressCountOf = loadByOwner(({ reads }, endpointIds) => countUsingAddresses(reads, endpointIds));
const catchAllDomainsOf = loadByOwner(({ reads }, endpointIds) => findCatchAllDomains(reads, endpointIds));
const replayCountOf = loadByOwner(({ reads }, endpointIds, period: Parameters<typeof countReplayed>[2]) =>
  countReplayed(reads, endpointIds, period),
);

/** Each delivery is checked individually. */
const REPLAY_COUNT_COST = 20;

EndpointInterface.implement({
  description: endpointResource.description,
  interfaces: [builder.nodeInterfaceRef()],
  resolveType: (endpoint) => endpointTypeName(endpoint),
  fields: (t) => ({
    id: t.exposeID('id', { description: 'ID of the endpoint.' }),
    ...(objectFields(t as never, endpointResource.shape, {
      isOfDomain: false,
      read: (row: Endpoint, field, context) =>
        field === 'catchAllDomainIds'
          ? catchAllDomainsOf(context, row.id, null)
          : endpointResource.readField(row, field, context.reads),
    }) as object),
    emailAddresses: t.connection(
      {
        type: EmailAddressNode,
        description: 'Your addresses that use the endpoint, newest first.',
        complexity: connectionComplexity,
        resolve: async ({ id }, args, context) => {
          const { edges, pageInfo } = await connection<UsingAddress>(
            args,
            (address) => ({ at: address.createdAt, id: address.id }),
            (page) => addressesOf(context, id, page),
          );
          return {
            edges: edges.map(({ cursor, node }) => ({ cursor, node: node.id })),
            pageInfo,
            count: () => addressCountOf(context, id, null),
          };
        },
      },
      {
        name: 'EndpointAddressConnection',
        description: 'A page of addresses that use an endpoint.',
        fields: (c) => totalCount(c),
      },
      { name: 'EndpointAddressEdge', description: 'An address that uses an endpoint, and its cursor.' },
    ),
    replayCount: t.int({
      description: `Number of emails that replayDeliveries would deliver again, in as many calls as needed. Counting stops at ${MAX_REPLAY_COUNTED}. Pass the \`until\` of the last call to get the number that is left.`,
      complexity: REPLAY_COUNT_COST,
      args: {
        since: t.arg({ type: 'DateTime', required: true, description: 'Start of the period.' }),
        until: t.arg({ type: 'DateTime', description: 'End of the period. Null means now.' }),
        status: t.arg({
          type: typeFor(replayStatus),
          defaultValue: 'failed',
          description: 'Which deliveries to replay.',
        }),
      },
      resolve: ({ id }, { since, until, status }, context) =>
        replayCountOf(context, id, { since, until: until ?? null, status: status ?? 'failed' }),
    }),
  }),
});

type ReadField = (endpoint: Endpoint, field: string, context: GraphContext) => unknown;

const readForwarding: ReadField = (endpoint, field) => readForwardingField(endpoint, field);

const ForwardingEndpoint = builder.interfaceRef<Endpoint>('ForwardingEndpoint').implement({
  description: 'An endpoint that forwards copies of mail to other mailboxes.',
  interfaces: [builder.nodeInterfaceRef(), EndpointInterface],
  fields: (t) => objectFields(t as never, forwardingShape, { isOfDomain: false, read: readForwarding }) as never,
});

/** Adds the type of one type of endpoint. */
function addEndpointType(
  type: Endpoint['type'],
  description: string,
  { shape, read, isForwarding }: { shape: Fields; read: ReadField; isForwarding: boolean },
): void {
  const name = endpointTypeName({ type });
  const ref = builder.objectRef<Endpoint>(name).implement({
    description,
    interfaces: [builder.nodeInterfaceRef(), EndpointInterface, ...(isForwarding ? [ForwardingEndpoint] : [])],
    isTypeOf: (value) => (value as Partial<Endpoint> | null)?.type === type,
    fields: (t) => objectFields(t as never, shape, { isOfDomain: false, read }) as never,
  });
  addOutputType(name, ref);
}

addEndpointType('webhook', 'An endpoint that posts mail to a URL.', {
  shape: webhookShape,
  read: (endpoint, field, { reads }) => readWebhookField(endpoint, field, reads),
  isForwarding: false,
});
addEndpointType('email', 'An endpoint that forwards a copy of mail to one address.', {
  shape: emailShape,
  read: readForwarding,
  isForwarding: true,
});
addEndpointType('email_group', 'An endpoint that forwards copies of mail to several addresses.', {
  shape: groupShape,
  read: readForwarding,
  isForwarding: true,
});
