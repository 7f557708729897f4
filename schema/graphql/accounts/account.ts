import { brandWithType } from '@pothos/core';
import { type Account, readAccount } from '../../../operations/accounts/account.ts';
import {
  accountLimits,
  accountVia,
  readLimits,
  readService,
  serviceSettings,
} from '../../../operations/accounts/account-capability.ts';
import { suggestDomain } from '../../../operations/domains/suggest-domain.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { typeFor } from '../capability-shapes.ts';
import { addNodeKind } from '../node-kinds.ts';
import { addNodeType } from '../nodes.ts';

const Viewer = builder.objectRef<Account>('Viewer').implement({
  description: 'The account that owns the API key or session of this request.',
  interfaces: [builder.nodeInterfaceRef()],
  isTypeOf: (value) => typeof (value as Partial<Account>).workspaceId === 'string' && 'email' in (value as object),
  fields: (t) => ({
    id: t.id({ description: 'ID of the account.', resolve: (account) => account.workspaceId }),
    email: t.exposeString('email', {
      nullable: true,
      description: 'Email address of the account. Null while the account is being deleted.',
    }),
    name: t.exposeString('name', { description: 'Name of the account owner; may be empty.' }),
    via: t.field({
      type: typeFor(accountVia),
      description: 'Whether the request uses an API key or a dashboard session.',
      resolve: ({ via }) => via,
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the account was created. Null while the account is being deleted.',
    }),
    suggestedDomain: t.string({
      nullable: true,
      description:
        'A domain name that the account can add without DNS records. Null if the service trusts no such names, or the account has a trusted domain.',
      resolve: (_account, _args, { reads }) => suggestDomain(reads),
    }),
    limits: t.field({
      type: typeFor(accountLimits),
      description: 'Rate and sending limits of the account.',
      // Its functions run for the fields that are requested.
      resolve: (_account, _args, { reads }) => readLimits(reads) as never,
    }),
    service: t.field({
      type: typeFor(serviceSettings),
      description: 'Settings of this server.',
      resolve: (_account, _args, { reads }) => readService(reads),
    }),
  }),
});

// A key can access only its own account.
addNodeKind('usr', async (id, { reads }) => {
  if (id !== reads.workspaceId) return null;
  const account = await readAccount(reads);
  brandWithType(account, 'Viewer' as never);
  return account;
});

builder.queryField('viewer', (t) =>
  t.field({
    type: Viewer,
    access: access.read,
    description: 'The account that makes this request, and its limits.',
    resolve: (_root, _args, { reads }) => readAccount(reads),
  }),
);

addNodeType('Viewer', Viewer);
