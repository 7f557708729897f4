import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { listEmailDeliveries, listEndpointDeliveries } from '../../../operations/endpoints/deliveries.ts';
import { access } from '../../admission/access.ts';
import { errorBody, idInPath, limit, listBody, listOf, offset, type RestOptions } from '../shapes.ts';
import { deliveryBody, deliveryBodyOf, deliveryStatus } from './delivery-wire.ts';

const listQuery = z.object({
  limit: limit(),
  offset,
  status: deliveryStatus.optional().meta({ description: 'deliveries of one status' }),
});

export const deliveryRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/endpoints/:id/deliveries',
    {
      config: { access: access.readAccount },
      schema: {
        operationId: 'listEndpointDeliveries',
        summary: 'List the deliveries to an endpoint',
        description: 'Newest first, each with all of its attempts: what was sent, what came back, how long it took.',
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
        description: 'Newest first, each with all of its attempts. Sent mail has none.',
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
