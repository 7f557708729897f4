import { type DeletedEndpoint, deleteEndpoint, rotateSecret } from '../../../operations/endpoints/endpoint-changes.ts';
import { type EndpointTestOutcome, TEST_ANSWER_MS, testEndpoint } from '../../../operations/endpoints/endpoint-test.ts';
import {
  countReplayed,
  MAX_REPLAY_COUNTED,
  type Replay,
  type ReplayInput,
  type RetriedWaiting,
  replayDeliveries,
  retryWaiting,
} from '../../../operations/endpoints/replays.ts';
import { parseInput, replayInputShape } from '../../input-shapes.ts';
import { access } from '../access.ts';
import { builder, enumValues } from '../builder.ts';
import { forgetLoaded } from '../context.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { EndpointInterface } from '../nodes.ts';
import { secretUrl } from '../secret.ts';
import { WebhookEndpoint, WebhookFormat } from './endpoint.ts';

const DeleteEndpointPayload = builder
  .objectRef<DeletedEndpoint & { deletedId: string }>('DeleteEndpointPayload')
  .implement({
    description: 'A deleted endpoint and what used it. Past deliveries stay with their emails.',
    fields: (t) => ({
      deletedId: t.exposeID('deletedId', { description: 'ID of the endpoint.' }),
      emailAddresses: t.expose('addresses', {
        type: ['AddrSpec'],
        description: 'Your addresses that used the endpoint; their mail is only stored now.',
      }),
      catchAllDomains: t.exposeStringList('domains', {
        description: 'Names of your domains whose catch-all used the endpoint; their mail is only stored now.',
      }),
      guardRuleCount: t.exposeInt('guardRuleCount', {
        description: 'Guard rules that routed to the endpoint. They still match, but route nowhere.',
      }),
      groupAddressCount: t.exposeInt('groupEmailCount', {
        description: 'Number of group addresses deleted with the endpoint.',
      }),
      endedDeliveryCount: t.exposeInt('endedDeliveryCount', {
        description: 'Number of pending deliveries that were cancelled.',
      }),
    }),
  });

const TestEndpointPayload = builder
  .objectRef<EndpointTestOutcome & { endpointId: string }>('TestEndpointPayload')
  .implement({
    description: 'Result of an endpoint test. A receiver that fails is a result, not an error of the request.',
    fields: (t) => ({
      endpoint: t.field({
        type: EndpointInterface,
        nullable: true,
        description: 'The tested endpoint. Null if it was deleted in the meantime.',
        resolve: ({ endpointId }) => endpointId,
      }),
      isSuccessful: t.exposeBoolean('success', { description: 'Whether the receiver accepted the sample.' }),
      message: t.exposeString('message', { description: 'Result in words.' }),
      responseTimeMs: t.exposeInt('responseTimeMs', { description: 'Response time in milliseconds.' }),
      statusCode: t.exposeInt('statusCode', {
        nullable: true,
        description: 'HTTP status of the response. Null if there was none, or if the sample was an email.',
      }),
      responseBody: t.exposeString('responseBody', {
        nullable: true,
        description: 'First 1,000 characters of the response body. Null if there is no statusCode.',
      }),
      format: t.expose('webhookFormat', {
        type: WebhookFormat,
        nullable: true,
        description: 'Format of the sample. Null if the sample was an email.',
      }),
      urlTested: t.exposeString('urlTested', {
        extensions: secretUrl,
        nullable: true,
        description: 'URL of the request. Null if the sample was an email.',
      }),
      payload: t.field({
        type: 'JSON',
        nullable: true,
        description: 'The request body, in the same form as in production. Null if the sample was an email.',
        resolve: ({ payload }) => (payload === null ? null : (JSON.parse(payload) as unknown)),
      }),
    }),
  });

const ReplayStatus = builder.enumType('ReplayStatus', {
  description: 'Which deliveries to replay.',
  values: enumValues<ReplayInput['status']>({
    failed: 'Emails whose latest delivery failed.',
    all: 'All emails, including those whose latest delivery succeeded.',
  }),
});

