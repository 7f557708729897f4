import { builder } from './builder.ts';
import { EndpointNode } from './nodes.ts';

const EndpointType = builder.enumType('EndpointType', {
  values: {
    WEBHOOK: { value: 'webhook' },
    EMAIL: { value: 'email' },
    EMAIL_GROUP: { value: 'email_group' },
  } as const,
});

EndpointNode.implement({
  fields: (t) => ({
    name: t.exposeString('name'),
    type: t.expose('type', { type: EndpointType }),
    isActive: t.exposeBoolean('isActive'),
    description: t.exposeString('description', { nullable: true }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
});

builder.queryField('endpoint', (t) =>
  t.field({
    type: EndpointNode,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    resolve: (_root, { id }) => id,
  }),
);
