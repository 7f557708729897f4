import { z } from 'zod';
import { secretUrl } from '../../core/accounts/secret-fields.ts';
import {
  graphqlOnly,
  linkTo,
  maybeGone,
  named,
  nameType,
  restLiteral,
  restOnly,
} from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { type Capability, defineAction, OF_ENDPOINTS } from '../capability/capability.ts';
import { deleteEndpoint } from './endpoint-changes.ts';
import { webhookFormat } from './endpoint-types.ts';
import { MAX_REPLAYED, replayDeliveries, retryWaiting } from './replays.ts';

const number = z.number().int();
const target = { argument: 'id', argumentDescription: 'ID of the endpoint.' } as const;

/** The result of a test as GraphQL has it; REST has names of other clients (gateway/rest/endpoints/endpoint-actions.ts). */
export const endpointTest = nameType(
  z.object({
    endpointId: maybeGone(linkTo('Endpoint', z.string())).meta({
      description: 'The tested endpoint. Null if it was deleted in the meantime.',
    }),
    success: named(z.boolean(), { graphqlName: 'isSuccessful' }).meta({
      description: 'Whether the receiver accepted the sample.',
    }),
    message: z.string().meta({ description: 'Result in words.' }),
    responseTimeMs: number.meta({ description: 'Response time in milliseconds.' }),
    statusCode: number.nullable().meta({
      description: 'HTTP status of the response. Null if there was none, or if the sample was an email.',
    }),
    responseBody: z.string().nullable().meta({
      description: 'First 1,000 characters of the response body. Null if there is no statusCode.',
    }),
    webhookFormat: named(webhookFormat.nullable(), { graphqlName: 'format' }).meta({
      description: 'Format of the sample. Null if the sample was an email.',
    }),
    urlTested: z
      .string()
      .nullable()
      .meta({
        ...secretUrl,
        description: 'URL of the request. Null if the sample was an email.',
      }),
    payload: z.unknown().meta({
      description: 'The request body, in the same form as in production. Null if the sample was an email.',
    }),
  }),
  {
    type: 'TestEndpointPayload',
    description: 'Result of an endpoint test. A receiver that fails is a result, not an error of the request.',
  },
);

export const payloadPreview = z
  .object({
    object: restLiteral('payload_preview'),
    data: z.unknown().meta({
      description: 'Result of the query, `data` of the payload. Null if the query is invalid.',
    }),
    truncated: z.array(z.string()).meta({
      description: 'Paths of texts that links replace because the payload is too large.',
    }),
    sizeBytes: number.meta({ description: 'Size of the request body in bytes.' }),
    errors: z
      .array(
        nameType(
          z.object({
            message: z.string().meta({ description: 'What is wrong. Display text.' }),
            line: number.nullable().meta({ description: 'Line in the query, from 1. Null if it is the whole query.' }),
            column: number.nullable().meta({
              description: 'Column in the line, from 1. Null if it is the whole query.',
            }),
          }),
          { type: 'PayloadQueryError', description: 'An error in a payload query.' },
        ),
      )
      .meta({ description: 'Errors of the query, or of single fields.' }),
  })
  .meta({ id: 'PayloadPreview', description: 'What a webhook with a payload query would be posted.' });

const deleted = z
  .object({
    success: restLiteral(true),
    message: restOnly(z.string()),
    id: restOnly(z.string()),
    deletedId: graphqlOnly(z.string()).meta({ description: 'ID of the endpoint.' }),
    cleanup: restOnly(
      z.object({
        emailAddressesUpdated: number,
        emailAddresses: z.array(z.string()),
        domainsUpdated: number,
        domains: z.array(z.string()),
        groupEmailsDeleted: number,
        guardRulesUpdated: number,
        deliveriesDeleted: number.meta({ description: 'Always 0. Past deliveries stay with their emails.' }),
        deliveriesEnded: number.meta({ description: 'Number of pending deliveries that were cancelled.' }),
      }),
    ),
    emailAddresses: graphqlOnly(z.array(named(z.string(), { graphqlType: 'AddrSpec' }))).meta({
      description: 'Your addresses that used the endpoint; their mail is only stored now.',
    }),
    catchAllDomains: graphqlOnly(z.array(z.string())).meta({
      description: 'Names of your domains whose catch-all used the endpoint; their mail is only stored now.',
    }),
    guardRuleCount: graphqlOnly(number).meta({
      description: 'Guard rules that routed to the endpoint. They still match, but route nowhere.',
    }),
    groupAddressCount: graphqlOnly(number).meta({
      description: 'Number of group addresses deleted with the endpoint.',
    }),
    endedDeliveryCount: graphqlOnly(number).meta({ description: 'Number of pending deliveries that were cancelled.' }),
  })
  .meta({
    id: 'DeletedEndpoint',
    description: 'A deleted endpoint and what used it. Past deliveries stay with their emails.',
  });

