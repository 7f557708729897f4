import { z } from 'zod';
import {
  BROWSER_RIGHTS,
  DEFAULT_TOKEN_SECONDS,
  MAX_TOKEN_ENTRIES,
  MAX_TOKEN_SECONDS,
  MIN_TOKEN_SECONDS,
} from '../../core/accounts/browser-token.ts';
import { quotasShape } from '../../core/accounts/quotas.ts';
import { secret } from '../../core/accounts/secret-fields.ts';
import { named } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import {
  type Capability,
  defineAction,
  defineChange,
  defineDelete,
  defineList,
  defineRead,
  defineResource,
} from '../capability/capability.ts';
import { text } from '../capability/field-shapes.ts';
import { scopes } from './api-key-capability.ts';
import { createBrowserToken } from './browser-tokens.ts';
import * as customers from './customers.ts';

const target = { argument: 'id', argumentDescription: 'ID of the workspace.' } as const;
const name = text.meta({
  description: `Name of the workspace, 1 to ${customers.MAX_CUSTOMER_NAME_LENGTH} characters.`,
});

const day = z
  .object({
    day: z.date().meta({ description: 'Beginning of the day (UTC).' }),
    mailIn: z.number().int().meta({ description: 'Emails received, without the trash.' }),
    mailOut: z.number().int().meta({ description: 'Emails sent, without the trash.' }),
    requests: z.number().int().meta({ description: 'Logged API requests; they are kept for 7 days.' }),
  })
  .meta({ id: 'WorkspaceDay', description: 'What a workspace used on one day.' });

const usage = z
  .object({
    days: z.array(day).meta({
      description: `Each of the last ${customers.USAGE_DAYS} days with use, oldest first.`,
    }),
    domains: z.number().int().meta({ description: 'Domains that it has.' }),
    addresses: z.number().int().meta({ description: 'Email addresses that it has.' }),
    storedBytes: named(z.number().int().nullable(), { graphqlType: 'Float' }).meta({
      description: 'Bytes of its messages. Null: it is being deleted.',
    }),
    rowsLeft: z.number().int().nullable().meta({
      description: 'While it is being deleted, rows that are left, counted up to 100,000. Null: it is not.',
    }),
  })
  .meta({ id: 'WorkspaceUsage', description: 'What a workspace used and has.' });

