import { type KeysetPage } from '../../../core/shared/page.ts';
import {
  countDeliveries,
  type DeliveryAttempt,
  type DeliveryQuery,
  type DeliverySummary,
  findForwardRecipients,
  loadDeliveryAttempts,
  pageDeliveries,
} from '../../../operations/endpoints/deliveries.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { connection } from '../connection.ts';
import { type GraphContext } from '../context.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { DeliveryNode, EmailNode, EndpointInterface, RecipientNode } from '../nodes.ts';

const DeliveryStatus = builder.enumType('DeliveryStatus', {
  description: 'Status of a delivery.',
  values: {
    PENDING: { value: 'pending', description: 'Waiting for its next attempt.' },
    SUCCESS: {
      value: 'success',
      description: 'The endpoint accepted it. For forwarded copies, all recipients’ servers did.',
    },
    FAILED: { value: 'failed', description: 'Failed; there are no more attempts.' },
  } as const,
});

const DeliveryCause = builder.enumType('DeliveryCause', {
  description: 'What started a delivery.',
  values: {
    ROUTE: { value: 'route', description: 'An email arrived and was routed to the endpoint.' },
    RETRY: { value: 'retry', description: 'You retried it.' },
    REPLAY: { value: 'replay', description: 'You replayed the deliveries of a period.' },
    RELEASE: { value: 'release', description: 'You released a held email.' },
  } as const,
});

const DeliveryType = builder.enumType('DeliveryType', {
  description: 'How an email is delivered.',
  values: {
    WEBHOOK: { value: 'webhook', description: 'HTTP request to a URL.' },
    EMAIL_FORWARD: { value: 'email_forward', description: 'Forwarded copies.' },
  } as const,
});

const DeliveryAttemptOutcome = builder.enumType('DeliveryAttemptOutcome', {
  description: 'Result of a delivery attempt.',
  values: {
    SUCCESS: { value: 'success', description: 'The endpoint accepted the request.' },
    FAILED: { value: 'failed', description: 'The endpoint rejected the request or did not respond.' },
    INTERRUPTED: {
      value: 'interrupted',
      description: 'Interrupted by a restart of the service; does not count as an attempt.',
    },
  } as const,
});

const RequestHeader = builder.objectRef<{ name: string; value: string }>('RequestHeader').implement({
  description: 'A header of a request.',
  isOfDomain: true,
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the header.' }),
    value: t.exposeString('value', { description: 'Value of the header. Secrets are redacted.' }),
  }),
});

const DeliveryAttemptRef = builder.objectRef<DeliveryAttempt>('DeliveryAttempt').implement({
  description: 'An attempt to deliver: the request, the response and the duration.',
  isOfDomain: true,
  fields: (t) => ({
    number: t.exposeInt('number', { description: 'Number of the attempt, starting at 1.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When the attempt started.' }),
    durationMs: t.exposeInt('durationMs', { description: 'Duration in milliseconds.' }),
    outcome: t.expose('outcome', { type: DeliveryAttemptOutcome, description: 'Result of the attempt.' }),
    statusCode: t.exposeInt('statusCode', {
      nullable: true,
      description: 'HTTP status of the response. Null if there was none.',
    }),
    error: t.exposeString('error', { nullable: true, description: 'Error message. Null if the attempt succeeded.' }),
    responseBody: t.exposeString('responseBody', {
      nullable: true,
      description: 'First 4,096 bytes of the response body. Null if there was no response.',
    }),
    requestHeaders: t.field({
      type: [RequestHeader],
      description: 'Request headers.',
      resolve: ({ requestHeaders }) => Object.entries(requestHeaders).map(([name, value]) => ({ name, value })),
    }),
  }),
});

/** Assumed by the limit on costs, where most have one. */
const USUAL_ATTEMPTS = 3;
const USUAL_RECIPIENTS = 3;

const attemptsOf = loadByOwner(({ reads }, deliveryIds) => loadDeliveryAttempts(reads, deliveryIds));
const recipientsOf = loadByOwner(({ reads }, deliveryIds) => findForwardRecipients(reads, deliveryIds));

