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
      .meta({ description: 'ID of the endpoint. The default is where the email is routed now.' }),
    delivery_id: z.string().nullish().meta({ description: 'ID of an unsuccessful delivery of the email.' }),
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
        summary: 'Retry delivery of a received email',
        description:
          'Creates a new delivery, due at once. A pending delivery is attempted now instead, so that nothing is delivered twice.',
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
