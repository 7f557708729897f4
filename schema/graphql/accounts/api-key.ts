import { SCOPES_OF_DOMAIN_KEYS } from '../../../core/accounts/key-rights.ts';
import * as keys from '../../../operations/accounts/api-keys.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { connection } from '../connection.ts';
import { forgetLoaded } from '../context.ts';
import { addNodeKind } from '../node-kinds.ts';
import { DomainNode, loaderOf, orNull } from '../nodes.ts';

const ApiKeyStatus = builder.enumType('ApiKeyStatus', {
  description: 'Whether a key opens the account.',
  values: {
    ACTIVE: { value: 'active', description: 'It does.' },
    EXPIRED: { value: 'expired', description: 'Its time is over.' },
    REVOKED: { value: 'revoked', description: 'It was revoked.' },
  } as const,
});

const ApiKeyScope = builder.enumType('ApiKeyScope', {
  description: 'What a key may be good for.',
  values: {
    READ: {
      value: 'read',
      description: 'Every read: queries, subscriptions, downloads, and checks that change nothing.',
    },
    SEND: {
      value: 'send',
      description:
        'Sending: new emails and replies, changing or cancelling those that are still to go, and retries; with READ, forwards.',
    },
    MANAGE: { value: 'manage', description: 'Everything else that changes anything, keys among it.' },
  } as const,
});

const ApiKeyNode = builder.loadableNodeRef<keys.ApiKey, string, string>('ApiKey', {
  id: { resolve: (key) => key.id },
  load: (ids: string[], { reads }) => keys.loadApiKeys(reads, ids).then(orNull),
});
addNodeKind('key', loaderOf('ApiKey', ApiKeyNode));

ApiKeyNode.implement({
  description: 'A key to the account. What requests bear is told once, when it is made, and is not kept.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Given by you, to tell keys apart.' }),
    status: t.expose('status', { type: ApiKeyStatus, description: 'Whether it opens the account.' }),
    isCurrent: t.exposeBoolean('isCurrent', { description: 'Whether this request bears it.' }),
    scopes: t.field({
      type: [ApiKeyScope],
      nullable: true,
      description: 'What it is good for; null: full rights.',
      resolve: ({ scopes }) => scopes && [...scopes],
    }),
    domain: t.field({
      type: DomainNode,
      nullable: true,
      description:
        'The one domain of yours that it reaches. Null: it is not limited to one, or the domain was deleted; see domainName.',
      resolve: ({ domainId }) => domainId,
    }),
    domainName: t.exposeString('domainName', {
      nullable: true,
      description:
        'Name of the one domain that it reaches, also when that was deleted and the key with it; null: it is not limited to one.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'From when on it opens nothing; null: it does not expire.',
    }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was revoked; null: it was not.',
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a request last bore it, known within 10 seconds; null: none did.',
    }),
  }),
});

builder.queryFields((t) => ({
  apiKey: t.field({
    type: ApiKeyNode,
    access: access.readAccount,
    nullable: true,
    description: 'A key by its id; null when you have none with that id.',
    args: { id: t.arg.id({ required: true, description: 'Id of the key, not what requests bear.' }) },
    resolve: (_root, { id }) => id,
  }),
  apiKeys: t.connection(
    {
      type: ApiKeyNode,
      access: access.readAccount,
      description: 'The keys of the account, newest first.',
      args: {
        isRevoked: t.arg.boolean({
          description: 'Only keys that were revoked, or only those that were not; absent or null: both.',
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
      description: 'A page of keys.',
      fields: (c) => ({
        totalCount: c.int({
          description: 'Of all pages; counted when it is asked for.',
          resolve: (page) => page.count(),
        }),
      }),
    },
    { name: 'ApiKeyEdge', description: 'A key with its cursor.' },
  ),
}));

const CreateApiKeyPayload = builder.objectRef<{ id: string; secret: string }>('CreateApiKeyPayload').implement({
  description: 'A key that was made.',
  fields: (t) => ({
    apiKey: t.field({
      type: ApiKeyNode,
      nullable: true,
      description: 'What is known of it.',
      resolve: ({ id }) => id,
    }),
    secret: t.exposeString('secret', {
      description: 'What requests bear: `Authorization: Bearer SECRET`. It is told here once and cannot be had again.',
    }),
  }),
});

builder.mutationField('createApiKey', (t) =>
  t.fieldWithInput({
    type: CreateApiKeyPayload,
    access: { ...access.manage, shows: ['CreateApiKeyPayload.secret'] },
    description: `Makes a key. No key makes one with more rights than its own. There may be ${keys.MAX_API_KEYS} that were not revoked.`,
    input: {
      name: t.input.string({
        required: true,
        description: `To tell keys apart; 1 to ${keys.MAX_API_KEY_NAME_LENGTH} characters.`,
      }),
      expiresAt: t.input.field({
        type: 'DateTime',
        description: 'From when on it opens nothing; absent or null: it does not expire.',
      }),
      scopes: t.input.field({
        type: [ApiKeyScope],
        description:
          'What it shall be good for, at least one; absent or null: full rights, and with a domain all that such a key can have.',
      }),
      domainId: t.input.id({
        description: `The one domain of yours that it shall reach, with the scopes ${SCOPES_OF_DOMAIN_KEYS.join(' and ')} at most; absent or null: all of the account.`,
      }),
    },
    errors: { directResult: true },
    resolve: async (_root, { input }, context) => {
      const made = await keys.createApiKey(context.operations, input);
      forgetLoaded(context);
      return made;
    },
  }),
);

builder.mutationField('revokeApiKey', (t) =>
  t.fieldWithInput({
    type: ApiKeyNode,
    access: access.manage,
    description:
      'Ends a key for good, be it the one that asks or the last one: at once, on other machines of the service within 5 seconds.',
    input: { id: t.input.id({ required: true, description: 'Id of the key, not what requests bear.' }) },
    errors: { dataField: { name: 'apiKey' } },
    resolve: async (_root, { input: { id } }, context) => {
      await keys.revokeApiKey(context.operations, id);
      forgetLoaded(context);
      return id;
    },
  }),
);
