import { builder } from './builder.ts';
import { DomainNode } from './nodes.ts';

const DomainStatus = builder.enumType('DomainStatus', {
  values: { PENDING: { value: 'pending' }, VERIFIED: { value: 'verified' }, FAILED: { value: 'failed' } } as const,
});

DomainNode.implement({
  fields: (t) => ({
    name: t.exposeString('name'),
    status: t.expose('status', { type: DomainStatus }),
    canReceive: t.exposeBoolean('canReceive', { description: 'Verified, and its mail comes here.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
});

builder.queryField('domain', (t) =>
  t.field({
    type: DomainNode,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    resolve: (_root, { id }) => id,
  }),
);
