import { z } from 'zod';
import { secret } from '../../../core/accounts/secret-fields.ts';
import { ENDPOINT_CONFIG_FIELDS } from '../../../core/endpoints/endpoint-config.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { configSecrets } from '../../../operations/domains/email-address-capability.ts';
import { endpointActionCapability } from '../../../operations/endpoints/endpoint-action-capability.ts';
import { endpointCapability } from '../../../operations/endpoints/endpoint-change-capability.ts';
import { endpointResource } from '../../../operations/endpoints/endpoint-types.ts';
import type { Endpoint, EndpointDetails } from '../../../operations/endpoints/endpoints.ts';
import { capabilityRoutes, findRequest } from '../capability-routes.ts';
import { instant, wireInstant } from '../shapes.ts';
import { plainWireObject } from '../wire-object.ts';
import { deliveryBody, writeDelivery } from './deliveries.ts';

const object = plainWireObject(endpointResource, 'camel');

/** Converts an endpoint, without what uses it. */
export function writeEndpoint(context: OperationContext, endpoint: Endpoint): Record<string, unknown> {
  return object.writeRow(context, endpoint);
}

const endpointDetails = z
  .object({
    ...object.shape.shape,
    signingSecret: z
      .string()
      .nullable()
      .meta({ ...secret, description: 'Standard Webhooks secret. Null if the endpoint is no webhook.' }),
    signingSecrets: z
      .array(z.object({ secret: z.string().meta(secret), validUntil: instant.nullable() }))
      .meta({ description: 'Secrets that sign requests: the current one, and the previous one for 24 hours.' }),
    recentDeliveries: z.array(deliveryBody),
    associatedEmails: z.array(
      z.object({ id: z.string(), address: z.string(), isActive: z.boolean(), createdAt: instant }),
    ),
    catchAllDomains: z.array(z.object({ id: z.string(), domain: z.string(), status: z.string() })),
  })
  .meta({ id: 'EndpointDetails' });

/** The response with what uses the endpoint. */
const response = {
  shape: () => endpointDetails,
  bodyOf: (usual: Record<string, unknown>, endpoint: EndpointDetails, context: OperationContext) => ({
    ...usual,
    signingSecret: endpoint.signingSecrets[0]?.secret ?? null,
    signingSecrets: endpoint.signingSecrets.map(({ secret, validUntil }) => ({
      secret,
      validUntil: wireInstant(validUntil),
    })),
    recentDeliveries: endpoint.recentDeliveries.map((delivery) => writeDelivery(context, delivery)),
    associatedEmails: endpoint.addresses.map((address) => ({ ...address, createdAt: wireInstant(address.createdAt) })),
    catchAllDomains: endpoint.catchAllDomains.map(({ id, name, status }) => ({ id, domain: name, status })),
  }),
};

/** Fields of a config of any type, for warnings of unknown fields. */
const configFields = z
  .object(Object.fromEntries(ENDPOINT_CONFIG_FIELDS.map((name) => [name, z.unknown()])))
  .meta(configSecrets);

/** What takes a config. */
const withConfig = (operationId: string) => ({
  response,
  route: { config: { bodyFields: findRequest(endpointCapability, operationId).extend({ config: configFields }) } },
});

export const endpointRoutes = capabilityRoutes<EndpointDetails>(endpointCapability, {
  operations: {
    createEndpoint: withConfig('createEndpoint'),
    getEndpoint: { response },
    updateEndpoint: withConfig('updateEndpoint'),
  },
});

export const endpointActionRoutes = capabilityRoutes<EndpointDetails>(endpointActionCapability, {
  operations: { rotateEndpointSecret: { response } },
});
