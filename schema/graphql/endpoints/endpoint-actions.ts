import { type DeletedEndpoint, deleteEndpoint, rotateSecret } from '../../../operations/endpoints/endpoint-changes.ts';
import { type EndpointTestOutcome, TEST_ANSWER_MS, testEndpoint } from '../../../operations/endpoints/endpoint-test.ts';
import { type Replay, replayDeliveries } from '../../../operations/endpoints/replays.ts';
import { replayInputShape } from '../../shapes/endpoint.ts';
import { parseInput } from '../../shapes/parse-input.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { forgetLoaded } from '../context.ts';
import { EndpointInterface } from '../nodes.ts';
import { WebhookEndpoint } from './endpoint.ts';
import { WebhookFormat } from './endpoint-enums.ts';

const DeleteEndpointPayload = builder
  .objectRef<DeletedEndpoint & { deletedId: string }>('DeleteEndpointPayload')
  .implement({
    description: 'An endpoint that is gone, and what led to it. What was delivered stays with its emails.',
    fields: (t) => ({
      deletedId: t.exposeID('deletedId', { description: 'Its id.' }),
      emailAddresses: t.expose('addresses', {
        type: ['AddrSpec'],
        description: 'Your addresses that led to it; mail to them is only stored now.',
      }),
      catchAllDomains: t.exposeStringList('domains', {
        description: 'Names of your domains whose mail to unknown addresses went there; it is only stored now.',
      }),
      guardRuleCount: t.exposeInt('guardRuleCount', {
        description: 'Guard rules that led to it; they go on matching, and lead nowhere.',
      }),
      groupAddressCount: t.exposeInt('groupEmailCount', { description: 'Addresses of a group that went with it.' }),
      endedDeliveryCount: t.exposeInt('endedDeliveryCount', {
        description: 'Deliveries that waited for their next try and are not tried any more.',
      }),
    }),
  });

const TestEndpointPayload = builder
  .objectRef<EndpointTestOutcome & { endpointId: string }>('TestEndpointPayload')
  .implement({
    description: 'What the test of an endpoint came to. A receiver that fails is no failure of the request.',
    fields: (t) => ({
      endpoint: t.field({
        type: EndpointInterface,
        nullable: true,
        description: 'What was tested; null: it was deleted meanwhile.',
        resolve: ({ endpointId }) => endpointId,
      }),
      isSuccessful: t.exposeBoolean('success', { description: 'Whether the receiver took the sample.' }),
      message: t.exposeString('message', { description: 'What it came to, in words.' }),
      responseTimeMs: t.exposeInt('responseTimeMs', { description: 'How long the answer took, in milliseconds.' }),
      statusCode: t.exposeInt('statusCode', {
        nullable: true,
        description: 'HTTP status of the answer; null: there was none, or mail was sent.',
      }),
      responseBody: t.exposeString('responseBody', {
        nullable: true,
        description: 'How the answer begins, at most 1,000 characters; null as statusCode.',
      }),
      format: t.expose('webhookFormat', {
        type: WebhookFormat,
        nullable: true,
        description: 'In which format the sample was posted; null: mail was sent.',
      }),
      urlTested: t.exposeString('urlTested', { nullable: true, description: 'Where to; null: mail was sent.' }),
      payload: t.field({
        type: 'JSON',
        nullable: true,
        description: 'What was posted, as production posts it; null: mail was sent.',
        resolve: ({ payload }) => (payload === null ? null : (JSON.parse(payload) as unknown)),
      }),
    }),
  });

export const ReplayStatus = builder.enumType('ReplayStatus', {
  description: 'Which deliveries are made again.',
  values: {
    FAILED: { value: 'failed', description: 'Of emails whose latest delivery failed.' },
    ALL: { value: 'all', description: 'Of emails whose latest delivery succeeded, too.' },
  } as const,
});

const ReplayDeliveriesPayload = builder
  .objectRef<Replay & { endpointId: string }>('ReplayDeliveriesPayload')
  .implement({
    description: 'Deliveries that are made again.',
    fields: (t) => ({
      endpoint: t.field({
        type: EndpointInterface,
        nullable: true,
        description: 'Where they go; null: it was deleted meanwhile.',
        resolve: ({ endpointId }) => endpointId,
      }),
      replayedCount: t.exposeInt('count', { description: 'Emails that are delivered again.' }),
      hasMore: t.exposeBoolean('hasMore', { description: 'Whether there are more: ask again with this `until`.' }),
      until: t.expose('until', { type: 'DateTime', description: 'Before when deliveries were looked at.' }),
    }),
  });

builder.mutationFields((t) => ({
  deleteEndpoint: t.fieldWithInput({
    type: DeleteEndpointPayload,
    access: access.manage,
    description: 'Deletes an endpoint; mail that was routed to it goes on being stored.',
    input: { id: t.input.id({ required: true, description: 'Id of the endpoint.' }) },
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
      'Sends a sample to an endpoint by the code that delivers mail, in the form of real mail. At most ten a minute; the answer may take two minutes.',
    input: {
      id: t.input.id({ required: true, description: 'Id of the endpoint.' }),
      format: t.input.field({ type: WebhookFormat, description: 'Of a webhook; null: its own.' }),
      overrideUrl: t.input.string({ description: 'Of a webhook: tested instead of its own URL; null: that one.' }),
    },
    errors: { directResult: true },
    resolve: async (_root, { input: { id, format, overrideUrl } }, context) => {
      context.answerWithin(TEST_ANSWER_MS);
      const outcome = await testEndpoint(context.operations, id, {
        webhookFormat: format ?? null,
        overrideUrl: overrideUrl ?? null,
      });
      forgetLoaded(context);
      return { ...outcome, endpointId: id };
    },
  }),
  rotateEndpointSecret: t.fieldWithInput({
    type: WebhookEndpoint,
    access: { ...access.manage, shows: ['WebhookEndpoint.signingSecrets'] },
    description: 'Gives a webhook a new signing secret. For 24 hours requests are signed with the former one, too.',
    input: {
      id: t.input.id({ required: true, description: 'Id of the webhook.' }),
      replaceVerificationToken: t.input.boolean({
        required: true,
        defaultValue: false,
        description: 'Whether it gets a new verification token, too; the former one ends at once.',
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
      'Delivers again, each in a new delivery, the emails whose latest delivery to an endpoint was made in that time. What is still pending is left alone, and what was delivered again later, too.',
    input: {
      id: t.input.id({ required: true, description: 'Id of the endpoint.' }),
      since: t.input.field({ type: 'DateTime', required: true, description: 'Deliveries made from then on.' }),
      until: t.input.field({ type: 'DateTime', description: 'Deliveries made before then; null: until now.' }),
      status: t.input.field({
        type: ReplayStatus,
        required: true,
        defaultValue: 'failed',
        description: 'Which of them.',
      }),
      limit: t.input.int({ description: 'Emails at most; null, and more than 2,000: 2,000.' }),
    },
    errors: { directResult: true },
    resolve: async (_root, { input: { id, since, until, status, limit: given } }, context) => {
      const { limit } = parseInput(replayInputShape, { limit: given ?? undefined });
      const wish = { since, until: until ?? null, status, limit };
      const replay = await replayDeliveries(context.operations, id, wish);
      forgetLoaded(context);
      return { ...replay, endpointId: id };
    },
  }),
}));
