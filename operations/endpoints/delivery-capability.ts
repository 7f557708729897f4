import { z } from 'zod';
import { ACTION_STATUSES, ACTION_TYPES } from '../../core/endpoints/actions.ts';
import { DELIVERY_ATTEMPT_OUTCOMES, DELIVERY_CAUSES, DELIVERY_STATUSES } from '../../core/endpoints/delivery.ts';
import { postedKind } from '../../core/events/event-kinds.ts';
import {
  graphqlOnly,
  linkTo,
  maybeGone,
  named,
  nameType,
  restLiteral,
  restOnly,
  usually,
} from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { RECIPIENT_STATUSES } from '../../core/smtp/delivery-status.ts';
import {
  type Capability,
  defineAction,
  defineOwnedList,
  defineRead,
  defineResource,
  OF_EMAILS,
} from '../capability/capability.ts';
import { releaseEmail } from '../routing/release-email.ts';
import * as deliveries from './deliveries.ts';
import { retryEmail } from './retries.ts';

const status = oneOf(DELIVERY_STATUSES, {
  name: 'DeliveryStatus',
  description: 'Status of a delivery.',
  values: {
    pending: 'Waiting for its next attempt.',
    success: 'The endpoint accepted it. For forwarded copies, all recipients’ servers did.',
    failed: 'Failed; there are no more attempts.',
  },
});

const attempt = z.object({
  number: z.number().int().meta({ description: 'Number of the attempt, starting at 1.' }),
  startedAt: z.date().meta({ description: 'When the attempt started.' }),
  durationMs: z.number().int().meta({ description: 'Duration in milliseconds.' }),
  outcome: oneOf(DELIVERY_ATTEMPT_OUTCOMES, {
    name: 'DeliveryAttemptOutcome',
    description: 'Result of a delivery attempt.',
    values: {
      success: 'The endpoint accepted the request.',
      failed: 'The endpoint rejected the request or did not respond.',
      interrupted: 'Interrupted by a restart of the service; does not count as an attempt.',
    },
  }).meta({ description: 'Result of the attempt.' }),
  statusCode: z.number().int().nullable().meta({ description: 'HTTP status of the response. Null if there was none.' }),
  error: z.string().nullable().meta({ description: 'Error message. Null if the attempt succeeded.' }),
  requestHeaders: z.record(z.string(), z.string()).meta({ description: 'Request headers. Secrets are redacted.' }),
  responseBody: z.string().nullable().meta({
    description: 'First 4,096 bytes of the response body. Null if there was no response.',
  }),
});

const header = nameType(
  z.object({
    name: z.string().meta({ description: 'Name of the header.' }),
    value: z.string().meta({ description: 'Value of the header. Secrets are redacted.' }),
  }),
  { type: 'RequestHeader', description: 'A header of a request.' },
);
const attemptInGraphql = nameType(
  attempt.extend({ requestHeaders: z.array(header).meta({ description: 'Request headers.' }) }),
  { type: 'DeliveryAttempt', description: 'An attempt to deliver: the request, the response and the duration.' },
);

const actionResult = nameType(
  z.object({
    type: oneOf(ACTION_TYPES, {
      name: 'ActionType',
      description: 'What a webhook’s response asks for.',
      values: {
        reply: 'Reply to the sender.',
        forward: 'Forward the email to an address.',
        label: 'Label the thread.',
        archive: 'Archive the email.',
        read: 'Mark the email as read.',
        hold: 'Hold the email for review.',
        route: 'Deliver the email to another endpoint.',
      },
    }).meta({ description: 'What the response asked for.' }),
    status: oneOf(ACTION_STATUSES, {
      name: 'ActionStatus',
      description: 'Result of an action.',
      values: {
        done: 'It ran.',
        refused: 'It could not run, so no action of the response ran.',
        skipped: 'It did not run, because another action of the response was refused.',
      },
    }).meta({ description: 'Result of the action.' }),
    message: z.string().meta({ description: 'What the action did, or why it did not run.' }),
    emailId: linkTo('Email', z.string().nullable()).meta({
      description: 'The email that a reply or forward sends. Null for other actions and if it was deleted.',
    }),
    deliveryId: linkTo('Delivery', z.string().nullable()).meta({
      description: 'The delivery that `route` created. Null for other actions.',
    }),
  }),
  { type: 'ActionResult', description: 'The result of an action that a webhook’s response asked for.' },
);
/** Values that the cost limit of GraphQL assumes. */
const USUAL_ACTIONS = 3;
const USUAL_ATTEMPTS = 3;
const USUAL_RECIPIENTS = 3;
const results = z.array(actionResult).meta({
  description: 'Results in the order of the response. Empty if the response is not valid.',
});
const WHAT_BECAME = 'What became of the actions in the webhook’s response. Null if it had none.';

