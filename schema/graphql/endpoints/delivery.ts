import type { KeysetPage } from '../../../core/shared/page.ts';
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
import type { GraphContext } from '../context.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { DeliveryNode, EmailNode, EndpointInterface, RecipientNode } from '../nodes.ts';
import { DeliveryAttemptOutcome, DeliveryCause, DeliveryStatus, DeliveryType } from './delivery-enums.ts';

const RequestHeader = builder.objectRef<{ name: string; value: string }>('RequestHeader').implement({
  description: 'A header field of a request.',
  isOfDomain: true,
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    value: t.exposeString('value', { description: 'Its value; what is secret is left out.' }),
  }),
});

const DeliveryAttemptRef = builder.objectRef<DeliveryAttempt>('DeliveryAttempt').implement({
  description: 'One try of a delivery: what was sent, what came back, how long it took.',
  isOfDomain: true,
  fields: (t) => ({
    number: t.exposeInt('number', { description: 'From 1.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it began.' }),
    durationMs: t.exposeInt('durationMs', { description: 'How long it took, in milliseconds.' }),
    outcome: t.expose('outcome', { type: DeliveryAttemptOutcome, description: 'What it came to.' }),
    statusCode: t.exposeInt('statusCode', {
      nullable: true,
      description: 'HTTP status of the answer; null: there was none.',
    }),
    error: t.exposeString('error', { nullable: true, description: 'What went wrong; null: nothing.' }),
    responseBody: t.exposeString('responseBody', {
      nullable: true,
      description: 'How the answer begins, at most 4,096 octets; null: there was none.',
    }),
    requestHeaders: t.field({
      type: [RequestHeader],
      description: 'The header fields that were sent.',
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
  description: 'What becomes of a received email at one endpoint.',
  isOfDomain: true,
  fields: (t) => ({
    type: t.field({
      type: DeliveryType,
      description: 'How the email is delivered.',
      resolve: ({ type }) => (type === 'webhook' ? 'webhook' : 'email_forward'),
    }),
    status: t.expose('status', { type: DeliveryStatus, description: 'How far it came.' }),
    cause: t.expose('cause', { type: DeliveryCause, description: 'Why there is this delivery.' }),
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'What is delivered; null: it is gone.',
      resolve: ({ emailId }) => emailId,
    }),
    endpoint: t.field({
      type: EndpointInterface,
      nullable: true,
      description: 'Where to; null: it was deleted since.',
      resolve: ({ endpointId }) => endpointId,
    }),
    attemptCount: t.exposeInt('attempts', { description: 'Tries made; interrupted ones do not count.' }),
    attempts: t.field({
      type: [DeliveryAttemptRef],
      description: 'Each try, oldest first, interrupted ones too.',
      complexity: { field: 1, multiplier: USUAL_ATTEMPTS },
      resolve: ({ id }, _args, context) => attemptsOf(context, id, null),
    }),
    lastAttemptAt: t.expose('lastAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last try began; null: there was none yet.',
    }),
    nextAttemptAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it is tried next; null: it is not, or its copies wait to be sent.',
      resolve: ({ status, nextAttemptAt }) => (status === 'pending' ? nextAttemptAt : null),
    }),
    statusCode: t.int({
      nullable: true,
      description: 'HTTP status of the last answer; null: there was none.',
      resolve: ({ responseData }) => lastWord(responseData).statusCode ?? null,
    }),
    error: t.string({
      nullable: true,
      description: 'What went wrong the last time, or why it was ended; null: nothing did.',
      resolve: ({ responseData }) => lastWord(responseData).error ?? null,
    }),
    recipients: t.field({
      type: [RecipientNode],
      description: 'Whom copies of the email go to, and what became of each; none of webhooks.',
      complexity: { field: 1, multiplier: USUAL_RECIPIENTS },
      resolve: ({ id }, _args, context) => recipientsOf(context, id, null),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    completedAt: t.expose('completedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it succeeded or was given up; null while it is pending.',
    }),
  }),
});

builder.queryField('delivery', (t) =>
  t.field({
    type: DeliveryNode,
    access: access.read,
    nullable: true,
    description: 'A delivery by its id; null when you have none with that id.',
    args: { id: t.arg.id({ required: true, description: 'Id of the delivery.' }) },
    resolve: (_root, { id }) => id,
  }),
);

const DeliveryFilter = builder.inputType('DeliveryFilter', {
  description: 'Which deliveries a list shows; what is absent or null puts no condition.',
  fields: (t) => ({ status: t.field({ type: DeliveryStatus, description: 'Deliveries of one status.' }) }),
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

const filterArgument = { type: DeliveryFilter, description: 'Which deliveries to show.' };

const DeliveryEdge = builder.edgeObject({
  name: 'DeliveryEdge',
  description: 'A delivery in a list.',
  type: DeliveryNode,
});

const DeliveryConnection = builder.connectionObject(
  {
    type: DeliveryNode,
    name: 'DeliveryConnection',
    description: 'A page of deliveries.',
    fields: (c) => ({
      totalCount: c.int({
        description: 'How many there are on all pages, exact; counted only when it is asked for.',
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
      description: 'What was delivered to it, newest first.',
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
      description: 'Where a received email was delivered, newest first; sent mail has none.',
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
