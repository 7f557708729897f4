import { z } from 'zod';
import { secretUrl } from '../../core/accounts/secret-fields.ts';
import { DEFAULT_MAX_PAYLOAD_BYTES } from '../../core/endpoints/endpoint-config.ts';
import { graphqlOnly, graphqlText, restOnly } from '../../core/shared/field-notes.ts';
import { type Capability, defineAction, OF_ENDPOINTS } from '../capability/capability.ts';
import { endpointTest, payloadPreview } from './endpoint-capability.ts';
import { rotateWebhookSecret } from './endpoint-changes.ts';
import { MAX_TESTS, TEST_RESPONSE_MS, testEndpoint } from './endpoint-test.ts';
import { endpointResource, endpointSubscription, payloadQuery, webhookFormat } from './endpoint-types.ts';
import { previewPayload } from './payload-preview.ts';

const target = { argument: 'id', argumentDescription: 'ID of the endpoint.' } as const;
const optionalText = z.string().nullish();

/** What is tried out at an endpoint, and its secrets. */
export const endpointActionCapability: Capability = {
  feature: 'Endpoints',
  what: 'Rotate the secret',
  ...OF_ENDPOINTS,
  resource: endpointResource,
  operations: [
    defineAction({
      access: 'read',
      what: 'Preview a payload query',
      operationId: 'previewPayload',
      field: 'previewPayload',
      summary: 'Preview a payload query',
      description: 'Runs a payload query for a stored event, as a delivery does. Nothing is sent.',
      graphqlDescription: 'Runs a payload query for a stored event, as a delivery does. Nothing is sent. Expensive.',
      method: 'POST',
      path: '/preview-payload',
      isQuery: true,
      // The query that is run may cost as much as any.
      cost: 1_000,
      input: z.object({
        query: graphqlText(payloadQuery, 'GraphQL selection on the type Event.'),
        cursor: z.string().meta({ description: 'Cursor of a stored event.' }),
        filter: graphqlText(endpointSubscription.filter, 'Filter of the endpoint. Null for none.'),
        maxPayloadOctets: z.number().int().default(DEFAULT_MAX_PAYLOAD_BYTES).meta({
          description: 'Maximum size of the request body in bytes, 10,000 to 25,000,000.',
        }),
      }),
      inputName: 'PreviewPayload',
      example: { query: '{ email { subject from { address } } }', cursor: '…' },
      output: payloadPreview,
      errors: [],
      run: (context, { filter = null, ...input }) => previewPayload(context, { ...input, filter }),
    }),
    defineAction({
      access: 'endpointsAndRead',
      operationId: 'rotateEndpointSecret',
      field: 'rotateEndpointSecret',
      summary: 'Rotate the signing secret of a webhook',
      description:
        'Creates a new signing secret. For 24 hours requests are also signed with the old one, so that receivers can switch.',
      graphqlDescription:
        'Creates a new signing secret for a webhook. Requests are also signed with the old secret for 24 hours.',
      method: 'POST',
      path: '/:id/rotate-secret',
      target: { argument: 'id', argumentDescription: 'ID of the webhook endpoint.' },
      input: z.object({
        verificationToken: restOnly(z.boolean().optional()).meta({
          description: '`true` to also replace the verification token. The old token stops working at once.',
        }),
        replaceVerificationToken: graphqlOnly(z.boolean().default(false)).meta({
          description: 'Whether to also replace the verification token. The old token stops working at once.',
        }),
      }),
      inputName: 'RotateSecret',
      example: { verificationToken: true },
      isInputOptional: true,
      output: 'resource',
      returns: 'WebhookEndpoint',
      shows: ['WebhookEndpoint.signingSecrets'],
      errors: [],
      run: (context, { verificationToken, replaceVerificationToken }, id) =>
        rotateWebhookSecret(context, id, { isTokenReplaced: verificationToken === true || replaceVerificationToken }),
    }),
    defineAction({
      access: 'endpointsAndRead',
      what: 'Test an endpoint',
      field: 'testEndpoint',
      summary: 'Test an endpoint',
      description: `Sends a sample to an endpoint, using the same code and form as real mail. Limited to ${MAX_TESTS} per minute. The response can take two minutes.`,
      respondWithinMs: TEST_RESPONSE_MS,
      method: 'POST',
      path: '',
      target,
      input: z.object({
        format: webhookFormat.nullish().meta({
          description: 'For webhooks: format of the sample. Null uses that of the endpoint.',
        }),
        overrideUrl: optionalText.meta({
          ...secretUrl,
          description: 'For webhooks: URL to test instead of that of the endpoint.',
        }),
        event: optionalText.meta({
          description:
            'For webhooks: kind of event to post, such as `email.bounced`: the newest one, or an example. Null posts a made-up received email.',
        }),
      }),
      output: endpointTest,
      errors: [],
      async run(context, { format = null, overrideUrl = null, event = null }, id) {
        const outcome = await testEndpoint(context, id, { webhookFormat: format, overrideUrl, event });
        const { payload } = outcome;
        return { ...outcome, endpointId: id, payload: payload === null ? null : (JSON.parse(payload) as unknown) };
      },
    }),
  ],
};
