import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { retryEmail } from '../../../operations/endpoints/retries.ts';
import { access } from '../../admission/access.ts';
import { errorBody, idInPath, type RestOptions } from '../shapes.ts';

const retryBody = z
  .object({
    endpoint_id: z
      .string()
      .nullish()
      .meta({ description: 'the endpoint to deliver to; default: where the route of the email leads now' }),
    delivery_id: z.string().nullish().meta({ description: 'a delivery of the email that did not succeed' }),
  })
  .nullish()
  .meta({ id: 'RetryEmail', examples: [{ endpoint_id: 'ep_01931f3e5a7b7c1d8e2f3a4b5c6d7e8f' }] });

const retryAnswer = z
  .object({
    success: z.literal(true),
    message: z.string(),
    delivery_id: z.string(),
    delivery_ids: z.array(z.string()),
  })
  .meta({ id: 'Retry' });

export const retryRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/emails/:id/retry',
    {
      config: { access: access.sendAccount },
      schema: {
        operationId: 'retryEmail',
        summary: 'Deliver a received email again',
        description:
          'Makes a new delivery, due at once. A delivery that is still pending is tried now instead, so that nothing comes twice.',
        tags: ['Emails'],
        params: idInPath,
        body: retryBody,
        response: { 200: retryAnswer, 409: errorBody, default: errorBody },
      },
    },
    async (request) => {
      const { endpoint_id: endpointId = null, delivery_id: deliveryId = null } = request.body ?? {};
      const deliveryIds = await retryEmail(contextOf(request), request.params.id, { endpointId, deliveryId });
      const [first = ''] = deliveryIds;
      return {
        success: true as const,
        message: 'The email is being delivered again',
        delivery_id: first,
        delivery_ids: deliveryIds,
      };
    },
  );
};
