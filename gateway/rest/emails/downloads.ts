import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { readAttachment, readRawMessage } from '../../../operations/emails/attachments.ts';
import { access } from '../../admission/access.ts';
import { sendDownloadError } from '../../http/error-response.ts';
import { errorBody, type RestOptions } from '../shapes.ts';
import { emailId, file, sendFile } from './attachments.ts';

/** Read by the admission of downloads. A key that is no text is as good as none, and never a fault of its own. */
const signedQuery = z.object({
  user: z.unknown().optional().meta({ type: 'string', description: 'ID of the account that the link was signed for.' }),
  expires: z
    .unknown()
    .optional()
    .meta({ type: 'string', description: 'When the signature expires, in seconds since 1970.' }),
  signature: z.unknown().optional().meta({ type: 'string', description: 'Replaces an API key until then.' }),
});

/** An API key, or the signature of a link. */
const security = [{ key: [] }, {}];

/** What webhooks link to: registered behind an admission that takes signed links too. */
export const downloadRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.setErrorHandler(sendDownloadError);

  app.get(
    '/attachments/:id/parts/:index',
    {
      config: { access: access.read, isDownload: true },
      schema: {
        operationId: 'downloadAttachmentPart',
        summary: 'Download an attachment by index',
        description:
          'Returns the bytes of the file. This is the `downloadUrl` of each attachment; in webhooks it includes a signature that works without an API key for 7 days.',
        tags: ['Attachments'],
        security,
        params: z.object({
          id: emailId,
          index: z.string().meta({ description: 'Position of the attachment in the email, starting at 0.' }),
        }),
        querystring: signedQuery,
        response: { 200: file, default: errorBody },
      },
    },
    async (request, reply) => {
      const { id, index } = request.params;
      // What is no place is the place of no attachment.
      const choice = { index: /^\d{1,6}$/.test(index) ? Number(index) : -1 };
      return sendFile(reply, await readAttachment(contextOf(request), id, choice));
    },
  );

  app.get(
    '/emails/:id/raw',
    {
      config: { access: access.read, isDownload: true },
      schema: {
        operationId: 'downloadRawEmail',
        summary: 'Download the raw message',
        description:
          'Returns the message as it was received or sent, as a file of type `message/rfc822`. This is the `rawUrl` in webhooks, where it includes a signature that works without an API key for 7 days.',
        tags: ['Emails'],
        security,
        params: z.object({ id: z.string().meta({ description: 'ID of the email.' }) }),
        querystring: signedQuery,
        response: { 200: file, default: errorBody },
      },
    },
    async (request, reply) => sendFile(reply, await readRawMessage(contextOf(request), request.params.id)),
  );
};
