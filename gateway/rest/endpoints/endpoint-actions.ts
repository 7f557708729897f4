import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { secretUrl } from '../../../core/accounts/secret-fields.ts';
import { DEFAULT_MAX_PAYLOAD_BYTES } from '../../../core/endpoints/endpoint-config.ts';
import { payloadPreview, replayCapability, replayInput } from '../../../operations/endpoints/endpoint-capability.ts';
import { rotateSecret } from '../../../operations/endpoints/endpoint-changes.ts';
import { TEST_ANSWER_MS, testEndpoint } from '../../../operations/endpoints/endpoint-test.ts';
import { previewPayload } from '../../../operations/endpoints/payload-preview.ts';
import { MAX_REPLAYED } from '../../../operations/endpoints/replays.ts';
import { endpointSubscription, payloadPreviewShape } from '../../../schema/input-shapes.ts';
import { access } from '../../admission/access.ts';
import { capabilityRoutes } from '../capability-routes.ts';
import { makeWriter, wireInput, wireOutput } from '../capability-shapes.ts';
import { errorBody, idInPath, type RestOptions, text } from '../shapes.ts';
import { endpointDetails, endpointDetailsOf, FORMAT_NAMES, formats } from './endpoint-wire.ts';

const rotation = z
  .object({
    verificationToken: z
      .boolean()
      .optional()
      .meta({ description: '`true` to also replace the verification token. The old token stops working at once.' }),
  })
  .nullish()
  .meta({ id: 'RotateSecret', examples: [{ verificationToken: true }] });

const replayLimit = z
  .number()
  .int()
  .min(1)
  .default(MAX_REPLAYED)
  .transform((value) => Math.min(value, MAX_REPLAYED))
  .meta({ description: `Maximum number of emails. Values above ${MAX_REPLAYED} count as ${MAX_REPLAYED}.` });

const previewInput = payloadPreviewShape
  .extend({
    cursor: z.string().meta({ description: 'Cursor of a stored event.' }),
    filter: endpointSubscription.filter,
    maxPayloadOctets: z.number().int().default(DEFAULT_MAX_PAYLOAD_BYTES).meta({
      description: 'Maximum size of the request body in bytes, 10,000 to 25,000,000.',
    }),
  })
  .meta({
    id: 'PreviewPayload',
    'x-examples': [{ query: '{ email { subject from { address } } }', cursor: '…' }],
  });

const previewBody = wireOutput(payloadPreview, 'camel');
const writePreview = makeWriter(payloadPreview, 'camel');

export const replayRoutes = capabilityRoutes(replayCapability, {
  operations: {
    replayEndpointDeliveries: { request: wireInput(replayInput, 'camel').extend({ limit: replayLimit }) },
  },
});

const testInput = z
  .object({
    webhookFormat: z
      .unknown()
      .optional()
      .meta({
        type: ['string', 'null'],
        enum: [...FORMAT_NAMES, null],
        description: 'The default is the format of the endpoint.',
      }),
    overrideUrl: text
      .nullish()
      .meta({ ...secretUrl, minLength: 1, description: 'For webhooks: URL to test instead of that of the endpoint.' }),
    event: text.nullish().meta({
      description:
        'For webhooks: kind of event to post, the newest one of your account, or an example. The default is `email.received`, with a made-up email.',
    }),
  })
  .nullish()
  .meta({ id: 'TestEndpoint', examples: [{ webhookFormat: 'native' }] });

const testAnswer = z
  .object({
    success: z.boolean(),
    message: z.string(),
    responseTime: z.number().meta({ description: 'Milliseconds.' }),
    statusCode: z.number().int().optional(),
    responseBody: z.string().optional().meta({ description: 'First 1,000 characters.' }),
    webhookFormat: z
      .enum(FORMAT_NAMES)
      .optional()
      .meta({ description: 'Format of the request if you set one, or that of the endpoint.' }),
    urlTested: z.string().optional().meta(secretUrl),
    testPayload: z.unknown().optional().meta({ description: 'The request body, in the same form as in production.' }),
    error: z.string().optional().meta({ description: 'Error message if there was no response.' }),
  })
  .meta({ id: 'EndpointTest' });

