import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { secretUrl } from '../../../core/accounts/secret-fields.ts';
import { replayCapability, replayInput } from '../../../operations/endpoints/endpoint-capability.ts';
import { MAX_TESTS, TEST_RESPONSE_MS, testEndpoint } from '../../../operations/endpoints/endpoint-test.ts';
import { FORMAT_NAMES, type FormatName, formats } from '../../../operations/endpoints/endpoint-types.ts';
import { MAX_REPLAYED } from '../../../operations/endpoints/replays.ts';
import { access } from '../../admission/access.ts';
import { capabilityRoutes } from '../capability-routes.ts';
import { wireInput } from '../capability-shapes.ts';
import { errorBody, idInPath, type RestOptions, text } from '../shapes.ts';

const replayLimit = z
  .number()
  .int()
  .min(1)
  .default(MAX_REPLAYED)
  .transform((value) => Math.min(value, MAX_REPLAYED))
  .meta({ description: `Maximum number of emails. Values above ${MAX_REPLAYED} count as ${MAX_REPLAYED}.` });

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

const testResponse = z
  .object({
    success: z.boolean(),
    message: z.string(),
    responseTime: z.number().int().meta({ description: 'Milliseconds.' }),
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

export const endpointTestRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/endpoints/:id/test',
    {
      config: { access: access.endpointsAndRead, respondWithinMs: TEST_RESPONSE_MS },
      schema: {
        operationId: 'testEndpoint',
        summary: 'Test an endpoint',
        description: `Sends a sample, using the same code and form as real mail. If the receiver fails, the request still succeeds and \`success\` is false. Limited to ${MAX_TESTS} per minute.`,
        tags: ['Endpoints'],
        params: idInPath,
        body: testInput,
        response: { 200: testResponse, 400: refusedTest, default: errorBody },
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

function isFormatName(value: unknown): value is FormatName {
  return (FORMAT_NAMES as readonly unknown[]).includes(value);
}
