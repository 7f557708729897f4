import type { ConfigurationKind } from '../../../core/accounts/key-configuration.ts';
import { SCOPES_OF_LIMITED_KEYS, type Scope } from '../../../core/accounts/key-rights.ts';
import type { SendPolicy } from '../../../core/sending/send-policy.ts';
import * as keys from '../../../operations/accounts/api-keys.ts';
import {
  type KeyConfiguration,
  loadKeyConfigurations,
  MAX_CONFIGURED_ITEMS,
} from '../../../operations/accounts/key-configuration.ts';
import { readPolicyUsage } from '../../../operations/sending/policy-usage.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity, enumValues } from '../builder.ts';
import { connection, totalCount } from '../connection.ts';
import { forgetLoaded } from '../context.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { addNodeKind } from '../node-kinds.ts';
import { DomainNode, loaderOf, orNull } from '../nodes.ts';
import { secret } from '../secret.ts';
import { PolicyUsageNode, policyOfInput, SendPolicyInput, SendPolicyNode } from '../sending/send-policy.ts';

const ApiKeyStatus = builder.enumType('ApiKeyStatus', {
  description: 'Whether an API key is valid.',
  values: enumValues<keys.ApiKey['status']>({
    active: 'The key is valid.',
    expired: 'The key has expired.',
    revoked: 'The key was revoked.',
  }),
});

const ApiKeyScope = builder.enumType('ApiKeyScope', {
  description: 'What an API key is allowed to do.',
  values: enumValues<Scope>({
    read: 'Read everything: queries, subscriptions, downloads, and checks that change nothing.',
    send: 'Send: new emails, replies, changes to and cancellation of scheduled emails, and retries. Forwarding also needs READ.',
    manage: 'Make all other changes, including to API keys.',
    approve: 'Approve and reject emails that wait for approval, apart from those that the key itself sent.',
  }),
});

export const ApiKeyNode = builder.loadableNodeRef<keys.ApiKey, string, string>('ApiKey', {
  id: { resolve: (key) => key.id },
  load: (ids: string[], { reads }) => keys.loadApiKeys(reads, ids).then(orNull),
});
addNodeKind('key', loaderOf('ApiKey', ApiKeyNode));

const ConfigurationKindEnum = builder.enumType('ApiKeyConfigurationKind', {
  description: 'What an API key can set up that acts later.',
  values: enumValues<ConfigurationKind>({
    endpoint: 'An endpoint that is enabled.',
    address_route: 'The endpoint of an email address.',
    catch_all: 'The catch-all endpoint of a domain.',
    guard_rule: 'A guard rule that is active.',
    scheduled_email: 'A scheduled email.',
    api_key: 'Another API key.',
  }),
});

const ConfiguredItemNode = builder.objectRef<KeyConfiguration['items'][number]>('ApiKeyConfiguredItem').implement({
  description: 'Something that an API key set up.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ConfigurationKindEnum, description: 'What it is.' }),
    id: t.exposeID('id', { description: 'ID of the endpoint, email address, domain, guard rule, email or API key.' }),
    name: t.exposeString('name', { description: 'Its name, address or subject.' }),
  }),
});

const KeyConfigurationNode = builder.objectRef<KeyConfiguration>('ApiKeyConfiguration').implement({
  description:
    'What an API key, and the keys that it created, set up. It stops when the key is revoked, unless it is kept.',
  fields: (t) => ({
    items: t.expose('items', { type: [ConfiguredItemNode], description: `At most ${MAX_CONFIGURED_ITEMS}.` }),
    hasMore: t.exposeBoolean('hasMore', { description: 'Whether there are more.' }),
  }),
});

const keyConfiguration = loadByOwner(({ reads }, ids) => loadKeyConfigurations(reads, ids));

const keyUsage = loadByOwner(({ reads }, ids, { policy }: { policy: SendPolicy | null }) =>
  readPolicyUsage(
    reads,
    ids.map((owner) => (policy === null ? null : { of: 'key', owner, policy })),
  ),
);