const refusedTest = z.looseObject({ ...errorBody.shape });

export const endpointActionRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/endpoints/preview-payload',
    {
      config: { access: access.read },
      schema: {
        operationId: 'previewPayload',
        summary: 'Preview a payload query',
        description: 'Runs a payload query for a stored event, as a delivery does. Nothing is sent.',
        tags: ['Endpoints'],
        body: previewInput,
        response: { 200: previewBody, default: errorBody },
      },
    },
    async (request) => {
      const { query, cursor, filter, maxPayloadOctets } = request.body;
      const preview = await previewPayload(contextOf(request), {
        query,
        cursor,
        filter: filter ?? null,
        maxPayloadOctets,
      });
      return writePreview?.(preview) as Record<string, unknown>;
    },
  );

  app.post(
    '/endpoints/:id/rotate-secret',
    {
      config: { access: access.endpoints },
      schema: {
        operationId: 'rotateEndpointSecret',
        summary: 'Rotate the signing secret of a webhook',
        description:
          'Creates a new signing secret. For 24 hours requests are also signed with the old one, so that receivers can switch.',
        tags: ['Endpoints'],
        params: idInPath,
        body: rotation,
        response: { 200: endpointDetails, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const isTokenReplaced = request.body?.verificationToken === true;
      return endpointDetailsOf(await rotateSecret(context, request.params.id, { isTokenReplaced }), context);
    },
  );
};

export const endpointTestRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/endpoints/:id/test',
    {
      config: { access: access.endpoints, answerWithinMs: TEST_ANSWER_MS },
      schema: {
        operationId: 'testEndpoint',
        summary: 'Test an endpoint',
        description:
          'Sends a sample, using the same code and form as real mail. If the receiver fails, the request still succeeds and `success` is false. Limited to ten per minute.',
        tags: ['Endpoints'],
        params: idInPath,
        body: testInput,
        response: { 200: testAnswer, 400: refusedTest, default: errorBody },
      },
    },
    async (request, reply) => {
      const { webhookFormat, overrideUrl, event } = request.body ?? {};
      const format = webhookFormat ?? null;
      if (format !== null && !isFormatName(format)) return reply.code(400).send(INVALID_FORMAT);
      const outcome = await testEndpoint(contextOf(request), request.params.id, {
        webhookFormat: format === null ? null : formats[format],
        overrideUrl: overrideUrl ?? null,
        event: event ?? null,
      });
      const { success, message, responseTimeMs, statusCode, responseBody, payload } = outcome;
      return {
        success,
        message,
        responseTime: responseTimeMs,
        ...(!success && statusCode === null ? { error: message } : {}),
        // Endpoints that forward have no URL.
        ...(outcome.webhookFormat === null
          ? {}
          : {
              // Types of clients have these absent, not null, if there was no response.
              ...(statusCode === null ? {} : { statusCode }),
              ...(responseBody === null ? {} : { responseBody }),
              webhookFormat: format ?? outcome.webhookFormat,
              ...(outcome.urlTested === null ? {} : { urlTested: outcome.urlTested }),
              ...(payload === null ? {} : { testPayload: JSON.parse(payload) as unknown }),
            }),
      };
    },
  );
};

/** The body has more fields than other errors. */
const INVALID_FORMAT = {
  error: 'Invalid webhook format',
  message: 'Invalid webhook format',
  statusCode: 400,
  name: 'validation_error',
  details: [{ field: 'webhookFormat', message: `Must be one of ${FORMAT_NAMES.join(', ')}` }],
  validFormats: [...FORMAT_NAMES],
};

function isFormatName(value: unknown): value is (typeof FORMAT_NAMES)[number] {
  return (FORMAT_NAMES as readonly unknown[]).includes(value);
}
