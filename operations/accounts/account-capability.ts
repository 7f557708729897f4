import { z } from 'zod';
import { SIGN_IN_AGAIN } from '../../core/accounts/session-refusals.ts';
import { FRESH_SIGN_IN_MINUTES } from '../../core/accounts/sign-in.ts';
import { isLocalMailHostname } from '../../core/domains/mail-hostname.ts';
import { graphqlOnly, linkTo, maybeGone, named, nameType, restLiteral } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { type Capability, defineAction } from '../capability/capability.ts';
import type { OperationContext } from '../context.ts';
import { readFirstMail } from '../upkeep/first-mail.ts';
import { countSendsLeft, countSent, MAX_SENT_COUNTED, readAccount } from './account.ts';
import { eraseAccount, MAX_ERASURE_COUNT, previewErasure } from './erase-account.ts';

const count = z.number().int();

export const accountLimits = nameType(
  z.object({
    requestsPerSecond: count.nullable().meta({
      description: 'Requests per second, across all API keys, REST and GraphQL combined. Null means no limit.',
    }),
    sendsPerHour: count.nullable().meta({ description: 'Emails per hour. Null means no limit.' }),
    sendsLeft: count.nullable().meta({ description: 'Emails that can still be sent now. Null means no limit.' }),
    sentWithinHour: count.meta({
      description: `Emails sent in the last hour, which count towards \`sendsPerHour\`, \`sends_per_hour\` in REST. Without a limit, counting stops at ${MAX_SENT_COUNTED}.`,
    }),
  }),
  {
    type: 'AccountLimits',
    description:
      'Rate and sending limits of the account. The `x-ratelimit-*` headers of each response show the requests that are left.',
  },
);

/** Returns the limits. What is left of them is counted if it is requested. */
export function readLimits(context: OperationContext) {
  const { settings } = context;
  return {
    requestsPerSecond: settings.requestsPerSecond || null,
    sendsPerHour: settings.sendLimitPerHour || null,
    sendsLeft: () => countSendsLeft(context),
    sentWithinHour: () => countSent(context),
  };
}

export const serviceSettings = nameType(
  z.object({
    publicUrl: named(z.string(), { graphqlType: 'URL' }).meta({
      description: 'Base URL of links and of the REST API.',
    }),
    mailHostname: z.string().meta({ description: 'Host name of the mail server, which MX records point to.' }),
    isMailHostnameLocal: graphqlOnly(z.boolean()).meta({
      description:
        'Whether only this machine or network knows `mailHostname`, as with `localhost`. Do not publish DNS records before the operator sets a public MAIL_HOSTNAME.',
    }),
    trustedDomains: graphqlOnly(z.array(z.string())).meta({
      description:
        'Domain names that can be added without DNS verification. `*.example.com` matches every name one label below.',
    }),
    smtpHost: z.string().meta({ description: 'Host that accepts mail over SMTP, to try the service out.' }),
    smtpPort: count.meta({ description: 'The SMTP port.' }),
    hasGuardModel: z.boolean().meta({ description: 'Whether guard rules can use a language model.' }),
    version: z.string().meta({ description: 'Version of Postroom.' }),
    isSignUpOpen: graphqlOnly(z.boolean()).meta({ description: 'Whether anyone can create an account.' }),
    retentionDays: graphqlOnly(count.nullable()).meta({
      description: 'Days after which mail is deleted. Null means that mail is kept until you delete it.',
    }),
  }),
  { type: 'ServiceSettings', description: 'Settings of this Postroom server that clients need to know.' },
);

export function readService({ settings }: OperationContext): z.output<typeof serviceSettings> {
  const { publicUrl, mailHostname, trustedDomains, smtp, hasGuardModel, version, isSignUpOpen } = settings;
  return {
    publicUrl,
    mailHostname,
    isMailHostnameLocal: isLocalMailHostname(mailHostname),
    trustedDomains: [...trustedDomains],
    smtpHost: smtp.host,
    smtpPort: smtp.port,
    hasGuardModel,
    version,
    isSignUpOpen,
    retentionDays: null,
  };
}

export const accountVia = oneOf(['session', 'key'], {
  name: 'ViewerVia',
  description: 'The kind of credential a request uses.',
  names: { key: 'API_KEY' },
  values: { session: 'The session of a user who is signed in to the dashboard.', key: 'An API key.' },
});

/** The account in REST; GraphQL has it as a node with more fields (schema/graphql/accounts/account.ts). */
const account = z
  .object({
    object: restLiteral('account'),
    id: z.string(),
    email: z.string().nullable().meta({ description: 'Null while the account is being deleted.' }),
    name: z.string().meta({ description: 'Name of the account owner; may be empty.' }),
    via: accountVia.meta({ description: 'How the request was authenticated.' }),
    createdAt: z.date().nullable(),
    limits: accountLimits,
    service: serviceSettings,
  })
  .meta({ id: 'Account' });

