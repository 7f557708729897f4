import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { UserError } from '../../../core/shared/errors.ts';
import { apiKeyCapability, apiKeyChange, newApiKey } from '../../../operations/accounts/api-key-capability.ts';
import * as keys from '../../../operations/accounts/api-keys.ts';
import { MAX_CONFIGURED_ITEMS } from '../../../operations/accounts/key-configuration.ts';
import { text } from '../../../operations/capability/field-shapes.ts';
import { access } from '../../admission/access.ts';
import { capabilityRoutes } from '../capability-routes.ts';
import { wireInput } from '../capability-shapes.ts';
import { errorBody, queryBoolean, type RestOptions } from '../shapes.ts';

const configuration = z
  .object({
    object: z.literal('list'),
    data: z.array(z.unknown()),
    has_more: z.boolean().meta({ description: `Whether there are more than ${MAX_CONFIGURED_ITEMS}.` }),
  })
  .meta({ id: 'ApiKeyConfiguration' });

export const apiKeyRoutes = capabilityRoutes<keys.ApiKey>(apiKeyCapability, {
  operations: {
    createApiKey: {
      /**
       * Unknown fields are refused here, because a key with a misspelled `scopes` or `policy` would have full rights. `permission` and
       * `domain_id` are fields of the `resend` client.
       */
      request: z.strictObject({
        ...wireInput(newApiKey, 'snake').shape,
        permission: z
          .enum(['full_access', 'sending_access'])
          .optional()
          .meta({ description: '`sending_access` is short for the scope `send`.' }),
        domain_id: text.nullish().meta({ description: 'Short for `domains` with one domain.' }),
      }),
      inputOf({ permission, domain_id: domainId, ...request }, usual) {
        requireOne('permission', permission, 'scopes', request['scopes']);
        requireOne('domain_id', domainId, 'domains', request['domains']);
        const scopes = permission === 'sending_access' ? ['send'] : null;
        const domains = domainId == null ? null : [domainId];
        return usual({ ...request, scopes: request['scopes'] ?? scopes, domains: request['domains'] ?? domains });
      },
    },
    listApiKeys: {
      request: z.object({
        is_revoked: queryBoolean
          .default(false)
          .meta({ description: '`true` returns revoked keys, `false` all others.' }),
      }),
    },
    listApiKeyConfiguration: {
      response: {
        shape: ({ shape: { items } }) =>
          configuration.extend({ data: items as z.ZodArray }).meta({ id: 'ApiKeyConfiguration' }),
        bodyOf: ({ items, has_more: hasMore }) => ({ object: 'list', data: items, has_more: hasMore }),
      },
    },
    updateApiKey: { request: z.strictObject(wireInput(apiKeyChange, 'snake').shape) },
    deleteApiKey: {
      request: z.object({}),
      query: z.object({
        keep_configuration: queryBoolean.default(false).meta({
          description:
            'Whether the endpoints, routes, guard rules, scheduled emails and keys that the key created stay as they are. They are then yours.',
        }),
      }),
      response: {
        shape: () => z.object({ object: z.literal('api_key'), id: z.string(), deleted: z.literal(true) }),
        bodyOf: (_usual, { id }) => ({ object: 'api_key', id, deleted: true }),
      },
    },
  },
});

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
        tags: ['API keys'],
        response: { 200: z.object({ success: z.literal(true) }), default: errorBody },
      },
    },
    async (request) => {
      await keys.revokePresentedKey(contextOf(request));
      return { success: true as const };
    },
  );
};

/** Two fields that say the same can contradict each other. Throws validation. */
function requireOne(name: string, value: unknown, otherName: string, other: unknown): void {
  if (value == null || other == null) return;
  const message = `Give ${otherName} or ${name}, not both`;
  throw new UserError('validation', message, { details: [{ field: name, message }] });
}
