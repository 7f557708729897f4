import { z } from 'zod';
import { CONFIGURATION_KINDS } from '../../core/accounts/key-configuration.ts';
import { SCOPES, SCOPES_OF_LIMITED_KEYS } from '../../core/accounts/key-rights.ts';
import { secret } from '../../core/accounts/secret-fields.ts';
import { sendPolicyShape } from '../../core/sending/send-policy.ts';
import { asArgument, graphqlOnly, named } from '../../core/shared/field-notes.ts';
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
import { loadPolicyUsage, policyUsageFields } from '../sending/policy-usage.ts';
import * as keys from './api-keys.ts';
import { loadKeyConfigurations, MAX_CONFIGURED_ITEMS, readKeyConfiguration } from './key-configuration.ts';

export const scopes = z
  .array(
    oneOf(SCOPES, {
      name: 'ApiKeyScope',
      description: 'What an API key is allowed to do.',
      values: {
        read: 'Read everything: queries, subscriptions, downloads, and checks that change nothing.',
        send: 'Send: new emails, replies, changes to and cancellation of scheduled emails, and retries. Forwarding also needs READ.',
        manage: 'Make all other changes, including to API keys.',
        approve: 'Approve and reject emails that wait for approval, except its own.',
        workspaces: 'Create and manage workspaces for customers.',
      },
    }),
  )
  .max(SCOPES.length);

const configuration = z
  .object({
    items: z
      .array(
        z
          .object({
            kind: oneOf(CONFIGURATION_KINDS, {
              name: 'ApiKeyConfigurationKind',
              description: 'What an API key can set up that acts later.',
              values: {
                endpoint: 'An endpoint that is enabled.',
                address_route: 'The endpoint of an email address.',
                catch_all: 'The catch-all endpoint of a domain.',
                guard_rule: 'A guard rule that is active.',
                scheduled_email: 'A scheduled email.',
                api_key: 'Another API key.',
              },
            }).meta({ description: 'What it is.' }),
            id: z.string().meta({
              description: 'ID of the endpoint, email address, domain, guard rule, email or API key.',
            }),
            name: z.string().meta({ description: 'Its name, address or subject.' }),
          })
          .meta({ id: 'ApiKeyConfiguredItem', description: 'Something that an API key set up.' }),
      )
      .meta({ description: `At most ${MAX_CONFIGURED_ITEMS}.` }),
    hasMore: z.boolean().meta({ description: 'Whether there are more.' }),
  })
  .meta({
    id: 'ApiKeyConfiguration',
    description:
      'What an API key, and the keys that it created, set up. It stops when the key is revoked, unless it is kept.',
  });

const name = text.meta({ description: `Name of the key, 1 to ${keys.MAX_API_KEY_NAME_LENGTH} characters.` });
const reached = z.array(text).max(keys.MAX_REACH);
const policy = sendPolicyShape.nullish();
const limitedScopes = SCOPES_OF_LIMITED_KEYS.join(' and ');

export const newApiKey = z.object({
  name,
  scopes: scopes.nullish().meta({
    description: `Scopes of the key, at least one. Default: full rights; with domains, addresses or a policy, ${limitedScopes}, which is their maximum.`,
  }),
  domains: reached.nullish().meta({
    description: `IDs or names of the domains that the key can access, at most ${keys.MAX_REACH}. Without domains and addresses, the key can access the whole account.`,
  }),
  addresses: reached.nullish().meta({
    description: `IDs or names of the email addresses that the key can access, at most ${keys.MAX_REACH}. Without domains and addresses, the key can access the whole account.`,
  }),
  expiresAt: z
    .date()
    .nullish()
    .meta({ description: 'When the key expires. Default: never, or when the key expires that creates it.' }),
  policy: policy.meta({ description: 'Limits what is sent with the key.' }),
});