DeliveryNode.implement({
  description: 'The delivery of a received email to one endpoint.',
  isOfDomain: true,
  fields: (t) => ({
    type: t.field({
      type: DeliveryType,
      description: 'How the email is delivered.',
      resolve: ({ type }) => (type === 'webhook' ? 'webhook' : 'email_forward'),
    }),
    status: t.expose('status', { type: DeliveryStatus, description: 'Status of the delivery.' }),
    cause: t.expose('cause', { type: DeliveryCause, description: 'What started this delivery.' }),
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email. Null if it was deleted.',
      resolve: ({ emailId }) => emailId,
    }),
    endpoint: t.field({
      type: EndpointInterface,
      nullable: true,
      description: 'The endpoint. Null if it was deleted.',
      resolve: ({ endpointId }) => endpointId,
    }),
    attemptCount: t.exposeInt('attempts', { description: 'Number of attempts, without interrupted ones.' }),
    attempts: t.field({
      type: [DeliveryAttemptRef],
      description: 'All attempts, oldest first, including interrupted ones.',
      complexity: { field: 1, multiplier: USUAL_ATTEMPTS },
      resolve: ({ id }, _args, context) => attemptsOf(context, id, null),
    }),
    lastAttemptAt: t.expose('lastAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last attempt started. Null if there was none.',
    }),
    nextAttemptAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the next attempt is due. Null if there is none, or if copies are waiting to be sent.',
      resolve: ({ status, nextAttemptAt }) => (status === 'pending' ? nextAttemptAt : null),
    }),
    statusCode: t.int({
      nullable: true,
      description: 'HTTP status of the last response. Null if there was none.',
      resolve: ({ responseData }) => lastWord(responseData).statusCode ?? null,
    }),
    error: t.string({
      nullable: true,
      description: 'Last error, or why the delivery was ended. Null if there was none.',
      resolve: ({ responseData }) => lastWord(responseData).error ?? null,
    }),
    recipients: t.field({
      type: [RecipientNode],
      description: 'Recipients of forwarded copies and their delivery status. Empty for webhooks.',
      complexity: { field: 1, multiplier: USUAL_RECIPIENTS },
      resolve: ({ id }, _args, context) => recipientsOf(context, id, null),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the delivery was created.' }),
    completedAt: t.expose('completedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the delivery succeeded or failed. Null while it is pending.',
    }),
  }),
});

builder.queryField('delivery', (t) =>
  t.field({
    type: DeliveryNode,
    access: access.read,
    nullable: true,
    description: 'Returns the delivery with this ID, or null if the account has no such delivery.',
    args: { id: t.arg.id({ required: true, description: 'ID of the delivery.' }) },
    resolve: (_root, { id }) => id,
  }),
);

const DeliveryFilter = builder.inputType('DeliveryFilter', {
  description: 'Filters a list of deliveries. Omit a field or pass null to match all.',
  fields: (t) => ({ status: t.field({ type: DeliveryStatus, description: 'Matches deliveries with this status.' }) }),
});

interface DeliveryPageArgs {
  kind: 'endpoint' | 'email';
  query: DeliveryQuery;
  page: KeysetPage;
}

const pageOf = loadByOwner(({ reads }, ids, { kind, query, page }: DeliveryPageArgs) =>
  pageDeliveries(reads, { kind, ids }, query, page),
);
const countOf = loadByOwner(({ reads }, ids, { kind, query }: Omit<DeliveryPageArgs, 'page'>) =>
  countDeliveries(reads, { kind, ids }, query),
);

type ConnectionArgs = Parameters<typeof connection>[0] & {
  filter?: typeof DeliveryFilter.$inferInput | null | undefined;
};

async function deliveriesOf(
  context: GraphContext,
  owner: { kind: DeliveryPageArgs['kind']; id: string },
  { filter, ...args }: ConnectionArgs,
) {
  const { kind, id } = owner;
  const query = { status: filter?.status ?? null };
  const page = await connection<DeliverySummary>(
    args,
    (delivery) => ({ at: delivery.createdAt, id: delivery.id }),
    (span) => pageOf(context, id, { kind, query, page: span }),
  );
  return { ...page, count: () => countOf(context, id, { kind, query }) };
}

const filterArgument = { type: DeliveryFilter, description: 'Filters the deliveries.' };

const DeliveryEdge = builder.edgeObject({
  name: 'DeliveryEdge',
  description: 'A delivery and its cursor.',
  type: DeliveryNode,
});

const DeliveryConnection = builder.connectionObject(
  {
    type: DeliveryNode,
    name: 'DeliveryConnection',
    description: 'A page of deliveries.',
    fields: (c) => ({
      totalCount: c.int({
        description: 'Exact number of deliveries on all pages. Counted only when requested.',
        resolve: (page) => (page as unknown as { count: () => Promise<number> }).count(),
      }),
    }),
  },
  DeliveryEdge,
);

builder.interfaceField(EndpointInterface, 'deliveries', (t) =>
  t.connection(
    {
      type: DeliveryNode,
      description: 'Deliveries to this endpoint, newest first.',
      args: { filter: t.arg(filterArgument) },
      complexity: connectionComplexity,
      resolve: ({ id }, args, context) => deliveriesOf(context, { kind: 'endpoint', id }, args),
    },
    DeliveryConnection,
    DeliveryEdge,
  ),
);

builder.objectField(EmailNode, 'deliveries', (t) =>
  t.connection(
    {
      type: DeliveryNode,
      description: 'Deliveries of the received email, newest first. Empty for sent mail.',
      args: { filter: t.arg(filterArgument) },
      complexity: connectionComplexity,
      resolve: ({ id }, args, context) => deliveriesOf(context, { kind: 'email', id }, args),
    },
    DeliveryConnection,
    DeliveryEdge,
  ),
);

/** What the last try came to, as responseData of the row has it. */
function lastWord(responseData: unknown): { error?: string | null; statusCode?: number | null } {
  return (responseData ?? {}) as { error?: string | null; statusCode?: number | null };
}