const ReplaySkipped = builder.objectRef<Replay['skipped']>('ReplaySkipped').implement({
  description: 'Deliveries of the period that a replay left out, among the latest 10,000.',
  fields: (t) => ({
    waiting: t.exposeInt('waiting', {
      description:
        'Deliveries that are not over: they are attempted now, or wait for a retry. See retryWaitingDeliveries.',
    }),
    succeeded: t.exposeInt('succeeded', { description: 'Deliveries that succeeded. 0 for a replay of all emails.' }),
    deliveredAgain: t.exposeInt('deliveredAgain', {
      description: 'Deliveries of emails that were delivered again later, or that another delivery waits for.',
    }),
  }),
});

const RetryWaitingPayload = builder
  .objectRef<RetriedWaiting & { endpointId: string }>('RetryWaitingDeliveriesPayload')
  .implement({
    description: 'Result of retrying all waiting deliveries.',
    fields: (t) => ({
      endpoint: t.field({
        type: EndpointInterface,
        nullable: true,
        description: 'The endpoint. Null if it was deleted in the meantime.',
        resolve: ({ endpointId }) => endpointId,
      }),
      retriedCount: t.exposeInt('count', { description: 'Number of deliveries that are attempted now.' }),
      hasMore: t.exposeBoolean('hasMore', { description: 'Whether more deliveries wait: call again.' }),
    }),
  });

const ReplayDeliveriesPayload = builder
  .objectRef<Replay & { endpointId: string }>('ReplayDeliveriesPayload')
  .implement({
    description: 'Result of a replay.',
    fields: (t) => ({
      endpoint: t.field({
        type: EndpointInterface,
        nullable: true,
        description: 'The endpoint. Null if it was deleted in the meantime.',
        resolve: ({ endpointId }) => endpointId,
      }),
      replayedCount: t.exposeInt('count', { description: 'Number of emails that are delivered again.' }),
      skipped: t.field({
        type: ReplaySkipped,
        description: 'What was left out, and why.',
        resolve: ({ skipped }) => skipped,
      }),
      hasMore: t.exposeBoolean('hasMore', {
        description: 'Whether there are more: call again with the returned `until`.',
      }),
      until: t.expose('until', {
        type: 'DateTime',
        description: 'Pass this as `until` to continue with older deliveries.',
      }),
    }),
  });

