import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { CONFIGURATION_KINDS } from '../../../core/accounts/key-configuration.ts';
import { SCOPES, type Scope } from '../../../core/accounts/key-rights.ts';
import { secret } from '../../../core/accounts/secret-fields.ts';
import { sendPolicyShape } from '../../../core/sending/send-policy.ts';
import { UserError } from '../../../core/shared/errors.ts';
import * as keys from '../../../operations/accounts/api-keys.ts';
import { MAX_CONFIGURED_ITEMS, readKeyConfiguration } from '../../../operations/accounts/key-configuration.ts';
import type { OperationContext } from '../../../operations/context.ts';
import type { PolicyUsage } from '../../../operations/sending/policy-usage.ts';
import { access } from '../../admission/access.ts';
import { besideFields, INSTEAD_OF_OFFSET, isOneSided, oneSide, pageBeside } from '../page-beside.ts';
import { policyUsageBody, policyUsageBodyOf } from '../sending/policy-wire.ts';
import {
  besideBody,
  errorBody,
  idInPath,
  instant,
  limit,
  listBody,
  listOf,
  offset,
  queryBoolean,
  type RestOptions,
  text,
  wireInstant,
} from '../shapes.ts';

const scopes = z.array(z.enum(SCOPES)).max(SCOPES.length);
const name = text.meta({ description: `1 to ${keys.MAX_API_KEY_NAME_LENGTH} characters.` });
const expiry = z.iso.datetime({ offset: true }).nullish();
const policy = sendPolicyShape.nullish();

const keyBody = z
  .object({
    object: z.literal('api_key'),
    id: z.string(),
    name: z.string(),
    status: z.enum(keys.API_KEY_STATUSES).meta({ description: 'Whether the key is valid, and if not, why.' }),
    is_current: z.boolean().meta({ description: 'Whether this request uses the key.' }),
    scopes: z.array(z.enum(SCOPES)).nullable().meta({ description: 'Null: full rights.' }),
    domains: z
      .array(z.object({ id: z.string(), name: z.string() }))
      .nullable()
      .meta({ description: 'The only domain that the key can access. Null: all.' }),
    policy: sendPolicyShape.nullable().meta({ description: 'Limits what is sent with the key. Null: no limits.' }),
    policy_usage: policyUsageBody.nullable(),
    created_at: instant,
    expires_at: instant.nullable().meta({ description: 'Null: never.' }),
    revoked_at: instant.nullable(),
    last_used_at: instant.nullable().meta({ description: 'Accurate to 10 seconds.' }),
    last_used_from: z.string().nullable().meta({ description: 'IP address of the client that used the key last.' }),
    hint: z.string().nullable().meta({
      description: 'First and last four characters of the secret. Null if it has fewer than 32 characters.',
    }),
  })
  .meta({ id: 'ApiKey' });

const createdKey = keyBody
  .extend({ token: z.string().meta({ ...secret, description: 'The secret. It is returned only here, once.' }) })
  .meta({ id: 'CreatedApiKey' });

/**
 * Unknown fields are refused here, because a key with a misspelled `scopes` or `policy` would have full rights. `permission` and `domain_id` are
 * fields of the `resend` client.
 */
const newKey = z
  .strictObject({
    name,
    scopes: scopes.nullish().meta({
      description:
        'At least one. Default: full rights; with `domains` or `policy`, `read` and `send`, which is their maximum.',
    }),
    domains: z
      .array(text)
      .nullish()
      .meta({ description: 'ID or name of the only domain that the key can access. Default: all domains.' }),
    expires_at: expiry.meta({ description: 'Default: never, or when the key expires that creates it.' }),
    policy: policy.meta({ description: 'Limits what is sent with the key.' }),
    permission: z
      .enum(['full_access', 'sending_access'])
      .optional()
      .meta({ description: '`sending_access` is short for the scope `send`.' }),
    domain_id: text.nullish().meta({ description: 'Alias of `domains`.' }),
  })
  .meta({
    id: 'CreateApiKey',
    examples: [
      {
        name: 'Support agent',
        scopes: ['read', 'send'],
        expires_at: '2099-01-31T12:00:00Z',
        policy: { recipients: 'participants', per_hour: 20, links: false, approval: 'never' },
      },
    ],
  });

