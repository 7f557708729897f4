import { z } from 'zod';
import { routeCapability } from '../../../operations/routing/route-capability.ts';
import type { ExplainedRoute } from '../../../operations/routing/routes.ts';
import { capabilityRoutes } from '../capability-routes.ts';
import { deliveryBody, writeDelivery } from '../endpoints/deliveries.ts';
import { MAIL_BODY_LIMIT } from '../sending/outgoing-shapes.ts';

const deliveries = z.array(deliveryBody).meta({ description: 'Deliveries, oldest first, each with its attempts.' });

/** A route with its deliveries; made once, as it is a component of openapi.json. */
let routeBody: z.ZodType | undefined;

const response = {
  shape: ({ shape: { would, ...usual } }: z.ZodObject<Record<string, z.ZodType>>) =>
    (routeBody ??= z.object({ ...usual, deliveries, would: would as z.ZodType }).meta({ id: 'EmailRoute' })),
  bodyOf: (usual: object, route: ExplainedRoute, context: Parameters<typeof writeDelivery>[0]) => ({
    ...usual,
    deliveries: route.deliveries.map((delivery) => writeDelivery(context, delivery)),
  }),
};

export const routeRoutes = capabilityRoutes<ExplainedRoute & { id: string }>(routeCapability, {
  operations: {
    explainEmailRoute: { response },
    explainRoute: { response, route: { bodyLimit: MAIL_BODY_LIMIT } },
  },
});
