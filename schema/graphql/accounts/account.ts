import { brandWithType } from '@pothos/core';
import { type Account, countSendsLeft, readAccount } from '../../../operations/accounts/account.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { addNodeKind } from '../node-kinds.ts';

export const AccountLimits = builder.objectRef<object>('AccountLimits').implement({
  description:
    'Rate and sending limits of the account. The `x-ratelimit-*` headers of each response show the requests that are left.',
  fields: (t) => ({
    requestsPerSecond: t.int({
      nullable: true,
      description: 'Requests per second, across all API keys, REST and GraphQL combined. Null means no limit.',
      resolve: (_limits, _args, { reads }) => reads.settings.requestsPerSecond || null,
    }),
    sendsPerHour: t.int({
      nullable: true,
      description: 'Emails per hour. Null means no limit.',
      resolve: (_limits, _args, { reads }) => reads.settings.sendLimitPerHour || null,
    }),
    sendsLeft: t.int({
      nullable: true,
      description: 'Emails that can still be sent now. Null means no limit.',
      resolve: (_limits, _args, { reads }) => countSendsLeft(reads),
    }),
  }),
});

export const ServiceSettings = builder.objectRef<object>('ServiceSettings').implement({
  description: 'Settings of this Postroom server that clients need to know.',
  fields: (t) => ({
    publicUrl: t.field({
      type: 'URL',
      description: 'Base URL of links and of the REST API.',
      resolve: (_settings, _args, { reads }) => reads.settings.publicUrl,
    }),
    mailHostname: t.string({
      description: 'Host name of the mail server, which MX records point to.',
      resolve: (_settings, _args, { reads }) => reads.settings.mailHostname,
    }),
    trustedDomains: t.stringList({
      description: 'Domain names that can be added without DNS verification.',
      resolve: (_settings, _args, { reads }) => [...reads.settings.trustedDomains],
    }),
    hasGuardModel: t.boolean({
      description: 'Whether guard rules can use a language model.',
      resolve: (_settings, _args, { reads }) => reads.settings.hasGuardModel,
    }),
  }),
});

const ViewerVia = builder.enumType('ViewerVia', {
  description: 'The kind of credential a request uses.',
  values: {
    SESSION: { value: 'session', description: 'The session of a user who is signed in to the dashboard.' },
    API_KEY: { value: 'key', description: 'An API key.' },
  },
});

export const Viewer = builder.objectRef<Account>('Viewer').implement({
  description: 'The account that owns the API key or session of this request.',
  interfaces: [builder.nodeInterfaceRef()],
  isTypeOf: (value) => typeof (value as Partial<Account>).userId === 'string' && 'email' in (value as object),
  fields: (t) => ({
    id: t.id({ description: 'ID of the account.', resolve: (account) => account.userId }),
    email: t.exposeString('email', {
      nullable: true,
      description: 'Email address of the account. Null while the account is being deleted.',
    }),
    name: t.exposeString('name', { description: 'Name of the account owner; may be empty.' }),
    via: t.expose('via', {
      type: ViewerVia,
      description: 'Whether the request uses an API key or a dashboard session.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the account was created. Null while the account is being deleted.',
    }),
    limits: t.field({
      type: AccountLimits,
      description: 'Rate and sending limits of the account.',
      resolve: () => ({}),
    }),
    service: t.field({
      type: ServiceSettings,
      description: 'Settings of this server.',
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
    description: 'The account that makes this request, and its limits.',
    resolve: (_root, _args, { reads }) => readAccount(reads),
  }),
);
