import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import * as suppressions from '../../../operations/sending/suppressions.ts';
import {
  newSuppressionShape,
  suppressedAddressShape,
  suppressionQueryShape,
  suppressionReasonShape,
} from '../../../schema/input-shapes.ts';
import { access } from '../../admission/access.ts';
import { besideFields, INSTEAD_OF_OFFSET, isOneSided, oneSide, pageBeside } from '../page-beside.ts';
import {
  besideBody,
  errorBody,
  instant,
  limit,
  listBody,
  listOf,
  offset,
  type RestOptions,
  text,
  wireInstant,
} from '../shapes.ts';
import { refusalBody, refusalBodyOf } from './refusal-wire.ts';

const reason = suppressionReasonShape;

const suppressionBody = z
  .object({
    object: z.literal('suppression'),
    id: z.string(),
    address: z.string().meta({ description: 'In lowercase.' }),
    reason: reason.meta({
      description:
        'Whether the server rejected the address permanently, the recipient complained or unsubscribed from a list, or you added the address.',
    }),
    list: z.string().nullable().meta({
      description: 'Only mail of this list is suppressed, because the recipient unsubscribed from it. Null: all mail.',
    }),
    detail: z.string().nullable().meta({ description: 'Text of the server reply, the report or your note.' }),
    refusal: refusalBody.nullable().meta({ description: 'Why the email bounced. Null for other suppressions.' }),
    email_id: z
      .string()
      .nullable()
      .meta({ description: 'The email that bounced or caused the complaint. Null if you added the address.' }),
    created_at: instant,
    // Field names of the `resend` client.
    email: z.string(),
    origin: z.enum(['bounce', 'complaint', 'manual']).meta({
      description: 'As `reason`, without `unsubscribe`, which the `resend` client does not know: it is `manual`.',
    }),
    source_id: z.string().nullable(),
  })
  .meta({ id: 'Suppression' });

const listQuery = z
  .object({
    limit: limit(),
    offset,
    ...besideFields('a suppression', INSTEAD_OF_OFFSET),
    reason: reason.optional().meta({ description: 'Returns suppressions with this reason only.' }),
    origin: reason.optional().meta({ description: 'Alias of `reason`.' }),
    search: suppressionQueryShape.shape.search,
  })
  .refine(isOneSided, oneSide);

// The `resend` client calls it `email`.
const newSuppression = z
  .object({
    address: suppressedAddressShape.optional(),
    email: suppressedAddressShape.optional(),
    detail: newSuppressionShape.shape.detail,
  })
  .refine((body) => body.address !== undefined || body.email !== undefined, {
    path: ['address'],
    message: 'address is required',
  })
  .meta({ examples: [{ address: 'ada@example.org', detail: 'asked by phone' }] });

const oneInPath = z.object({ id: z.string().meta({ description: 'ID of the suppression, or the address.' }) });
const unblock = z
  .object({ emailAddress: text.meta({ description: 'The address.' }) })
  .meta({ examples: [{ emailAddress: 'ada@example.org' }] });
const lifted = z.object({
  success: z.literal(true),
  message: z.string(),
  object: z.literal('suppression'),
  id: z.string(),
  deleted: z.literal(true),
});

const several = z.array(text).min(1).max(100);
// The form of the `resend` client.
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
const addedBody = z.object({ data: z.array(suppressionBody.pick({ object: true, id: true })) });
const removedBody = z.object({ data: z.array(lifted.pick({ object: true, id: true, deleted: true })) });

export const suppressionRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/suppressions',
    {
      config: { access: access.manage },
      schema: {
        operationId: 'createSuppression',
        summary: 'Create a suppression',
        description:
          'Postroom refuses to send to the address until you delete the suppression. If the address is suppressed already, the existing suppression is returned unchanged.',
        tags: ['Suppressions'],
        body: newSuppression,
        response: { 201: suppressionBody, default: errorBody },
      },
    },
    async (request, reply) => {
      const { address, email = '', detail } = request.body;
      const made = await suppressions.suppressAddress(contextOf(request), { address: address ?? email, detail });
      return reply.code(201).send(suppressionBodyOf(made));
    },
  );

  app.get(
    '/suppressions',
    {
      config: { access: access.readAccount },
      schema: {
        operationId: 'listSuppressions',
        summary: 'List suppressions',
        description: 'Returns suppressed addresses, newest first. Postroom refuses to send to them.',
        tags: ['Suppressions'],
        querystring: listQuery,
        response: { 200: listOf(suppressionBody), default: errorBody },
      },
    },
    async (request) => {
      const { limit: size, offset: start, origin, reason: why = origin, search } = request.query;
      const page = { limit: size, offset: start };
      const context = contextOf(request);
      const query = { reason: why, search };
      const beside = await pageBeside(request.query, {
        load: (ids) => suppressions.loadSuppressions(context, ids),
        page: (keyset) => suppressions.pageSuppressions(context, query, keyset),
      });
      if (beside !== null) {
        const total = await suppressions.countSuppressions(context, query);
        return besideBody(beside.items.map(suppressionBodyOf), page, { ...beside, total });
      }
      const found = await suppressions.listSuppressions(context, query, page);
      return listBody(found.suppressions.map(suppressionBodyOf), page, found.total);
    },
  );

  app.get(
    '/suppressions/:id',
    {
      config: { access: access.readAccount },
      schema: {
        operationId: 'getSuppression',
        summary: 'Retrieve a suppression',
        description: 'Returns why Postroom does not send to an address.',
        tags: ['Suppressions'],
        params: oneInPath,
        response: { 200: suppressionBody, default: errorBody },
      },
    },
    async (request) => suppressionBodyOf(await suppressions.readSuppression(contextOf(request), request.params.id)),
  );

  app.delete(
    '/suppressions/:id',
    {
      config: { access: access.manage },
      schema: {
        operationId: 'deleteSuppression',
        summary: 'Delete a suppression',
        description: 'The address can receive mail again, until it bounces or its owner complains.',
        tags: ['Suppressions'],
        params: oneInPath,
        response: { 200: lifted, default: errorBody },
      },
    },
    async (request) => liftedBodyOf(await suppressions.liftSuppression(contextOf(request), request.params.id)),
  );

  app.post(
    '/suppressions/batch/add',
    {
      config: { access: access.manage },
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
      config: { access: access.manage },
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
      config: { access: access.manage },
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
      liftedBodyOf(await suppressions.liftSuppression(contextOf(request), request.body.emailAddress.trim())),
  );
};

function suppressionBodyOf(suppression: suppressions.Suppression): z.infer<typeof suppressionBody> {
  const { id, address, reason: why, list, detail, refusalReason, emailId, createdAt } = suppression;
  const refusal = refusalBodyOf(refusalReason);
  const fields = {
    id,
    address,
    reason: why,
    list,
    detail,
    refusal,
    email_id: emailId,
    created_at: wireInstant(createdAt),
  };
  const origin = why === 'unsubscribe' ? 'manual' : why;
  return { object: 'suppression', ...fields, email: address, origin, source_id: emailId };
}

function liftedBodyOf({ id, address }: suppressions.Suppression): z.infer<typeof lifted> {
  return { success: true, message: `Mail is sent to ${address} again`, object: 'suppression', id, deleted: true };
}