const actionLog = nameType(
  z.object({
    place: z.string().nullable().meta({
      description:
        'What was wrong, such as `actions[2].type`. Null if all actions ran, or if it is the whole response.',
    }),
    problem: z.string().nullable().meta({ description: 'Why none of the actions ran. Null if all of them ran.' }),
    results: usually(USUAL_ACTIONS, results),
  }),
  {
    type: 'ActionLog',
    description: 'What became of the actions in a webhook’s response. All of them ran, or none.',
  },
);

const filter = z.object({
  status: status.optional().meta({ description: 'Returns deliveries with this status only.' }),
});
const target = { argument: 'id', argumentDescription: 'ID of the delivery.' } as const;
const listIds = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

/** Returns the error and the status of the last attempt, which are stored as JSON. */
function lastOutcome({ responseData }: deliveries.DeliverySummary) {
  return (responseData ?? {}) as { error?: string | null; statusCode?: number | null };
}

export const deliveryResource = defineResource<deliveries.Delivery>()({
  name: 'Delivery',
  identifier: 'delivery',
  description: 'The delivery of a received email, or of an event, to one endpoint.',
  isOfDomain: true,
  shape: z.object({
    emailId: linkTo('Email', z.string().nullable()).meta({
      description: 'The email. Null if it was deleted, or if the event is about no email.',
    }),
    event: postedKind.meta({
      description: 'Kind of event that is delivered: `email.received` for mail that is routed to the endpoint.',
    }),
    endpointId: maybeGone(linkTo('Endpoint', z.string())).meta({
      description: 'The endpoint. Null if it was deleted.',
    }),
    deliveryType: named(
      oneOf(['webhook', 'email_forward'], {
        name: 'DeliveryType',
        description: 'How an email is delivered.',
        values: { webhook: 'HTTP request to a URL.', email_forward: 'Forwarded copies.' },
      }),
      { graphqlName: 'type' },
    ).meta({ description: 'How the email is delivered.' }),
    status: status.meta({ description: 'Status of the delivery.' }),
    attempts: named(z.number().int(), { graphqlName: 'attemptCount' }).meta({
      description: 'Number of attempts, without interrupted ones.',
    }),
    lastAttemptAt: z.date().nullable().meta({ description: 'When the last attempt started. Null if there was none.' }),
    responseData: restOnly(z.unknown()).meta({
      description: '`error` and `statusCode` of the last attempt. Null before the first attempt.',
    }),
    createdAt: z.date().meta({ description: 'When the delivery was created.' }),
    completedAt: z
      .date()
      .nullable()
      .meta({ description: 'When the delivery succeeded or failed. Null while it is pending.' }),
    nextAttemptAt: z.date().nullable().meta({
      description:
        'When the next attempt is due. Null if there is none, or while the delivery waits for earlier ones or copies wait to be sent.',
    }),
    cause: oneOf(DELIVERY_CAUSES, {
      name: 'DeliveryCause',
      description: 'What started a delivery.',
      values: {
        route: 'An email arrived and was routed to the endpoint.',
        retry: 'You retried it.',
        replay: 'You replayed the deliveries of a period.',
        release: 'You released a held email.',
        action: 'The response of another webhook routed the email here.',
        event: 'An event happened that the endpoint is subscribed to.',
      },
    }).meta({ description: 'What started this delivery.' }),
    attemptLog: restOnly(z.array(attempt)),
    attemptList: usually(USUAL_ATTEMPTS, graphqlOnly(z.array(attemptInGraphql), 'attempts')).meta({
      description: 'All attempts, oldest first, including interrupted ones.',
    }),
    statusCode: graphqlOnly(z.number().int().nullable()).meta({
      description: 'HTTP status of the last response. Null if there was none.',
    }),
    error: graphqlOnly(z.string().nullable()).meta({
      description: 'Last error, or why the delivery was ended. Null if there was none.',
    }),
    actions: restOnly(
      z
        .object({
          problem: z
            .object({
              place: z
                .string()
                .nullable()
                .meta({ description: 'Such as `actions[2].type`. Null if it is the whole response.' }),
              message: z.string(),
            })
            .nullable()
            .meta({ description: 'Why none of the actions ran. Null if all of them ran.' }),
          results,
        })
        .nullable(),
    ).meta({ description: WHAT_BECAME }),
    actionLog: graphqlOnly(actionLog.nullable(), 'actions').meta({ description: WHAT_BECAME }),
    recipients: restOnly(
      z.array(
        z.object({
          address: z.string(),
          status: z.enum(RECIPIENT_STATUSES),
          code: z.number().int().nullable().meta({ description: 'SMTP reply code.' }),
          enhancedStatus: z.string().nullable().meta({ description: 'Enhanced status code (RFC 3463).' }),
          text: z.string().nullable(),
          settledAt: z.date().nullable(),
        }),
      ),
    ).meta({ description: 'Recipients of a forwarded copy. Empty for webhooks.' }),
    forwardRecipients: usually(
      USUAL_RECIPIENTS,
      linkTo('Recipient', graphqlOnly(z.array(z.string())), 'recipients'),
    ).meta({ description: 'Recipients of forwarded copies and their delivery status. Empty for webhooks.' }),
  }),
  computed: {
    event: ({ event }) => event?.kind ?? 'email.received',
    deliveryType: ({ type }) => (type === 'webhook' ? 'webhook' : 'email_forward'),
    nextAttemptAt: (delivery) => (delivery.status === 'pending' ? delivery.nextAttemptAt : null),
    statusCode: (delivery) => lastOutcome(delivery).statusCode ?? null,
    error: (delivery) => lastOutcome(delivery).error ?? null,
    actionLog: ({ actions }) =>
      actions && {
        place: actions.problem?.place ?? null,
        problem: actions.problem?.message ?? null,
        results: actions.results,
      },
  },
  loaded: {
    attemptList: {
      isInLists: false,
      load: async (context, rows) => {
        const attempts = await deliveries.loadDeliveryAttempts(context, listIds(rows));
        return attempts.map((each) =>
          each.map((made) => ({
            ...made,
            requestHeaders: Object.entries(made.requestHeaders).map(([name, value]) => ({ name, value })),
          })),
        );
      },
    },
    forwardRecipients: {
      isInLists: false,
      load: (context, rows) => deliveries.findForwardRecipients(context, listIds(rows)),
    },
  },
  // GraphQL, which reads objects by their IDs, reads attempts and recipients apart.
  load: (context, ids) => deliveries.loadDeliveries(context, ids) as Promise<(deliveries.Delivery | null)[]>,
});