builder.mutationFields((t) => ({
  deleteEndpoint: t.fieldWithInput({
    type: DeleteEndpointPayload,
    access: access.manage,
    description: 'Deletes an endpoint. Mail that was routed to it is still stored.',
    input: { id: t.input.id({ required: true, description: 'ID of the endpoint.' }) },
    errors: { directResult: true },
    resolve: async (_root, { input: { id } }, context) => {
      const deleted = await deleteEndpoint(context.operations, id);
      forgetLoaded(context);
      return { ...deleted, deletedId: id };
    },
  }),
  testEndpoint: t.fieldWithInput({
    type: TestEndpointPayload,
    access: access.manage,
    description:
      'Sends a sample to an endpoint, using the same code and form as real mail. Limited to ten per minute. The response can take two minutes.',
    input: {
      id: t.input.id({ required: true, description: 'ID of the endpoint.' }),
      format: t.input.field({
        type: WebhookFormat,
        description: 'For webhooks: format of the sample. Null uses that of the endpoint.',
      }),
      overrideUrl: t.input.string({
        extensions: secretUrl,
        description: 'For webhooks: URL to test instead of that of the endpoint.',
      }),
      event: t.input.string({
        description:
          'For webhooks: kind of event to post, such as `email.bounced`: the newest one, or an example. Null posts a made-up received email.',
      }),
    },
    errors: { directResult: true },
    resolve: async (_root, { input: { id, format, overrideUrl, event } }, context) => {
      context.answerWithin(TEST_ANSWER_MS);
      const outcome = await testEndpoint(context.operations, id, {
        webhookFormat: format ?? null,
        overrideUrl: overrideUrl ?? null,
        event: event ?? null,
      });
      forgetLoaded(context);
      return { ...outcome, endpointId: id };
    },
  }),
  rotateEndpointSecret: t.fieldWithInput({
    type: WebhookEndpoint,
    access: { ...access.manage, shows: ['WebhookEndpoint.signingSecrets'] },
    description:
      'Creates a new signing secret for a webhook. Requests are also signed with the old secret for 24 hours.',
    input: {
      id: t.input.id({ required: true, description: 'ID of the webhook endpoint.' }),
      replaceVerificationToken: t.input.boolean({
        required: true,
        defaultValue: false,
        description: 'Whether to also replace the verification token. The old token stops working at once.',
      }),
    },
    errors: { dataField: { name: 'endpoint' } },
    resolve: async (_root, { input: { id, replaceVerificationToken: isTokenReplaced } }, context) => {
      const endpoint = await rotateSecret(context.operations, id, { isTokenReplaced });
      forgetLoaded(context);
      return endpoint;
    },
  }),
  replayDeliveries: t.fieldWithInput({
    type: ReplayDeliveriesPayload,
    access: access.manage,
    description:
      'Delivers emails again whose latest delivery to an endpoint was created in a period, each as a new delivery. Skips pending deliveries and emails that were delivered again later.',
    input: {
      id: t.input.id({ required: true, description: 'ID of the endpoint.' }),
      since: t.input.field({ type: 'DateTime', required: true, description: 'Start of the period.' }),
      until: t.input.field({ type: 'DateTime', description: 'End of the period. Null means now.' }),
      status: t.input.field({
        type: ReplayStatus,
        required: true,
        defaultValue: 'failed',
        description: 'Which deliveries to replay.',
      }),
      limit: t.input.int({ description: 'Maximum number of emails, up to 2,000. The default is 2,000.' }),
    },
    errors: { directResult: true },
    resolve: async (_root, { input: { id, since, until, status, limit: given } }, context) => {
      const { limit } = parseInput(replayInputShape, { limit: given ?? undefined });
      const selection = { since, until: until ?? null, status, limit };
      const replay = await replayDeliveries(context.operations, id, selection);
      forgetLoaded(context);
      return { ...replay, endpointId: id };
    },
  }),
  retryWaitingDeliveries: t.fieldWithInput({
    type: RetryWaitingPayload,
    access: access.manage,
    description:
      'Attempts deliveries to an endpoint now that wait for their next retry, up to 2,000 in a call, the earliest first. Use it when the receiver is back after an outage. Attempts so far still count.',
    input: { id: t.input.id({ required: true, description: 'ID of the endpoint.' }) },
    errors: { directResult: true },
    resolve: async (_root, { input: { id } }, context) => {
      const retried = await retryWaiting(context.operations, id);
      forgetLoaded(context);
      return { ...retried, endpointId: id };
    },
  }),
}));

/** Each delivery is checked individually. */
const COST = 20;

const replayCountOf = loadByOwner(({ reads }, endpointIds, period: Parameters<typeof countReplayed>[2]) =>
  countReplayed(reads, endpointIds, period),
);

builder.interfaceField(EndpointInterface, 'replayCount', (t) =>
  t.int({
    description: `Number of emails that replayDeliveries would deliver again, in as many calls as needed. Counting stops at ${MAX_REPLAY_COUNTED}. Pass the \`until\` of the last call to get the number that is left.`,
    complexity: COST,
    args: {
      since: t.arg({ type: 'DateTime', required: true, description: 'Start of the period.' }),
      until: t.arg({ type: 'DateTime', description: 'End of the period. Null means now.' }),
      status: t.arg({ type: ReplayStatus, defaultValue: 'failed', description: 'Which deliveries to replay.' }),
    },
    resolve: ({ id }, { since, until, status }, context) =>
      replayCountOf(context, id, { since, until: until ?? null, status: status ?? 'failed' }),
  }),
);