export const customerCapability: Capability = {
  feature: 'Account',
  what: "Customers' workspaces",
  tag: 'Workspaces',
  path: '/workspaces',
  restCase: 'snake',
  resource: defineResource<customers.Customer>()({
    name: 'CustomerWorkspace',
    noun: 'workspace',
    objectName: 'workspace',
    identifier: 'workspace',
    description: 'A workspace that your workspace keeps for a customer, with domains, mail and keys of its own.',
    isOfDomain: false,
    shape: z.object({
      clientId: z.string().meta({ description: 'The ID that the customer has with you.' }),
      name: z.string().meta({ description: 'Name of the workspace.' }),
      status: oneOf(customers.CUSTOMER_STATUSES, {
        name: 'CustomerWorkspaceStatus',
        description: 'Whether a workspace works.',
        values: {
          active: 'It works.',
          suspended: 'Its keys are refused, and mail to it is deferred.',
          deleting: 'Its keys and domains have ended, and its data is being erased.',
        },
      }).meta({ description: 'Whether it works.' }),
      quotas: quotasShape.nullable().meta({ description: 'What it may use. Null: no quotas.' }),
      createdAt: z.date().meta({ description: 'When it was created.' }),
      suspendedAt: z.date().nullable().meta({ description: 'Since when it is suspended. Null: it is not.' }),
    }),
    computed: {},
    load: customers.loadCustomers,
  }),
  operations: [
    defineChange({
      kind: 'create',
      access: 'workspaces',
      operationId: 'createWorkspace',
      field: 'createCustomerWorkspace',
      summary: "Create a customer's workspace",
      description:
        'Creates a workspace for a customer. The same `client_id` again returns the same workspace, unchanged.',
      // A misspelled quota, limit or expiry would give more, so these inputs refuse unknown fields.
      input: z.strictObject({
        clientId: text.meta({
          description: `The ID that the customer has with you, 1 to ${customers.MAX_CLIENT_ID_LENGTH} characters.`,
        }),
        name: name.nullish(),
        quotas: quotasShape.nullish(),
      }),
      inputName: 'CreateWorkspace',
      example: {
        clientId: 'customer-42',
        name: 'Smith & Sons',
        quotas: { mail_per_day: 500, domains: 1, addresses: 5 },
      },
      errors: [409],
      run: (context, input) => customers.createCustomer(context, input),
    }),
    defineList({
      access: 'workspaces',
      operationId: 'listWorkspaces',
      field: 'customerWorkspaces',
      summary: "List customers' workspaces",
      description: 'Returns the workspaces that yours keeps for customers, newest first.',
      filter: z.object({ clientId: text.optional().meta({ description: 'The ID that the customer has with you.' }) }),
      isPagedByItem: true,
      page: customers.pageCustomers,
      count: customers.countCustomers,
      list: customers.listCustomers,
    }),
    defineRead({
      access: 'workspaces',
      operationId: 'getCustomerWorkspace',
      field: 'customerWorkspace',
      summary: "Retrieve a customer's workspace",
      description: 'Returns the workspace. A deleted one is shown until its data is erased.',
      target,
      read: customers.readCustomer,
    }),
    defineAction({
      access: 'workspaces',
      operationId: 'getWorkspaceUsage',
      field: 'customerWorkspaceUsage',
      summary: "Retrieve the usage of a customer's workspace",
      description: 'Returns what the workspace used on each day, what it has, and how far its deletion is.',
      method: 'GET',
      path: '/:id/usage',
      target,
      input: z.object({}),
      output: usage,
      errors: [],
      run: (context, _input, id) => customers.readUsage(context, id),
    }),
    defineChange({
      kind: 'update',
      access: 'workspaces',
      operationId: 'updateCustomerWorkspace',
      field: 'updateCustomerWorkspace',
      summary: "Update, suspend or resume a customer's workspace",
      description:
        'Omitted fields keep their values. While it is suspended, its keys get 403 and mail to it is deferred. A quota below what is used takes effect for what is added from then on.',
      target,
      input: z.strictObject({
        name: name.optional(),
        quotas: quotasShape.nullish().meta({ description: 'Replaces all quotas. Null removes them.' }),
        isSuspended: z.boolean().optional().meta({ description: 'Whether it is suspended.' }),
      }),
      inputName: 'UpdateCustomerWorkspace',
      example: { isSuspended: true },
      errors: [],
      run: (context, input, id) => customers.updateCustomer(context, id, input),
    }),
    defineDelete({
      access: 'workspaces',
      operationId: 'deleteCustomerWorkspace',
      field: 'deleteCustomerWorkspace',
      summary: "Delete a customer's workspace",
      description:
        'Ends its keys and domains at once, so that no mail comes in or leaves, and erases its data. Until that has ended, its usage shows how much is left. It cannot be restored.',
      target,
      input: z.object({}),
      errors: [],
      run: (context, _input, id) => customers.deleteCustomer(context, id),
    }),
    defineAction({
      access: 'workspaces',
      operationId: 'createBrowserToken',
      field: 'createBrowserToken',
      summary: 'Create a browser token',
      description:
        'Returns a signed token with which pages of the given origins read and send the mail of a workspace, yours or that of a customer. It ends with the API key of the request.',
      method: 'POST',
      path: '/:id/tokens',
      target,
      input: z.strictObject({
        rights: z
          .array(
            oneOf(BROWSER_RIGHTS, {
              name: 'BrowserRight',
              description: 'What a browser token is allowed to do.',
              values: { read: 'Read mail, and follow it live.', send: 'Send mail.' },
            }),
          )
          .meta({ description: 'What the token is allowed to do: rights that your key has.' }),
        addresses: z
          .array(text)
          .nullish()
          .meta({
            description: `The only email addresses that the token can access, at most ${MAX_TOKEN_ENTRIES}. Default: the whole workspace.`,
          }),
        ttl: z
          .number()
          .nullish()
          .meta({
            type: 'integer',
            minimum: MIN_TOKEN_SECONDS,
            maximum: MAX_TOKEN_SECONDS,
            description: `Seconds that the token is valid, ${MIN_TOKEN_SECONDS} to ${MAX_TOKEN_SECONDS}. Default: ${DEFAULT_TOKEN_SECONDS}.`,
          }),
        origins: z.array(text).meta({
          description: `Origins of the pages that may use it, such as \`https://app.example.com\`, at most ${MAX_TOKEN_ENTRIES}.`,
        }),
      }),
      inputName: 'CreateBrowserToken',
      example: { rights: ['read'], ttl: 900, origins: ['https://app.example.com'] },
      output: z
        .object({
          token: z.string().meta({ ...secret, description: 'The token to send as `Authorization: Bearer TOKEN`.' }),
          expiresAt: z.date().meta({ description: 'When it expires.' }),
        })
        .meta({ id: 'BrowserToken', description: "A token for pages that show a workspace's mail." }),
      errors: [],
      run: (context, input, id) => createBrowserToken(context, id, input),
    }),
    defineAction({
      access: 'workspaces',
      operationId: 'createWorkspaceApiKey',
      field: 'createCustomerApiKey',
      summary: "Create an API key of a customer's workspace",
      description:
        'Returns the secret of a key that works in the workspace of the customer, with scopes that your key has. It is revoked with your key, unless what your key set up is kept.',
      method: 'POST',
      path: '/:id/api-keys',
      target,
      input: z.strictObject({
        name: text.meta({ description: 'Name of the key.' }),
        scopes: scopes.meta({ description: 'Scopes of the key, at least one, and not `workspaces`.' }),
        expiresAt: z.date().nullish().meta({ description: 'When the key expires. Default: never, or with your key.' }),
      }),
      inputName: 'CreateWorkspaceApiKey',
      example: { name: 'customer-42', scopes: ['read', 'send', 'manage'] },
      output: z
        .object({
          id: z.string().meta({ description: 'ID of the key.' }),
          secret: named(z.string(), { restName: 'token' }).meta({
            ...secret,
            description: 'The secret to send as `Authorization: Bearer SECRET`. It is returned only here, once.',
          }),
        })
        .meta({ id: 'CreatedWorkspaceApiKey', description: "A new API key of a customer's workspace." }),
      errors: [409],
      run: (context, input, id) => customers.createCustomerKey(context, id, input),
    }),
  ],
};
