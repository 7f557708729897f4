import { brandWithType } from '@pothos/core';
import { type Account, countSendsLeft, readAccount } from '../../../operations/accounts/account.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { addNodeKind } from '../node-kinds.ts';

export const AccountLimits = builder.objectRef<object>('AccountLimits').implement({
  description:
    'What one account may do within some time. The fields x-ratelimit-* of each answer tell what is left of requests.',
  fields: (t) => ({
    requestsPerSecond: t.int({
      nullable: true,
      description: 'Requests within a second, over all keys, REST and GraphQL together; null: no limit.',
      resolve: (_limits, _args, { reads }) => reads.settings.requestsPerSecond || null,
    }),
    sendsPerHour: t.int({
      nullable: true,
      description: 'Emails within an hour; null: no limit.',
      resolve: (_limits, _args, { reads }) => reads.settings.sendLimitPerHour || null,
    }),
    sendsLeft: t.int({
      nullable: true,
      description: 'Emails that may be sent now; null: no limit.',
      resolve: (_limits, _args, { reads }) => countSendsLeft(reads),
    }),
  }),
});

export const ServiceSettings = builder.objectRef<object>('ServiceSettings').implement({
  description: 'How the service is set up, as far as a client needs to know.',
  fields: (t) => ({
    publicUrl: t.field({
      type: 'URL',
      description: 'The base of its links and of the REST interface.',
      resolve: (_settings, _args, { reads }) => reads.settings.publicUrl,
    }),
    mailHostname: t.string({
      description: 'The name of its mail server: what MX records point to.',
      resolve: (_settings, _args, { reads }) => reads.settings.mailHostname,
    }),
    trustedDomains: t.stringList({
      description: 'Names that can be added as domains without proof by DNS.',
      resolve: (_settings, _args, { reads }) => [...reads.settings.trustedDomains],
    }),
    hasGuardModel: t.boolean({
      description: 'Whether guard rules can ask a language model.',
      resolve: (_settings, _args, { reads }) => reads.settings.hasGuardModel,
    }),
  }),
});

const ViewerVia = builder.enumType('ViewerVia', {
  description: 'What a request was let in by.',
  values: {
    SESSION: { value: 'session', description: 'The session of somebody who is signed in to the dashboard.' },
    API_KEY: { value: 'key', description: 'An API key.' },
  },
});

export const Viewer = builder.objectRef<Account>('Viewer').implement({
  description: 'The account whose key or session asks.',
  interfaces: [builder.nodeInterfaceRef()],
  isTypeOf: (value) => typeof (value as Partial<Account>).userId === 'string' && 'email' in (value as object),
  fields: (t) => ({
    id: t.id({ description: 'The id of the account.', resolve: (account) => account.userId }),
    email: t.exposeString('email', {
      nullable: true,
      description: 'With which the account was made; null: it is being deleted.',
    }),
    name: t.exposeString('name', { description: 'The name of its owner; may be empty.' }),
    via: t.expose('via', { type: ViewerVia, description: 'Whether a key asks, or somebody who is signed in.' }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the account was made; null: it is being deleted.',
    }),
    limits: t.field({
      type: AccountLimits,
      description: 'What the account may do within some time.',
      resolve: () => ({}),
    }),
    service: t.field({
      type: ServiceSettings,
      description: 'How the service is set up.',
      resolve: () => ({}),
    }),
  }),
});

// One account is all that a key reaches.
addNodeKind('usr', async (id, { reads }) => {
  if (id !== reads.userId) return null;
  const account = await readAccount(reads);
  brandWithType(account, 'Viewer' as never);
  return account;
});

builder.queryField('viewer', (t) =>
  t.field({
    type: Viewer,
    access: access.readAccount,
    description: 'Who asks, and what that account may do.',
    resolve: (_root, _args, { reads }) => readAccount(reads),
  }),
);
