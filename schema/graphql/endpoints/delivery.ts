import type { ActionLog, ActionResult, ActionType } from '../../../core/endpoints/actions.ts';
import type { KeysetPage } from '../../../core/shared/page.ts';
import { invalid } from '../../../operations/context.ts';
import { loadRawSources } from '../../../operations/emails/attachments.ts';
import {
  countDeliveries,
  type DeliveryAttempt,
  type DeliveryQuery,
  type DeliverySummary,
  findForwardRecipients,
  loadDeliveryAttempts,
  pageDeliveries,
} from '../../../operations/endpoints/deliveries.ts';
import { buildDeliveryPayloads } from '../../../operations/endpoints/delivery-payloads.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity, enumValues } from '../builder.ts';
import { type CountedConnection, connection, totalCount } from '../connection.ts';
import type { GraphContext } from '../context.ts';
import { EventKind } from '../events/event.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { DeliveryNode, EmailNode, EndpointInterface, RecipientNode } from '../nodes.ts';
import { secret, secretUrl } from '../secret.ts';

const DeliveryStatus = builder.enumType('DeliveryStatus', {
  description: 'Status of a delivery.',
  values: enumValues<DeliverySummary['status']>({
    pending: 'Waiting for its next attempt.',
    success: 'The endpoint accepted it. For forwarded copies, all recipients’ servers did.',
    failed: 'Failed; there are no more attempts.',
  }),
});

const DeliveryCause = builder.enumType('DeliveryCause', {
  description: 'What started a delivery.',
  values: enumValues<DeliverySummary['cause']>({
    route: 'An email arrived and was routed to the endpoint.',
    retry: 'You retried it.',
    replay: 'You replayed the deliveries of a period.',
    release: 'You released a held email.',
    action: 'The response of another webhook routed the email here.',
    event: 'An event happened that the endpoint is subscribed to.',
  }),
});

const DeliveryType = builder.enumType('DeliveryType', {
  description: 'How an email is delivered.',
  values: enumValues({
    webhook: 'HTTP request to a URL.',
    email_forward: 'Forwarded copies.',
  }),
});

const DeliveryAttemptOutcome = builder.enumType('DeliveryAttemptOutcome', {
  description: 'Result of a delivery attempt.',
  values: enumValues<DeliveryAttempt['outcome']>({
    success: 'The endpoint accepted the request.',
    failed: 'The endpoint rejected the request or did not respond.',
    interrupted: 'Interrupted by a restart of the service; does not count as an attempt.',
  }),
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

/** Number of actions that the cost limit assumes. */
const USUAL_ACTIONS = 3;

const ActionTypeEnum = builder.enumType('ActionType', {
  description: 'What a webhook’s response asks for.',
  values: enumValues<ActionType>({
    reply: 'Reply to the sender.',
    forward: 'Forward the email to an address.',
    label: 'Label the thread.',
    archive: 'Archive the email.',
    read: 'Mark the email as read.',
    hold: 'Hold the email for review.',
    route: 'Deliver the email to another endpoint.',
  }),
});

const ActionStatus = builder.enumType('ActionStatus', {
  description: 'Result of an action.',
  values: enumValues<ActionResult['status']>({
    done: 'It ran.',
    refused: 'It could not run, so no action of the response ran.',
    skipped: 'It did not run, because another action of the response was refused.',
  }),
});

const ActionResultRef = builder.objectRef<ActionResult>('ActionResult').implement({
  description: 'The result of an action that a webhook’s response asked for.',
  isOfDomain: true,
  fields: (t) => ({
    type: t.expose('type', { type: ActionTypeEnum, description: 'What the response asked for.' }),
    status: t.expose('status', { type: ActionStatus, description: 'Result of the action.' }),
    message: t.exposeString('message', { description: 'What the action did, or why it did not run.' }),
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email that a reply or forward sends. Null for other actions and if it was deleted.',
      resolve: ({ emailId }) => emailId,
    }),
    delivery: t.field({
      type: DeliveryNode,
      nullable: true,
      description: 'The delivery that `route` created. Null for other actions.',
      resolve: ({ deliveryId }) => deliveryId,
    }),
  }),
});

const ActionLogRef = builder.objectRef<ActionLog>('ActionLog').implement({
  description: 'What became of the actions in a webhook’s response. All of them ran, or none.',
  isOfDomain: true,
  fields: (t) => ({
    place: t.string({
      nullable: true,
      description:
        'What was wrong, such as `actions[2].type`. Null if all actions ran, or if it is the whole response.',
      resolve: ({ problem }) => problem?.place ?? null,
    }),
    problem: t.string({
      nullable: true,
      description: 'Why none of the actions ran. Null if all of them ran.',
      resolve: ({ problem }) => problem?.message ?? null,
    }),
    results: t.field({
      type: [ActionResultRef],
      description: 'Results in the order of the response. Empty if the response is not valid.',
      complexity: { field: 1, multiplier: USUAL_ACTIONS },
      resolve: ({ results }) => results,
    }),
  }),
});