const firstMail = nameType(
  z.object({
    address: z.string().meta({ description: 'Your oldest address that can receive mail.' }),
    addressId: maybeGone(linkTo('EmailAddress', z.string(), 'emailAddress')).meta({
      description: 'The address as an object. Null if it was deleted in the meantime.',
    }),
    swaks: z.string().meta({ description: 'Sends an email to that address with swaks.' }),
    curl: z.string().meta({ description: 'Sends an email to that address with curl.' }),
    list: z.string().meta({ description: 'Lists emails over REST; replace API_KEY with a key.' }),
  }),
  { type: 'FirstEmailCommands', description: 'Shell commands to send a first email to yourself.' },
);

const erasure = nameType(
  z.object({
    emails: count.meta({ description: 'Emails, sent and received, also those in the trash.' }),
    unsent: named(count, { graphqlName: 'unsentEmails' }).meta({
      description:
        'Of these, emails that have not left yet: queued, scheduled, paused or waiting for approval. They are never sent.',
    }),
    threads: count.meta({ description: 'Threads.' }),
    drafts: count.meta({ description: 'Drafts.' }),
    domains: count.meta({ description: 'Domains. Other accounts can add them at once.' }),
    addresses: count.meta({ description: 'Email addresses. They reject mail at once.' }),
    endpoints: count.meta({ description: 'Endpoints.' }),
    rules: named(count, { graphqlName: 'guardRules' }).meta({ description: 'Guard rules.' }),
    apiKeys: count.meta({ description: 'API keys that work now.' }),
  }),
  {
    type: 'ErasurePreview',
    description: `What \`eraseAccount\` erases. Each count stops at ${MAX_ERASURE_COUNT}.`,
  },
);

/** Cost in GraphQL: up to MAX_ERASURE_COUNT rows of nine tables are counted. */
const PREVIEW_COST = 500;

export const accountCapability: Capability = {
  feature: 'Account',
  what: 'Read the account',
  byHand: { graphql: ['viewer'], mcp: ['who_am_i'] },
  tag: 'Account',
  path: '/account',
  restCase: 'snake',
  operations: [
    defineAction({
      access: 'read',
      operationId: 'getAccount',
      summary: 'Retrieve the account',
      description: 'Returns the account that makes the request, its limits, and settings of the server.',
      method: 'GET',
      path: '',
      input: z.object({}),
      output: account,
      errors: [],
      async run(context) {
        const { workspaceId: id, ...read } = await readAccount(context);
        return { id, ...read, limits: readLimits(context), service: readService(context) };
      },
    }),
    defineAction({
      access: 'read',
      summary: 'Commands to send a first email',
      description: 'Shell commands to send a first email to yourself. Null if none of your addresses can receive mail.',
      method: 'GET',
      path: '',
      input: z.object({}),
      output: firstMail,
      errors: [],
      of: {
        type: 'Viewer',
        field: 'firstMail',
        isNullable: true,
        load: async (context) => [await readFirstMail(context)],
      },
    }),
  ],
};

export const erasureCapability: Capability = {
  feature: 'Account',
  what: 'Erase the account',
  difference: 'Needs a dashboard session, which REST keys do not have',
  tag: 'Account',
  path: '/account',
  restCase: 'snake',
  operations: [
    defineAction({
      access: 'erasure',
      summary: 'Preview the erasure of the account',
      description: 'What `eraseAccount` would erase. Changes nothing.',
      method: 'GET',
      path: '',
      input: z.object({}),
      output: erasure,
      errors: [],
      of: {
        type: 'Viewer',
        field: 'erasurePreview',
        cost: PREVIEW_COST,
        load: async (context) => [await previewErasure(context)],
      },
    }),
    defineAction({
      access: 'erasure',
      field: 'eraseAccount',
      summary: 'Erase the account',
      description: `Closes the account at once and erases all its data within minutes. This cannot be undone. Needs a dashboard session that was started within the last ${FRESH_SIGN_IN_MINUTES} minutes (code \`${SIGN_IN_AGAIN}\`); API keys cannot erase an account. All sessions and keys end, unsent mail is not sent, and the domains are released.`,
      method: 'POST',
      path: '',
      input: z.object({
        confirmEmail: z.string().meta({ description: 'The email address of the account, typed by its owner.' }),
      }),
      output: z
        .object({ email: z.string().meta({ description: 'Email address of the account.' }) })
        .meta({ description: 'The erased account.' }),
      errors: [],
      async run(context, { confirmEmail }) {
        await eraseAccount(context, confirmEmail);
        return { email: confirmEmail.trim().toLowerCase() };
      },
    }),
  ],
};