ApiKeyNode.implement({
  description:
    'An API key of the account. The secret is returned once, when the key is created, and cannot be retrieved later.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the key.' }),
    status: t.expose('status', { type: ApiKeyStatus, description: 'Whether the key is valid.' }),
    isCurrent: t.exposeBoolean('isCurrent', { description: 'Whether this request uses the key.' }),
    scopes: t.field({
      type: [ApiKeyScope],
      nullable: true,
      description: 'Scopes of the key. Null means full access.',
      resolve: ({ scopes }) => scopes && [...scopes],
    }),
    domain: t.field({
      type: DomainNode,
      nullable: true,
      description:
        'The domain the key is limited to. Null if the key is not limited or the domain was deleted; see domainName.',
      resolve: ({ domainId }) => domainId,
    }),
    domainName: t.exposeString('domainName', {
      nullable: true,
      description:
        'Name of the domain the key is limited to, even after that domain and the key were deleted. Null if the key is not limited.',
    }),
    policy: t.field({
      type: SendPolicyNode,
      nullable: true,
      description: 'Limits what is sent with the key. Null means no limits.',
      resolve: ({ policy }) => policy,
    }),
    policyUsage: t.field({
      type: [PolicyUsageNode],
      description: 'What is left of the budgets of the policy. Empty without budgets.',
      resolve: ({ id, policy }, _args, context) => keyUsage(context, id, { policy }),
    }),
    configuration: t.field({
      type: KeyConfigurationNode,
      description: 'What the key set up, and what stops when it is revoked.',
      resolve: ({ id }, _args, context) => keyConfiguration(context, id, {}),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the key was created.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the key expires. Null means never.',
    }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the key was revoked. Null if it was not.',
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the key was last used, accurate to 10 seconds. Null if never.',
    }),
    lastUsedFrom: t.exposeString('lastUsedFrom', {
      nullable: true,
      description: 'IP address of the client that used the key last. Null if it is not known.',
    }),
    hint: t.exposeString('hint', {
      nullable: true,
      description:
        'First and last four characters of the secret, such as `Ab3d…x9Yz`. Null if the secret has fewer than 32 characters.',
    }),
  }),
});

builder.queryFields((t) => ({
  apiKey: t.field({
    type: ApiKeyNode,
    access: access.read,
    nullable: true,
    description: 'Returns the API key with this ID, or null if the account has no such key.',
    args: { id: t.arg.id({ required: true, description: 'ID of the key, not its secret.' }) },
    resolve: (_root, { id }) => id,
  }),
  apiKeys: t.connection(
    {
      type: ApiKeyNode,
      access: access.read,
      description: 'API keys of the account, newest first.',
      args: {
        isRevoked: t.arg.boolean({
          description: 'True returns revoked keys only, false all others. Omit or pass null to return both.',
        }),
      },
      complexity: connectionComplexity,
      resolve: async (_root, args, { reads }) => {
        const query = { isRevoked: args.isRevoked ?? undefined };
        const page = await connection<keys.ApiKey>(
          args,
          (key) => ({ at: key.createdAt, id: key.id }),
          (span) => keys.pageApiKeys(reads, query, span),
        );
        return { ...page, count: () => keys.countApiKeys(reads, query) };
      },
    },
    {
      name: 'ApiKeyConnection',
      description: 'A page of API keys.',
      fields: (c) => totalCount(c),
    },
    { name: 'ApiKeyEdge', description: 'An API key and its cursor.' },
  ),
}));

const CreateApiKeyPayload = builder.objectRef<{ id: string; secret: string }>('CreateApiKeyPayload').implement({
  description: 'A newly created API key.',
  fields: (t) => ({
    apiKey: t.field({
      type: ApiKeyNode,
      nullable: true,
      description: 'The key, without its secret.',
      resolve: ({ id }) => id,
    }),
    secret: t.exposeString('secret', {
      extensions: secret,
      description: 'The secret to send as `Authorization: Bearer SECRET`. It is returned only here, once.',
    }),
  }),
});

