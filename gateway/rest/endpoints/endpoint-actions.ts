import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { secretUrl } from '../../../core/accounts/secret-fields.ts';
import { DEFAULT_MAX_PAYLOAD_BYTES } from '../../../core/endpoints/endpoint-config.ts';
import { rotateSecret } from '../../../operations/endpoints/endpoint-changes.ts';
import { TEST_ANSWER_MS, testEndpoint } from '../../../operations/endpoints/endpoint-test.ts';
import { previewPayload } from '../../../operations/endpoints/payload-preview.ts';
import { replayDeliveries, retryWaiting } from '../../../operations/endpoints/replays.ts';
import { endpointSubscription, payloadPreviewShape, replayLimitShape } from '../../../schema/input-shapes.ts';
import { access } from '../../admission/access.ts';
import { errorBody, idInPath, instant, type RestOptions, text, wireInstant } from '../shapes.ts';
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

const payloadPreview = z
  .object({
    object: z.literal('payload_preview'),
    data: z.unknown().meta({ description: 'Result of the query, `data` of the payload. Null if it is invalid.' }),
    truncated: z.array(z.string()).meta({
      description: 'Paths of texts that links replace because the payload is too large.',
    }),
    sizeBytes: z.number().int().meta({ description: 'Size of the request body in bytes.' }),
    errors: z
      .array(
        z.object({
          message: z.string(),
          line: z.number().int().nullable().meta({ description: 'Line in the query, from 1.' }),
          column: z.number().int().nullable().meta({ description: 'Column in the line, from 1.' }),
        }),
      )
      .meta({ description: 'Errors of the query, or of single fields.' }),
  })
  .meta({ id: 'PayloadPreview' });

const replayInput = z
  .object({
    since: z.iso
      .datetime({ offset: true })
      .meta({ description: 'Start of the period, by creation time of the deliveries.' }),
    until: z.iso.datetime({ offset: true }).optional().meta({ description: 'End of the period. The default is now.' }),
    status: z
      .enum(['failed', 'all'])
      .default('failed')
      .meta({ description: 'Emails whose latest delivery failed, or all emails.' }),
    limit: replayLimitShape,
  })
  .meta({ id: 'ReplayDeliveries', 'x-examples': [{ since: '2026-11-21T08:00:00Z', status: 'failed' }] });

const replayAnswer = z
  .object({
    success: z.literal(true),
    message: z.string(),
    replayed: z.number().int(),
    hasMore: z.boolean().meta({ description: 'Whether there are more: call again with this `until`.' }),
    until: instant,
    skipped: z
      .object({
        waiting: z.number().int().meta({
          description:
            'Deliveries that are not over: they are attempted now, or wait for a retry. See POST /endpoints/{id}/retry-waiting.',
        }),
        succeeded: z.number().int().meta({ description: 'Deliveries that succeeded. 0 for a replay of all emails.' }),
        deliveredAgain: z.number().int().meta({
          description: 'Deliveries of emails that were delivered again later, or that another delivery waits for.',
        }),
      })
      .meta({ description: 'Deliveries of the period that were left out, among the latest 10,000.' }),
  })
  .meta({ id: 'Replay' });

const retriedAnswer = z
  .object({
    success: z.literal(true),
    message: z.string(),
    retried: z.number().int(),
    hasMore: z.boolean().meta({ description: 'Whether more deliveries wait: call again.' }),
  })
  .meta({ id: 'RetriedWaiting' });

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
        response: { 200: payloadPreview, default: errorBody },
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
      const { data, truncated, sizeBytes, errors } = preview;
      return {
        object: 'payload_preview' as const,
        data,
        truncated: [...truncated],
        sizeBytes,
        errors: errors.map(({ message, line, column }) => ({ message, line, column })),
      };
    },
  );

  app.post(
    '/endpoints/:id/rotate-secret',
    {
      config: { access: access.manage },
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

  app.post(
    '/endpoints/:id/replay',
    {
      config: { access: access.manage },
      schema: {
        operationId: 'replayEndpointDeliveries',
        summary: 'Replay deliveries to an endpoint',
        description:
          'Creates a new delivery, due at once, for each received email whose latest delivery to the endpoint was created in the period. Skips pending deliveries and emails that were delivered again later.',
        tags: ['Endpoints'],
        params: idInPath,
        body: replayInput,
        response: { 200: replayAnswer, default: errorBody },
      },
    },
    async (request) => {
      const { since, until, status, limit } = request.body;
      const selection = { since: new Date(since), until: until === undefined ? null : new Date(until), status, limit };
      const replay = await replayDeliveries(contextOf(request), request.params.id, selection);
      const emails = replay.count === 1 ? '1 email is' : `${replay.count} emails are`;
      return {
        success: true as const,
        message: `${emails} being delivered again`,
        replayed: replay.count,
        hasMore: replay.hasMore,
        until: wireInstant(replay.until),
        skipped: replay.skipped,
      };
    },
  );

  app.post(
    '/endpoints/:id/retry-waiting',
    {
      config: { access: access.manage },
      schema: {
        operationId: 'retryWaitingDeliveries',
        summary: 'Retry all waiting deliveries to an endpoint',
        description:
          'Attempts deliveries now that wait for their next retry, up to 2,000, the earliest first. Use it when the receiver is back after an outage. Attempts so far still count.',
        tags: ['Endpoints'],
        params: idInPath,
        response: { 200: retriedAnswer, default: errorBody },
      },
    },
    async (request) => {
      const { count, hasMore } = await retryWaiting(contextOf(request), request.params.id);
      const message = `${count === 1 ? '1 delivery is' : `${count} deliveries are`} being attempted now`;
      return { success: true as const, message, retried: count, hasMore };
    },
  );

  app.post(
    '/endpoints/:id/test',
    {
      config: { access: access.manage, answerWithinMs: TEST_ANSWER_MS },
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