/** Numbers of attempts and recipients that the cost limit assumes. */
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
    event: t.field({
      type: EventKind,
      description: 'Kind of event that is delivered: EMAIL_RECEIVED for mail that is routed to the endpoint.',
      resolve: ({ event }) => event?.kind ?? 'email.received',
    }),
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email. Null if it was deleted, or if the event is about no email.',
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
      resolve: ({ responseData }) => lastOutcome(responseData).statusCode ?? null,
    }),
    error: t.string({
      nullable: true,
      description: 'Last error, or why the delivery was ended. Null if there was none.',
      resolve: ({ responseData }) => lastOutcome(responseData).error ?? null,
    }),
    actions: t.field({
      type: ActionLogRef,
      nullable: true,
      description: 'What became of the actions in the webhook’s response. Null if it had none.',
      resolve: ({ actions }) => actions,
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

const DeliveryConnection = builder.connectionObject<typeof DeliveryNode, CountedConnection<DeliverySummary>>(
  {
    type: DeliveryNode,
    name: 'DeliveryConnection',
    description: 'A page of deliveries.',
    fields: (c) => totalCount(c),
  },
  { name: 'DeliveryEdge', description: 'A delivery and its cursor.' },
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
  ),
);

/** Returns the outcome of the last attempt, from the stored responseData. */
function lastOutcome(responseData: unknown): { error?: string | null; statusCode?: number | null } {
  return (responseData ?? {}) as { error?: string | null; statusCode?: number | null };
}

/** It may have to read the whole message. */
const COST = 100;

/** The beginning of a request body, so that long bodies are not kept until the response is complete. */
interface ShownPayload {
  beginning: Buffer;
  sizeBytes: number;
  url: string;
  isEndpointChanged: boolean;
}

const DeliveryPayloadRef = builder.objectRef<ShownPayload>('DeliveryPayload').implement({
  description: 'The request body that delivers an email to a webhook.',
  fields: (t) => ({
    text: t.string({
      extensions: secret,
      description: 'JSON, unless it was cut. Its links work without a key for one week after delivery.',
      resolve: ({ beginning }) => textOf(beginning, beginning.length),
    }),
    sizeBytes: t.exposeInt('sizeBytes', { description: 'Size in bytes.' }),
    isCut: t.boolean({
      description: 'Whether the text was cut.',
      resolve: ({ beginning, sizeBytes }) => sizeBytes > beginning.length,
    }),
    url: t.string({ description: 'URL of the request.', extensions: secretUrl, resolve: ({ url }) => url }),
    isEndpointChanged: t.exposeBoolean('isEndpointChanged', {
      description:
        'Whether the endpoint changed after the last attempt, so that the last request may have been different.',
    }),
  }),
});

const payloadOf = loadByOwner(({ reads }, deliveryIds, most: number) =>
  buildDeliveryPayloads(reads, deliveryIds, ({ body, url, isEndpointChanged }): ShownPayload => {
    // A copy, which does not hold the whole body.
    const beginning = Buffer.from(body.subarray(0, most));
    return { beginning, sizeBytes: body.length, url, isEndpointChanged };
  }),
);
// One more byte shows whether the source is cut.
const rawSourceOf = loadByOwner(({ reads }, emailIds, most: number) => loadRawSources(reads, emailIds, most + 1));

builder.objectField(DeliveryNode, 'payload', (t) =>
  t.field({
    type: DeliveryPayloadRef,
    nullable: true,
    description:
      'The request body that an attempt would send now. Bodies are not stored; as long as the endpoint and the parsed email are unchanged, every attempt sends the same bytes. Null for forwarded copies and if the endpoint or email was deleted. Expensive: request it for single deliveries.',
    complexity: COST,
    args: { maxBytes: t.arg.int(maxBytesArgument) },
    resolve: ({ id }, { maxBytes }, context) => payloadOf(context, id, checkMaxBytes(maxBytes)),
  }),
);

builder.objectField(EmailNode, 'rawSource', (t) =>
  t.field({
    type: RawSourceRef,
    nullable: true,
    description: 'The raw message. Null if it is no longer stored. Expensive: request it for single emails.',
    complexity: COST,
    args: { maxBytes: t.arg.int(maxBytesArgument) },
    resolve: async ({ id, hasOctets }, { maxBytes }, context) => {
      const most = checkMaxBytes(maxBytes);
      const bytes = hasOctets ? await rawSourceOf(context, id, most) : null;
      return bytes === null ? null : { text: textOf(bytes, most), isCut: bytes.length > most };
    },
  }),
);

/** Bytes of a long text that are returned by default, and at most. */
const DEFAULT_BYTES = 65_536;
const MAX_BYTES = 1_000_000;

const maxBytesArgument = {
  defaultValue: DEFAULT_BYTES,
  description: `Number of bytes to return, 1 to ${MAX_BYTES}.`,
};

/** Returns the default for null. Throws validation when the number is out of range. */
function checkMaxBytes(maxBytes: number | null | undefined): number {
  const most = maxBytes ?? DEFAULT_BYTES;
  if (most < 1 || most > MAX_BYTES) throw invalid(`maxBytes must be 1 to ${MAX_BYTES}`, 'maxBytes');
  return most;
}

/** Decodes up to `most` bytes as UTF-8. Invalid bytes, such as a cut character, become U+FFFD. */
function textOf(bytes: Uint8Array, most: number): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, most));
}

/** The raw source of an email, or its beginning. */
interface RawSource {
  text: string;
  isCut: boolean;
}

const RawSourceRef = builder.objectRef<RawSource>('RawSource').implement({
  description: 'The raw source of an email, including its headers, as text.',
  isOfDomain: true,
  fields: (t) => ({
    text: t.exposeString('text', {
      description:
        'The bytes decoded as UTF-8; invalid bytes become U+FFFD. The sender wrote this text: display it as plain text only.',
    }),
    isCut: t.exposeBoolean('isCut', { description: 'Whether the text was cut. `rawUrl` returns the whole source.' }),
  }),
});