builder.mutationField('createApiKey', (t) =>
  t.fieldWithInput({
    type: CreateApiKeyPayload,
    access: { ...access.manage, shows: ['CreateApiKeyPayload.secret'] },
    description: `Creates an API key. A key cannot create a key with more access than its own. An account can have ${keys.MAX_API_KEYS} keys that are not revoked.`,
    input: {
      name: t.input.string({
        required: true,
        description: `Name of the key, 1 to ${keys.MAX_API_KEY_NAME_LENGTH} characters.`,
      }),
      expiresAt: t.input.field({
        type: 'DateTime',
        description:
          'When the key expires. Omit or pass null for a key that never expires, or expires with the key that creates it.',
      }),
      scopes: t.input.field({
        type: [ApiKeyScope],
        description:
          'Scopes of the key, at least one. Omit or pass null for full access, or with domainId for all scopes that such a key can have.',
      }),
      domainId: t.input.id({
        description: `ID of the only domain the key can access. Such a key has at most the scopes ${SCOPES_OF_LIMITED_KEYS.join(' and ')}. Omit or pass null for access to the whole account.`,
      }),
      policy: t.input.field({
        type: SendPolicyInput,
        description: `Limits what is sent with the key. Such a key has at most the scopes ${SCOPES_OF_LIMITED_KEYS.join(' and ')}.`,
      }),
    },
    errors: { directResult: true },
    resolve: async (_root, { input }, context) => {
      const policy = policyOfInput(input.policy);
      const made = await keys.createApiKey(context.operations, { ...input, policy });
      forgetLoaded(context);
      return made;
    },
  }),
);

builder.mutationField('updateApiKey', (t) =>
  t.fieldWithInput({
    type: ApiKeyNode,
    access: access.manage,
    description:
      'Updates an API key. Omitted fields keep their values. A key changes only keys whose rights are within its own.',
    input: {
      id: t.input.id({ required: true, description: 'ID of the key, not its secret.' }),
      name: t.input.string({ description: `Name of the key, 1 to ${keys.MAX_API_KEY_NAME_LENGTH} characters.` }),
      expiresAt: t.input.field({ type: 'DateTime', description: 'When the key expires. Null: never.' }),
      scopes: t.input.field({ type: [ApiKeyScope], description: 'Fewer scopes than the key has.' }),
      policy: t.input.field({
        type: SendPolicyInput,
        description: 'Replaces the whole send policy. Null removes it.',
      }),
    },
    errors: { dataField: { name: 'apiKey' } },
    resolve: async (_root, { input: { id, name, policy, ...change } }, context) => {
      const fields = { ...change, name: name ?? undefined, policy: policyOfInput(policy) };
      await keys.updateApiKey(context.operations, id, fields);
      forgetLoaded(context);
      return id;
    },
  }),
);

builder.mutationField('revokeApiKey', (t) =>
  t.fieldWithInput({
    type: ApiKeyNode,
    access: access.manage,
    description:
      'Revokes an API key permanently. Takes effect at once here and within 5 seconds on other machines. A key can revoke itself, even the last one.',
    input: {
      id: t.input.id({ required: true, description: 'ID of the key, not its secret.' }),
      keepsConfiguration: t.input.boolean({
        description:
          'True keeps the endpoints, routes, guard rules, scheduled emails and keys that the key created: they are then yours. By default they end with the key.',
      }),
    },
    errors: { dataField: { name: 'apiKey' } },
    resolve: async (_root, { input: { id, keepsConfiguration } }, context) => {
      await keys.revokeApiKey(context.operations, id, { keepsConfiguration: keepsConfiguration ?? false });
      forgetLoaded(context);
      return id;
    },
  }),
);
