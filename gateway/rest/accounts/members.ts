import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { MAX_PICTURE_BYTES, PICTURE_TYPES } from '../../../core/accounts/picture.ts';
import {
  invitationCapability,
  memberCapability,
  workspaceCapability,
} from '../../../operations/accounts/member-capability.ts';
import { readPicture } from '../../../operations/accounts/members.ts';
import { access } from '../../admission/access.ts';
import { giveAway } from '../../admission/limit-responses.ts';
import { isTagKnown } from '../../http/entity-tag.ts';
import { capabilityRoutes } from '../capability-routes.ts';
import { makeDownload, SANDBOX } from '../emails/attachments.ts';
import { errorBody, queryBoolean, type RestOptions } from '../shapes.ts';

/** A picture in base64, and what is somewhat too large, so that the response can say the limit. Bytes. */
const PICTURE_BODY_LIMIT = 2 * MAX_PICTURE_BYTES;

/** Sends the picture of a member. A browser keeps it, and asks each time whether it may still show it. */
const pictureRoute: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/members/:id/picture',
    {
      config: { access: access.read },
      schema: {
        operationId: 'getMemberPicture',
        summary: 'Retrieve the picture of a member',
        description: 'Returns the file that the `image` of a member leads to.',
        tags: ['Members'],
        params: z.object({ id: z.string().meta({ description: 'ID of the person.' }) }),
        querystring: z.object({
          v: z
            .string()
            .optional()
            .meta({ description: 'Version of the picture. The current one is sent in any case.' }),
        }),
        response: { 200: makeDownload(...PICTURE_TYPES), default: errorBody },
      },
    },
    async (request, reply) => {
      const { mediaType, content, version } = await readPicture(contextOf(request), request.params.id);
      const etag = `"${version}"`;
      reply.headers({
        etag,
        'cache-control': 'private, no-cache',
        'x-content-type-options': 'nosniff',
        'content-security-policy': SANDBOX,
        'cross-origin-resource-policy': 'same-origin',
      });
      if (isTagKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
      return reply
        .headers({ 'content-type': mediaType, 'content-length': content.length, 'content-disposition': 'inline' })
        .send(giveAway(content));
    },
  );
};

export const memberRoutes = [
  capabilityRoutes(workspaceCapability),
  capabilityRoutes(memberCapability, {
    operations: {
      setPicture: { route: { bodyLimit: PICTURE_BODY_LIMIT } },
      removeMember: {
        request: z.object({}),
        query: z.object({
          keep_keys: queryBoolean.default(false).meta({
            description:
              'Whether the API keys that the member created, and what they set up, stay. They are then yours. Default: they are revoked.',
          }),
        }),
      },
    },
  }),
  capabilityRoutes(invitationCapability),
  pictureRoute,
];
