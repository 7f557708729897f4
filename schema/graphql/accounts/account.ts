import { brandWithType } from '@pothos/core';
import { isLocalMailHostname } from '../../../core/domains/mail-hostname.ts';
import {
  type Account,
  countSendsLeft,
  countSent,
  MAX_SENT_COUNTED,
  readAccount,
} from '../../../operations/accounts/account.ts';
import { suggestDomain } from '../../../operations/domains/suggest-domain.ts';
import { type FirstMail, readFirstMail } from '../../../operations/upkeep/first-mail.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { addNodeKind } from '../node-kinds.ts';
import { addNodeType, EmailAddressNode } from '../nodes.ts';

const AccountLimits = builder.objectRef<object>('AccountLimits').implement({
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

const ServiceSettings = builder.objectRef<object>('ServiceSettings').implement({
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
    isMailHostnameLocal: t.boolean({
      description:
        'Whether only this machine or network knows `mailHostname`, as with `localhost`. Do not publish DNS records before the operator sets a public MAIL_HOSTNAME.',
      resolve: (_settings, _args, { reads }) => isLocalMailHostname(reads.settings.mailHostname),
    }),
    trustedDomains: t.stringList({
      description:
        'Domain names that can be added without DNS verification. `*.example.com` stands for every name one label below.',
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
    suggestedDomain: t.string({
      nullable: true,
      description:
        'A domain name that the account can add without DNS records. Null if the service trusts no such names, or the account has a trusted domain.',
      resolve: (_account, _args, { reads }) => suggestDomain(reads),
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

// A key can access only its own account.
addNodeKind('usr', async (id, { reads }) => {
  if (id !== reads.userId) return null;
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

builder.objectFields(ServiceSettings, (t) => ({
  version: t.string({
    description: 'Version of Postroom.',
    resolve: (_settings, _args, { reads }) => reads.settings.version,
  }),
  smtpHost: t.string({
    description: 'Host and port that accept mail over SMTP, to try the service out.',
    resolve: (_settings, _args, { reads }) => reads.settings.smtp.host,
  }),
  smtpPort: t.int({
    description: 'The SMTP port.',
    resolve: (_settings, _args, { reads }) => reads.settings.smtp.port,
  }),
  isSignUpOpen: t.boolean({
    description: 'Whether anyone can create an account.',
    resolve: (_settings, _args, { reads }) => reads.settings.isSignUpOpen,
  }),
  retentionDays: t.int({
    nullable: true,
    description: 'Days after which mail is deleted. Null means that mail is kept until you delete it.',
    resolve: () => null,
  }),
}));

builder.objectField(AccountLimits, 'sentWithinHour', (t) =>
  t.int({
    description: `Emails sent in the last hour, which count towards sendsPerHour. Without a limit, counting stops at ${MAX_SENT_COUNTED}.`,
    resolve: (_limits, _args, { reads }) => countSent(reads),
  }),
);

const FirstMailRef = builder.objectRef<FirstMail>('FirstEmailCommands').implement({
  description: 'Shell commands to send a first email to yourself.',
  fields: (t) => ({
    address: t.exposeString('address', { description: 'Your oldest address that can receive mail.' }),
    emailAddress: t.field({
      type: EmailAddressNode,
      nullable: true,
      description: 'The address as an object. Null if it was deleted in the meantime.',
      resolve: ({ addressId }) => addressId,
    }),
    swaks: t.exposeString('swaks', { description: 'Sends an email to that address with swaks.' }),
    curl: t.exposeString('curl', { description: 'Sends an email to that address with curl.' }),
    list: t.exposeString('list', { description: 'Lists emails over REST; replace API_KEY with a key.' }),
  }),
});

addNodeType('Viewer', Viewer);

builder.objectField(Viewer, 'firstMail', (t) =>
  t.field({
    type: FirstMailRef,
    nullable: true,
    description: 'Shell commands to send a first email to yourself. Null if none of your addresses can receive mail.',
    resolve: (_viewer, _args, { reads }) => readFirstMail(reads),
  }),
);