export const deliveryCapability: Capability = {
  feature: 'Endpoints',
  what: 'Deliveries',
  tag: 'Endpoints',
  path: '',
  restCase: 'camel',
  resource: deliveryResource,
  operations: [
    defineRead({
      access: 'read',
      operationId: 'getDelivery',
      field: 'delivery',
      summary: 'Retrieve a delivery',
      description: 'Returns a delivery with all its attempts.',
      path: '/deliveries/:id',
      target,
      read: deliveries.readDelivery,
    }),
    defineAction({
      access: 'sendAndReadAccount',
      operationId: 'retryDelivery',
      field: 'retryDelivery',
      summary: 'Retry a delivery',
      description:
        'Retries an unsuccessful delivery to its endpoint: in a new delivery, or in this one while it is pending.',
      method: 'POST',
      path: '/deliveries/:id/retry',
      target,
      input: z.object({}),
      output: 'resource',
      errors: [],
      run: async (context, _input, id) => deliveries.readDelivery(context, await deliveries.retryDelivery(context, id)),
    }),
    defineOwnedList({
      access: 'read',
      operationId: 'listEndpointDeliveries',
      summary: 'List the deliveries to an endpoint',
      description:
        'Returns deliveries, newest first, each with all of its attempts: the request, the response and the duration.',
      of: { type: 'Endpoint', field: 'deliveries' },
      path: '/endpoints/:id/deliveries',
      filter,
      page: (context, ids, query, page) =>
        deliveries.pageDeliveries(context, { kind: 'endpoint', ids }, query, page) as Promise<deliveries.Delivery[][]>,
      count: (context, ids, query) => deliveries.countDeliveries(context, { kind: 'endpoint', ids }, query),
      list: deliveries.listEndpointDeliveries,
    }),
    defineOwnedList({
      access: 'read',
      operationId: 'listEmailDeliveries',
      tag: 'Emails',
      summary: 'List the deliveries of a received email',
      description: 'Returns deliveries, newest first, each with all of its attempts. Sent emails have none.',
      of: { type: 'Email', field: 'deliveries' },
      path: '/emails/:id/deliveries',
      filter,
      page: (context, ids, query, page) =>
        deliveries.pageDeliveries(context, { kind: 'email', ids }, query, page) as Promise<deliveries.Delivery[][]>,
      count: (context, ids, query) => deliveries.countDeliveries(context, { kind: 'email', ids }, query),
      list: deliveries.listEmailDeliveries,
    }),
  ],
};