const keyChange = z
  .strictObject({
    name: name.optional(),
    expires_at: expiry.meta({ description: 'Null: the key does not expire.' }),
    scopes: scopes.nullish().meta({ description: 'Fewer scopes than the key has.' }),
    policy: policy.meta({ description: 'Replaces the whole policy. Null removes it.' }),
  })
  .meta({ id: 'UpdateApiKey', examples: [{ name: 'Support agent', policy: { per_hour: 10 } }] });

const listQuery = z
  .object({
    limit: limit(),
    offset,
    ...besideFields('an API key', INSTEAD_OF_OFFSET),
    is_revoked: queryBoolean.default(false).meta({ description: '`true` returns revoked keys, `false` all others.' }),
  })
  .refine(isOneSided, oneSide);

const revocation = z.object({
  keep_configuration: queryBoolean.default(false).meta({
    description:
      'Whether the endpoints, routes, guard rules, scheduled emails and keys that the key created stay as they are. They are then yours.',
  }),
});

const deletedKey = z.object({ object: z.literal('api_key'), id: z.string(), deleted: z.literal(true) });

const configurationBody = z
  .object({
    object: z.literal('list'),
    data: z.array(
      z
        .object({
          kind: z.enum(CONFIGURATION_KINDS),
          id: z.string(),
          name: z.string().meta({ description: 'Its name, address or subject.' }),
        })
        .meta({ id: 'ApiKeyConfiguredItem' }),
    ),
    has_more: z.boolean().meta({ description: `Whether there are more than ${MAX_CONFIGURED_ITEMS}.` }),
  })
  .meta({ id: 'ApiKeyConfiguration' });

const TAGS = ['API keys'];

