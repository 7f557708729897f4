import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { readAttachment, readRawMessage } from '../../../operations/emails/attachments.ts';
import { access } from '../../admission/access.ts';
import { sendDownloadError } from '../../http/error-response.ts';
import { errorBody, type RestOptions } from '../shapes.ts';
import { emailId, file, sendFile } from './attachments.ts';

/** Read by the admission of downloads. A key that is no text is as good as none, and never a fault of its own. */
const signedQuery = z.object({
  user: z.unknown().optional().meta({ type: 'string', description: 'the account in whose name the link was signed' }),
  expires: z
    .unknown()
    .optional()
    .meta({ type: 'string', description: 'when the signature ends, in seconds since 1970' }),
  signature: z.unknown().optional().meta({ type: 'string', description: 'stands for an API key until then' }),
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
        summary: 'Download an attachment by its place',
        description:
          'Answers the octets of the file. The `downloadUrl` of each attachment leads here; in webhooks it bears a signature that serves without an API key for 7 days.',
        tags: ['Attachments'],
        security,
        params: z.object({
          id: emailId,
          index: z.string().meta({ description: 'place of the attachment in the email, from 0' }),
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
        summary: 'Download a whole email',
        description:
          'Answers the message as it came in, or as it was composed, as a file of type `message/rfc822`. The `rawUrl` of webhooks leads here with a signature that serves without an API key for 7 days.',
        tags: ['Emails'],
        security,
        params: z.object({ id: z.string().meta({ description: 'id of the email' }) }),
        querystring: signedQuery,
        response: { 200: file, default: errorBody },
      },
    },
    async (request, reply) => sendFile(reply, await readRawMessage(contextOf(request), request.params.id)),
  );
};
