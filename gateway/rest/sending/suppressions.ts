import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  newSuppression,
  suppressedAddress,
  suppressionCapability,
  suppressionFilter,
  suppressionReason,
} from '../../../operations/sending/suppression-capability.ts';
import * as suppressions from '../../../operations/sending/suppressions.ts';
import { access } from '../../admission/access.ts';
import { capabilityRoutes, type WireDifferences } from '../capability-routes.ts';
import { errorBody, type RestOptions, text } from '../shapes.ts';

const lifted = z.object({
  success: z.literal(true),
  message: z.string(),
  object: z.literal('suppression'),
  id: z.string(),
  deleted: z.literal(true),
});

/** The `resend` client has field names of its own. */
const differences: WireDifferences<suppressions.Suppression> = {
  fields: {
    shape: {
      email: z.string(),
      origin: z.enum(['bounce', 'complaint', 'manual']).meta({
        description: 'As `reason`, without `unsubscribe`, which the `resend` client does not know: it is `manual`.',
      }),
      source_id: z.string().nullable(),
    },
    valuesOf: ({ address, reason, emailId }) => ({
      email: address,
      origin: reason === 'unsubscribe' ? 'manual' : reason,
      source_id: emailId,
    }),
  },
  operations: {
    createSuppression: {
      request: z
        .object({
          address: suppressedAddress.optional(),
          email: suppressedAddress.optional(),
          detail: newSuppression.shape.detail,
        })
        .refine(({ address, email }) => address !== undefined || email !== undefined, {
          path: ['address'],
          message: 'address is required',
        }),
      inputOf: ({ address, email, detail }) => ({ address: address ?? email, detail }),
    },
    listSuppressions: {
      request: z.object({
        reason: suppressionFilter.shape.reason,
        origin: suppressionReason.optional().meta({ description: 'Alias of `reason`.' }),
        search: suppressionFilter.shape.search,
      }),
      inputOf: ({ reason, origin, search }) => ({ reason: reason ?? origin, search }),
    },
    deleteSuppression: { response: { shape: () => lifted, bodyOf: (_usual, row) => liftedBody(row) } },
  },
};

const unblock = z
  .object({ emailAddress: text.meta({ description: 'The address.' }) })
  .meta({ examples: [{ emailAddress: 'ada@example.org' }] });
const several = z.array(text).min(1).max(100);
const addedAddresses = z
  .object({ emails: several.meta({ description: 'The addresses.' }) })
  .meta({ examples: [{ emails: ['ada@example.org', 'bob@example.org'] }] });
const removedAddresses = z
  .object({
    emails: several.optional().meta({ description: 'The addresses.' }),
    ids: several.optional().meta({ description: 'IDs of suppressions.' }),
  })
  .refine(({ emails, ids }) => (emails === undefined) !== (ids === undefined), {
    path: ['emails'],
    message: 'Either emails or ids is required',
  })
  .meta({ examples: [{ emails: ['ada@example.org'] }] });
const addedBody = z.object({ data: z.array(lifted.pick({ object: true, id: true })) });
const removedBody = z.object({ data: z.array(lifted.pick({ object: true, id: true, deleted: true })) });

export const suppressionRoutes = capabilityRoutes(suppressionCapability, differences);

/** Paths of the `resend` client and of older clients. */
export const legacySuppressionRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/suppressions/batch/add',
    {
      config: { access: access.policies },
      schema: {
        operationId: 'batchCreateSuppressions',
        summary: 'Create several suppressions',
        description:
          'Same as POST /suppressions, for 1 to 100 addresses in one transaction. Returns one suppression per address, in no particular order.',
        tags: ['Paths of other clients'],
        body: addedAddresses,
        response: { 200: addedBody, default: errorBody },
      },
    },
    async (request) => {
      const made = await suppressions.suppressAddresses(contextOf(request), request.body.emails);
      return { data: made.map(({ id }) => ({ object: 'suppression' as const, id })) };
    },
  );

  app.post(
    '/suppressions/batch/remove',
    {
      config: { access: access.policies },
      schema: {
        operationId: 'batchDeleteSuppressions',
        summary: 'Delete several suppressions',
        description:
          'Same as DELETE /suppressions/{id}, for 1 to 100 addresses or IDs in one transaction. Returns the suppressions that existed.',
        tags: ['Paths of other clients'],
        body: removedAddresses,
        response: { 200: removedBody, default: errorBody },
      },
    },
    async (request) => {
      const { emails, ids } = request.body;
      const removed = await suppressions.liftSuppressions(contextOf(request), emails ?? ids ?? []);
      return { data: removed.map(({ id }) => ({ object: 'suppression' as const, id, deleted: true as const })) };
    },
  );

  app.post(
    '/blocklist/unblock',
    {
      config: { access: access.policies },
      schema: {
        operationId: 'legacyUnblockAddress',
        summary: 'Delete the suppression of an address',
        description: 'Same as DELETE /suppressions/{id}.',
        tags: ['Paths of other clients'],
        deprecated: true,
        body: unblock,
        response: { 200: lifted, 404: errorBody, default: errorBody },
      },
    },
    async (request) =>
      liftedBody(await suppressions.liftSuppression(contextOf(request), request.body.emailAddress.trim())),
  );
};

function liftedBody({ id, address }: suppressions.Suppression): z.infer<typeof lifted> {
  return { success: true, message: `Mail is sent to ${address} again`, object: 'suppression', id, deleted: true };
}