export const apiKeyRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/api-keys',
    {
      config: { access: access.manage },
      schema: {
        operationId: 'createApiKey',
        summary: 'Create an API key',
        description: `Returns the secret as \`token\`. A key cannot create a key with more rights than its own. An account can have ${keys.MAX_API_KEYS} keys that are not revoked.`,
        tags: TAGS,
        body: newKey,
        response: { 201: createdKey, 409: errorBody, default: errorBody },
      },
    },
    async (request, reply) => {
      const context = contextOf(request);
      const { permission, domains, domain_id: domainId, expires_at: expiresAt, ...input } = request.body;
      requireOne('permission', permission, 'scopes', input.scopes);
      requireOne('domain_id', domainId, 'domains', domains);
      const { id, secret } = await keys.createApiKey(context, {
        name: input.name,
        policy: input.policy,
        scopes: input.scopes ?? scopesOf(permission),
        domains: domains ?? (domainId == null ? null : [domainId]),
        expiresAt: readTime(expiresAt),
      });
      const body = await bodyOf(context, await keys.readApiKey(context, id));
      return reply.code(201).send({ ...body, token: secret });
    },
  );

  app.get(
    '/api-keys',
    {
      config: { access: access.read },
      schema: {
        operationId: 'listApiKeys',
        summary: 'List API keys',
        description: 'Returns the newest first, without their secrets.',
        tags: TAGS,
        querystring: listQuery,
        response: { 200: listOf(keyBody), default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const { is_revoked: isRevoked, limit: size, offset: start } = request.query;
      const page = { limit: size, offset: start };
      const beside = await pageBeside(request.query, {
        load: (ids) => keys.loadApiKeys(context, ids),
        page: (keyset) => keys.pageApiKeys(context, { isRevoked }, keyset),
      });
      if (beside !== null) {
        const total = await keys.countApiKeys(context, { isRevoked });
        return besideBody(await bodiesOf(context, beside.items), page, { ...beside, total });
      }
      const found = await keys.listApiKeys(context, { isRevoked }, page);
      return listBody(await bodiesOf(context, found.keys), page, found.total);
    },
  );

  app.get(
    '/api-keys/:id',
    {
      config: { access: access.read },
      schema: {
        operationId: 'getApiKey',
        summary: 'Retrieve an API key',
        description: 'Returns the key without its secret, and what is left of the budgets of its policy.',
        tags: TAGS,
        params: idInPath,
        response: { 200: keyBody, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      return bodyOf(context, await keys.readApiKey(context, request.params.id));
    },
  );

  app.get(
    '/api-keys/:id/configuration',
    {
      config: { access: access.read },
      schema: {
        operationId: 'listApiKeyConfiguration',
        summary: 'List what an API key set up',
        description:
          'Returns the endpoints, routes, guard rules, scheduled emails and keys that the key, and keys that it created, set up and that are active. They stop when the key is revoked, unless `keep_configuration` keeps them.',
        tags: TAGS,
        params: idInPath,
        response: { 200: configurationBody, default: errorBody },
      },
    },
    async (request) => {
      const { items, hasMore } = await readKeyConfiguration(contextOf(request), request.params.id);
      return { object: 'list' as const, data: items, has_more: hasMore };
    },
  );

  app.patch(
    '/api-keys/:id',
    {
      config: { access: access.manage },
      schema: {
        operationId: 'updateApiKey',
        summary: 'Update an API key',
        description:
          'Omitted fields keep their values. A key can lose scopes, and never gains any. A key changes only keys whose rights are within its own.',
        tags: TAGS,
        params: idInPath,
        body: keyChange,
        response: { 200: keyBody, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const { expires_at: expiresAt, ...change } = request.body;
      const changed = await keys.updateApiKey(context, request.params.id, {
        ...change,
        expiresAt: expiresAt === undefined ? undefined : readTime(expiresAt),
      });
      return bodyOf(context, changed);
    },
  );

  app.delete(
    '/api-keys/:id',
    {
      config: { access: access.manage },
      schema: {
        operationId: 'deleteApiKey',
        summary: 'Revoke an API key',
        description:
          'The key stops working at once, and on other machines within 5 seconds. It cannot be restored. What it set up stops, and the keys that it created are revoked, too, unless you keep them.',
        tags: TAGS,
        params: idInPath,
        querystring: revocation,
        response: { 200: deletedKey, default: errorBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const keepsConfiguration = request.query.keep_configuration;
      await keys.revokeApiKey(contextOf(request), id, { keepsConfiguration });
      return { object: 'api_key' as const, id, deleted: true as const };
    },
  );
};

/** The route by which a key revokes itself, whatever it may do else. */
export const revokeKeyRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/auth/revoke-key',
    {
      config: { access: access.byDocument },
      schema: {
        operationId: 'revokePresentedKey',
        summary: 'Revoke the API key of the request',
        description:
          'Revokes the API key that authenticates the request. It stops working at once, and on other machines within 5 seconds. Needs no scope.',
        tags: TAGS,
        response: { 200: z.object({ success: z.literal(true) }), default: errorBody },
      },
    },
    async (request) => {
      await keys.revokePresentedKey(contextOf(request));
      return { success: true as const };
    },
  );
};

function scopesOf(permission: 'full_access' | 'sending_access' | undefined): readonly Scope[] | null {
  return permission === 'sending_access' ? ['send'] : null;
}

/** Two fields that say the same can contradict each other. Throws validation. */
function requireOne(name: string, value: unknown, otherName: string, other: unknown): void {
  if (value == null || other == null) return;
  const message = `Give ${otherName} or ${name}, not both`;
  throw new UserError('validation', message, { details: [{ field: name, message }] });
}

function readTime(given: string | null | undefined): Date | null {
  return given == null ? null : new Date(given);
}

async function bodyOf(context: OperationContext, key: keys.ApiKey): Promise<z.infer<typeof keyBody>> {
  const [usage = []] = await keys.readKeyUsage(context, [key]);
  return keyBodyOf(key, usage);
}

async function bodiesOf(context: OperationContext, found: readonly keys.ApiKey[]): Promise<z.infer<typeof keyBody>[]> {
  const usage = await keys.readKeyUsage(context, found);
  return found.map((key, at) => keyBodyOf(key, usage[at] ?? []));
}

function keyBodyOf(key: keys.ApiKey, usage: readonly PolicyUsage[]): z.infer<typeof keyBody> {
  const { id, name: label, status, isCurrent, domainId, domainName } = key;
  return {
    object: 'api_key',
    id,
    name: label,
    status,
    is_current: isCurrent,
    scopes: key.scopes === null ? null : [...key.scopes],
    domains: domainId === null || domainName === null ? null : [{ id: domainId, name: domainName }],
    policy: key.policy,
    policy_usage: policyUsageBodyOf(usage),
    created_at: wireInstant(key.createdAt),
    expires_at: wireInstant(key.expiresAt),
    revoked_at: wireInstant(key.revokedAt),
    last_used_at: wireInstant(key.lastUsedAt),
    last_used_from: key.lastUsedFrom,
    hint: key.hint,
  };
}
