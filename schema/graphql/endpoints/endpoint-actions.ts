import { endpointTest, replayStatus, webhookFormat } from '../../../operations/endpoints/endpoint-capability.ts';
import { rotateSecret } from '../../../operations/endpoints/endpoint-changes.ts';
import { TEST_ANSWER_MS, testEndpoint } from '../../../operations/endpoints/endpoint-test.ts';
import { countReplayed, MAX_REPLAY_COUNTED } from '../../../operations/endpoints/replays.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { typeFor } from '../capability-shapes.ts';
import { forgetLoaded } from '../context.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { EndpointInterface } from '../nodes.ts';
import { secretUrl } from '../secret.ts';
import { WebhookEndpoint } from './endpoint.ts';

builder.mutationFields((t) => ({
  testEndpoint: t.fieldWithInput({
    type: typeFor(endpointTest),
    access: access.endpoints,
    description:
      'Sends a sample to an endpoint, using the same code and form as real mail. Limited to ten per minute. The response can take two minutes.',
    input: {
      id: t.input.id({ required: true, description: 'ID of the endpoint.' }),
      format: t.input.field({
        type: typeFor(webhookFormat),
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
      const { payload } = outcome;
      return { ...outcome, endpointId: id, payload: payload === null ? null : (JSON.parse(payload) as unknown) };
    },
  }),
  rotateEndpointSecret: t.fieldWithInput({
    type: WebhookEndpoint,
    access: { ...access.endpoints, shows: ['WebhookEndpoint.signingSecrets'] },
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
      status: t.arg({
        type: typeFor(replayStatus),
        defaultValue: 'failed',
        description: 'Which deliveries to replay.',
      }),
    },
    resolve: ({ id }, { since, until, status }, context) =>
      replayCountOf(context, id, { since, until: until ?? null, status: status ?? 'failed' }),
  }),
);
