import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { listEmailDeliveries, listEndpointDeliveries } from '../../../operations/endpoints/deliveries.ts';
import { access } from '../../admission/access.ts';
import { errorBody, idInPath, limit, listBody, listOf, offset, type RestOptions } from '../shapes.ts';
import { deliveryBody, deliveryBodyOf, deliveryStatus } from './delivery-wire.ts';

const listQuery = z.object({
  limit: limit(),
  offset,
  status: deliveryStatus.optional().meta({ description: 'Returns deliveries with this status only.' }),
});

export const deliveryRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/endpoints/:id/deliveries',
    {
      config: { access: access.readAccount },
      schema: {
        operationId: 'listEndpointDeliveries',
        summary: 'List the deliveries to an endpoint',
        description:
          'Returns deliveries, newest first, each with all of its attempts: the request, the response and the duration.',
        tags: ['Endpoints'],
        params: idInPath,
        querystring: listQuery,
        response: { 200: listOf(deliveryBody), default: errorBody },
      },
    },
    async (request) => {
      const { status, ...page } = request.query;
      const found = await listEndpointDeliveries(contextOf(request), request.params.id, { status }, page);
      return listBody(found.deliveries.map(deliveryBodyOf), page, found.total);
    },
  );

  app.get(
    '/emails/:id/deliveries',
    {
      config: { access: access.read },
      schema: {
        operationId: 'listEmailDeliveries',
        summary: 'List the deliveries of a received email',
        description: 'Returns deliveries, newest first, each with all of its attempts. Sent emails have none.',
        tags: ['Emails'],
        params: idInPath,
        querystring: listQuery,
        response: { 200: listOf(deliveryBody), default: errorBody },
      },
    },
    async (request) => {
      const { status, ...page } = request.query;
      const found = await listEmailDeliveries(contextOf(request), request.params.id, { status }, page);
      return listBody(found.deliveries.map(deliveryBodyOf), page, found.total);
    },
  );
};