const ofEmail = { argument: 'id', argumentDescription: 'ID of the email.' } as const;
const emailId = maybeGone(linkTo('Email', graphqlOnly(z.string()))).meta({
  description: 'The email. Null if it was deleted in the meantime.',
});

export const redeliveryCapability: Capability = {
  feature: 'Endpoints',
  what: 'Deliver an email again',
  ...OF_EMAILS,
  operations: [
    defineAction({
      access: 'sendAndReadAccount',
      operationId: 'retryEmail',
      field: 'retryEmail',
      summary: 'Retry delivery of a received email',
      description:
        'Creates a new delivery, due at once. A pending delivery is attempted now instead, so that nothing is delivered twice. Without an endpoint and a delivery, the current guard rules and routes apply.',
      method: 'POST',
      path: '/:id/retry',
      target: ofEmail,
      input: z.object({
        endpointId: z.string().nullish().meta({
          description:
            'ID of the endpoint. The default is where the email is routed now. Cannot be combined with a delivery.',
        }),
        deliveryId: z.string().nullish().meta({ description: 'ID of an unsuccessful delivery of the email.' }),
      }),
      isInputOptional: true,
      inputName: 'RetryEmail',
      example: { endpointId: 'ep_01931f3e5a7b7c1d8e2f3a4b5c6d7e8f' },
      output: z
        .object({
          success: restLiteral(true),
          message: restOnly(z.string()),
          emailId,
          deliveryId: restOnly(z.string()),
          deliveryIds: linkTo('Delivery', z.array(z.string()), 'deliveries').meta({
            description: 'New deliveries, and pending ones that are attempted now.',
          }),
        })
        .meta({ id: 'Retry', description: 'An email that is being delivered again.' }),
      errors: [409],
      async run(context, { endpointId = null, deliveryId = null }, id) {
        const deliveryIds = await retryEmail(context, id, { endpointId, deliveryId });
        const message = 'The email is being delivered again';
        return { message, emailId: id, deliveryId: deliveryIds[0] ?? '', deliveryIds };
      },
    }),
  ],
};

export const releaseCapability: Capability = {
  feature: 'Routing',
  what: 'Release held mail',
  ...OF_EMAILS,
  operations: [
    defineAction({
      access: 'endpoints',
      operationId: 'releaseEmail',
      field: 'releaseEmail',
      summary: 'Release a held email',
      description:
        'Releases a received email that a guard rule blocked or that is held for review. It is delivered as if there were no guard rules.',
      method: 'POST',
      path: '/:id/release',
      target: ofEmail,
      input: z.object({}),
      output: z
        .object({
          success: restLiteral(true),
          message: restOnly(z.string()),
          id: restOnly(z.string()),
          emailId,
          releasedAt: z.date().meta({ description: 'When the email was released.' }),
          deliveryIds: linkTo('Delivery', z.array(z.string()), 'deliveries').meta({
            description: 'Deliveries of the email. Empty if its route leads to no active endpoint.',
          }),
        })
        .meta({ id: 'ReleasedEmail', description: 'A released email.' }),
      errors: [],
      async run(context, _input, id) {
        const { releasedAt, deliveryIds } = await releaseEmail(context, id);
        const message =
          deliveryIds.length > 0
            ? 'The email is being delivered'
            : 'The email is released; its route leads to no active endpoint';
        return { message, id, emailId: id, releasedAt, deliveryIds };
      },
    }),
  ],
};
