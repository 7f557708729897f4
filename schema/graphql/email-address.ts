import { builder } from './builder.ts';
import { DomainNode, EmailAddressNode, EndpointInterface } from './nodes.ts';

EmailAddressNode.implement({
  fields: (t) => ({
    address: t.exposeString('address'),
    isActive: t.exposeBoolean('isActive'),
    domain: t.field({ type: DomainNode, nullable: true, resolve: (address) => address.domain.id }),
    endpoint: t.field({ type: EndpointInterface, nullable: true, resolve: (address) => address.endpoint?.id ?? null }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
});

builder.queryField('emailAddress', (t) =>
  t.field({
    type: EmailAddressNode,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    resolve: (_root, { id }) => id,
  }),
);
