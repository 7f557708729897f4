import { type Account, readAccount } from '../../operations/account.ts';
import { builder } from './builder.ts';

const Viewer = builder.objectRef<Account>('Viewer').implement({
  description: 'The account whose key asks.',
  fields: (t) => ({
    id: t.id({ resolve: (account) => account.userId }),
    email: t.exposeString('email', { nullable: true }),
    createdAt: t.expose('createdAt', { type: 'DateTime', nullable: true }),
  }),
});

builder.queryField('viewer', (t) =>
  t.field({ type: Viewer, resolve: (_root, _args, { reads }) => readAccount(reads) }),
);