export const endpointDeletion: Capability = {
  feature: 'Endpoints',
  what: 'Delete an endpoint',
  ...OF_ENDPOINTS,
  operations: [
    defineAction({
      access: 'endpoints',
      operationId: 'deleteEndpoint',
      field: 'deleteEndpoint',
      summary: 'Delete an endpoint',
      description:
        'Addresses, catch-alls and guard rules no longer use the endpoint; their mail is stored. Past deliveries stay with their emails.',
      method: 'DELETE',
      path: '/:id',
      target,
      input: z.object({}),
      output: deleted,
      errors: [],
      async run(context, _input, id) {
        const { addresses, domains, ...counts } = await deleteEndpoint(context, id);
        return {
          message: 'Endpoint deleted successfully',
          id,
          deletedId: id,
          cleanup: {
            emailAddressesUpdated: addresses.length,
            emailAddresses: addresses,
            domainsUpdated: domains.length,
            domains,
            groupEmailsDeleted: counts.groupEmailCount,
            guardRulesUpdated: counts.guardRuleCount,
            deliveriesDeleted: 0,
            deliveriesEnded: counts.endedDeliveryCount,
          },
          emailAddresses: addresses,
          catchAllDomains: domains,
          guardRuleCount: counts.guardRuleCount,
          groupAddressCount: counts.groupEmailCount,
          endedDeliveryCount: counts.endedDeliveryCount,
        };
      },
    }),
  ],
};

/** What an operation returns that starts deliveries to an endpoint. */
const begun = {
  success: restLiteral(true),
  message: restOnly(z.string()),
  endpointId: maybeGone(linkTo('Endpoint', graphqlOnly(z.string()))).meta({
    description: 'The endpoint. Null if it was deleted in the meantime.',
  }),
};

export const replayStatus = oneOf(['failed', 'all'], {
  name: 'ReplayStatus',
  description: 'Which deliveries to replay.',
  values: {
    failed: 'Emails whose latest delivery failed.',
    all: 'All emails, including those whose latest delivery succeeded.',
  },
});

const skipped = nameType(
  z.object({
    waiting: number.meta({
      description:
        'Deliveries that are not over: they are attempted now, or wait for a retry, which `retryWaitingDeliveries` and POST /endpoints/{id}/retry-waiting start.',
    }),
    succeeded: number.meta({ description: 'Deliveries that succeeded. 0 for a replay of all emails.' }),
    deliveredAgain: number.meta({
      description: 'Deliveries of emails that were delivered again later, or that another delivery waits for.',
    }),
  }),
  {
    type: 'ReplaySkipped',
    description: 'Deliveries of the period that a replay left out, among the latest 10,000.',
  },
);

export const replayInput = z.object({
  since: z.date().meta({ description: 'Start of the period, by creation time of the deliveries.' }),
  until: z.date().optional().meta({ description: 'End of the period. The default is now.' }),
  status: replayStatus.default('failed').meta({
    description: 'Emails whose latest delivery failed, or all emails.',
  }),
  limit: number
    .min(1)
    .optional()
    .meta({
      description: `Maximum number of emails. The default is ${MAX_REPLAYED}; values above it count as it.`,
    }),
});

export const replayCapability: Capability = {
  feature: 'Endpoints',
  what: 'Replay deliveries',
  ...OF_ENDPOINTS,
  operations: [
    defineAction({
      access: 'endpointsAndRead',
      operationId: 'replayEndpointDeliveries',
      field: 'replayDeliveries',
      summary: 'Replay deliveries to an endpoint',
      description:
        'Creates a new delivery, due at once, for each received email whose latest delivery to the endpoint was created in the period. Skips pending deliveries and emails that were delivered again later.',
      method: 'POST',
      path: '/:id/replay',
      target,
      input: replayInput,
      inputName: 'ReplayDeliveries',
      example: { since: '2026-11-21T08:00:00Z', status: 'failed' },
      output: z
        .object({
          ...begun,
          count: named(number, { restName: 'replayed', graphqlName: 'replayedCount' }).meta({
            description: 'Number of emails that are delivered again.',
          }),
          hasMore: z.boolean().meta({ description: 'Whether there are more: call again with the returned `until`.' }),
          until: z.date().meta({ description: 'Pass this as `until` to continue with older deliveries.' }),
          skipped: skipped.meta({ description: 'What was left out, and why: among the latest 10,000 deliveries.' }),
        })
        .meta({ id: 'Replay', description: 'Result of a replay.' }),
      errors: [],
      async run(context, { until = null, limit = MAX_REPLAYED, ...selection }, id) {
        const most = Math.min(limit, MAX_REPLAYED);
        const replay = await replayDeliveries(context, id, { ...selection, until, limit: most });
        const emails = replay.count === 1 ? '1 email is' : `${replay.count} emails are`;
        return { message: `${emails} being delivered again`, endpointId: id, ...replay };
      },
    }),
  ],
};

export const retryWaitingCapability: Capability = {
  feature: 'Endpoints',
  what: 'Retry waiting deliveries',
  ...OF_ENDPOINTS,
  operations: [
    defineAction({
      access: 'endpointsAndRead',
      operationId: 'retryWaitingDeliveries',
      field: 'retryWaitingDeliveries',
      summary: 'Retry all waiting deliveries to an endpoint',
      description:
        'Attempts deliveries now that wait for their next retry, up to 2,000, the earliest first. Use it when the receiver is back after an outage. Attempts so far still count.',
      method: 'POST',
      path: '/:id/retry-waiting',
      target,
      input: z.object({}),
      output: z
        .object({
          ...begun,
          count: named(number, { restName: 'retried', graphqlName: 'retriedCount' }).meta({
            description: 'Number of deliveries that are attempted now.',
          }),
          hasMore: z.boolean().meta({ description: 'Whether more deliveries wait: call again.' }),
        })
        .meta({ id: 'RetriedWaiting', description: 'Result of retrying all waiting deliveries.' }),
      errors: [],
      async run(context, _input, id) {
        const { count, hasMore } = await retryWaiting(context, id);
        const message = `${count === 1 ? '1 delivery is' : `${count} deliveries are`} being attempted now`;
        return { message, endpointId: id, count, hasMore };
      },
    }),
  ],
};