export const apiKeyChange = z.object({
  name: name.optional(),
  expiresAt: z.date().nullish().meta({ description: 'When the key expires. Null: never.' }),
  scopes: scopes.nullish().meta({ description: 'Fewer scopes than the key has.' }),
  domains: reached.optional().meta({
    description:
      'The domains that the key can still access, out of its current domains. Without addresses, it loses its addresses.',
  }),
  addresses: reached.optional().meta({
    description:
      'The email addresses that the key can still access, out of its current addresses. Without domains, it loses its domains.',
  }),
  policy: policy.meta({ description: 'Replaces the whole policy. Null removes it.' }),
});

const target = { argument: 'id', argumentDescription: 'ID of the key, not its secret.' } as const;

export const apiKeyCapability: Capability = {
  feature: 'Account',
  what: 'API keys',
  byHand: { rest: ['revokePresentedKey'] },
  tag: 'API keys',
  path: '/api-keys',
  restCase: 'snake',
  resource: defineResource<keys.ApiKey>()({
    name: 'ApiKey',
    noun: 'API key',
    identifier: 'apiKey',
    description:
      'An API key of the account. The secret is returned once, when the key is created, and cannot be retrieved later.',
    isOfDomain: false,
    shape: z.object({
      name: z.string().meta({ description: 'Name of the key.' }),
      status: oneOf(keys.API_KEY_STATUSES, {
        name: 'ApiKeyStatus',
        description: 'Whether an API key is valid.',
        values: {
          active: 'The key is valid.',
          expired: 'The key has expired.',
          revoked: 'The key was revoked.',
        },
      }).meta({ description: 'Whether the key is valid, and if not, why.' }),
      isCurrent: z.boolean().meta({ description: 'Whether this request uses the key.' }),
      scopes: z.array(scopes.element).nullable().meta({ description: 'Scopes of the key. Null: full rights.' }),
      domains: z
        .array(
          z
            .object({
              id: z.string().meta({ description: 'ID of the domain.' }),
              name: z.string().meta({ description: 'Name of the domain.' }),
            })
            .meta({ id: 'ApiKeyDomain', description: 'A domain that an API key is limited to.' }),
        )
        .nullable()
        .meta({
          description:
            'The domains that the key can access, besides its addresses. Null: the key can access the whole account. A revoked key keeps its domains.',
        }),
      addresses: z.array(z.string()).nullable().meta({
        description:
          'The email addresses that the key can access, besides its domains. Null: the key can access the whole account.',
      }),
      policy: sendPolicyShape.nullable().meta({ description: 'Limits what is sent with the key. Null: no limits.' }),
      ...policyUsageFields('policy_usage'),
      configuration: graphqlOnly(configuration).meta({
        description: 'What the key set up, and what stops when it is revoked.',
      }),
      createdAt: z.date().meta({ description: 'When the key was created.' }),
      expiresAt: z.date().nullable().meta({ description: 'When the key expires. Null: never.' }),
      revokedAt: z.date().nullable().meta({ description: 'When the key was revoked. Null if it was not.' }),
      lastUsedAt: z
        .date()
        .nullable()
        .meta({ description: 'When the key was last used, accurate to 10 seconds. Null if never.' }),
      lastUsedFrom: z.string().nullable().meta({
        description: 'IP address of the client that used the key last. Null if it is not known.',
      }),
      hint: z.string().nullable().meta({
        description:
          'First and last four characters of the secret, such as `Ab3d…x9Yz`. Null if the secret has fewer than 32 characters.',
      }),
    }),
    computed: {
      domains: ({ reach }) => reach?.domains ?? null,
      addresses: ({ reach }) => reach?.addresses ?? null,
    },
    loaded: {
      ...loadPolicyUsage<keys.ApiKey>(({ id: owner, policy: held }) =>
        held === null ? null : { of: 'key', owner, policy: held },
      ),
      configuration: {
        isInLists: false,
        load: (context, rows) =>
          loadKeyConfigurations(
            context,
            rows.map(({ id }) => id),
          ),
      },
    },
    load: keys.loadApiKeys,
  }),
  operations: [
    defineChange({
      kind: 'create',
      access: 'keys',
      operationId: 'createApiKey',
      field: 'createApiKey',
      summary: 'Create an API key',
      description: `Creates an API key and returns its secret. A key cannot create a key with more rights than its own. An account can have ${keys.MAX_API_KEYS} keys that are not revoked.`,
      input: newApiKey,
      inputName: 'CreateApiKey',
      example: {
        name: 'Support agent',
        scopes: ['read', 'send'],
        expiresAt: '2099-01-31T12:00:00Z',
        policy: { recipients: 'participants', per_hour: 20, links: false, approval: 'never' },
      },
      errors: [409],
      shows: ['CreateApiKeyPayload.secret'],
      shownOnce: z
        .object({
          secret: named(z.string(), { restName: 'token' }).meta({
            ...secret,
            description: 'The secret to send as `Authorization: Bearer SECRET`. It is returned only here, once.',
          }),
        })
        .meta({ id: 'CreatedApiKey', description: 'A newly created API key.' }),
      async run(context, input) {
        const made = await keys.createApiKey(context, input);
        return { ...(await keys.readApiKey(context, made.id)), secret: made.secret };
      },
    }),
    defineList({
      access: 'read',
      operationId: 'listApiKeys',
      field: 'apiKeys',
      summary: 'List API keys',
      description: 'Returns API keys of the account, newest first, without their secrets.',
      filter: z.object({
        isRevoked: asArgument(z.boolean().optional()).meta({
          description: 'True returns revoked keys only, false all others. Omit or pass null to return both.',
        }),
      }),
      isPagedByItem: true,
      page: keys.pageApiKeys,
      count: keys.countApiKeys,
      list: keys.listApiKeys,
    }),
    defineRead({
      access: 'read',
      operationId: 'getApiKey',
      field: 'apiKey',
      summary: 'Retrieve an API key',
      description: 'Returns the key without its secret, and what is left of the budgets of its policy.',
      target,
      read: keys.readApiKey,
    }),
    defineAction({
      access: 'read',
      operationId: 'listApiKeyConfiguration',
      summary: 'List what an API key set up',
      description:
        'Returns the endpoints, routes, guard rules, scheduled emails and keys that the key, and keys that it created, set up and that are active. They stop when the key is revoked, unless `keep_configuration` keeps them.',
      method: 'GET',
      path: '/:id/configuration',
      target,
      input: z.object({}),
      output: configuration,
      errors: [],
      run: (context, _input, id) => readKeyConfiguration(context, id),
    }),
    defineChange({
      kind: 'update',
      access: 'keys',
      operationId: 'updateApiKey',
      field: 'updateApiKey',
      summary: 'Update an API key',
      description:
        'Omitted fields keep their values. A key can lose scopes, domains and addresses, and never gains any. A stricter policy pauses what the key scheduled (`email.paused`). A key changes only keys whose rights are within its own.',
      target,
      input: apiKeyChange,
      inputName: 'UpdateApiKey',
      example: { name: 'Support agent', policy: { per_hour: 10 } },
      errors: [],
      run: (context, input, id) => keys.updateApiKey(context, id, input),
    }),
    defineDelete({
      access: 'keys',
      operationId: 'deleteApiKey',
      field: 'revokeApiKey',
      summary: 'Revoke an API key',
      description:
        'The key stops working at once, and on other machines within 5 seconds. It cannot be restored. What it set up stops, and the keys that it created are revoked, too, unless you keep them. A key can revoke itself, even the last one.',
      target,
      input: z.object({
        keepsConfiguration: named(z.boolean().optional(), { restName: 'keep_configuration' }).meta({
          description:
            'Whether the endpoints, routes, guard rules, scheduled emails and keys that the key created stay as they are. They are then yours.',
        }),
      }),
      errors: [],
      async run(context, { keepsConfiguration = false }, id) {
        await keys.revokeApiKey(context, id, { keepsConfiguration });
        return { id };
      },
    }),
  ],
};
