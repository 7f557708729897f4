import type { Endpoint } from '../../operations/endpoints.ts';
import { builder } from './builder.ts';
import { EndpointInterface, endpointTypeName } from './nodes.ts';

EndpointInterface.implement({
  description: 'Where received mail goes.',
  interfaces: [builder.nodeInterfaceRef()],
  resolveType: (endpoint) => endpointTypeName(endpoint),
  fields: (t) => ({
    id: t.exposeID('id'),
    name: t.exposeString('name'),
    isActive: t.exposeBoolean('isActive'),
    description: t.exposeString('description', { nullable: true }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
});

const isOfType = (type: Endpoint['type']) => (value: unknown) => (value as Partial<Endpoint> | null)?.type === type;

builder.objectRef<Endpoint>('WebhookEndpoint').implement({
  description: 'Mail is posted to a URL.',
  interfaces: [builder.nodeInterfaceRef(), EndpointInterface],
  isTypeOf: isOfType('webhook'),
});

builder.objectRef<Endpoint>('EmailEndpoint').implement({
  description: 'Mail is forwarded to one address.',
  interfaces: [builder.nodeInterfaceRef(), EndpointInterface],
  isTypeOf: isOfType('email'),
});

builder.objectRef<Endpoint>('EmailGroupEndpoint').implement({
  description: 'Mail is forwarded to several addresses.',
  interfaces: [builder.nodeInterfaceRef(), EndpointInterface],
  isTypeOf: isOfType('email_group'),
});

builder.queryField('endpoint', (t) =>
  t.field({
    type: EndpointInterface,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    resolve: (_root, { id }) => id,
  }),
);
