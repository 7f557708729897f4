import type { FastifyReply } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type AttachmentFile, readAttachment } from '../../../operations/emails/attachments.ts';
import { access } from '../../admission/access.ts';
import { sendDownloadError } from '../../http/error-response.ts';
import { errorBody, type RestOptions } from '../shapes.ts';

/** Nothing in a served file may run or load, should a browser show it after all. */
const SANDBOX = "sandbox; default-src 'none'";

export const emailId = z.string().meta({ description: 'ID of the email.' });

/** Of the document alone: bytes pass by the serializer. */
export const file = {
  description: 'The bytes of the file, with its own content type.',
  content: { '*/*': { schema: z.any().meta({ type: 'string', format: 'binary' }) } },
};

export const attachmentRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.setErrorHandler(sendDownloadError);

  app.get(
    '/attachments/:id/:filename',
    {
      config: { access: access.read, isDownload: true },
      schema: {
        operationId: 'downloadAttachment',
        summary: 'Download an attachment by name',
        description:
          'Returns the bytes of the first attachment with that name. If an email has two attachments with the same name, download the other one by its index.',
        tags: ['Attachments'],
        params: z.object({
          id: emailId,
          filename: z.string().meta({ description: 'File name of the attachment, percent-encoded.' }),
        }),
        response: { 200: file, default: errorBody },
      },
    },
    async (request, reply) => {
      const { id, filename } = request.params;
      return sendFile(reply, await readAttachment(contextOf(request), id, { filename }));
    },
  );
};

/** Answers the bytes in a form in which nothing of them can run. */
export function sendFile(reply: FastifyReply, file: AttachmentFile): FastifyReply {
  const bytes = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.byteLength);
  return reply
    .headers({
      'content-type': isContentType(file.contentType) ? file.contentType : 'application/octet-stream',
      'content-disposition': contentDisposition(file.filename),
      'content-length': bytes.length,
      // What a session opened is not to be had from the browser when the session is over.
      'cache-control': reply.request.caller?.via === 'session' ? 'no-store' : 'private, max-age=3600',
      'x-content-type-options': 'nosniff',
      'content-security-policy': SANDBOX,
    })
    .send(bytes);
}

/** RFC 9110 §8.3.1 without parameters. */
function isContentType(value: string): boolean {
  return /^[a-z0-9!#$&^_.+-]{1,126}\/[a-z0-9!#$&^_.+-]{1,126}$/i.test(value);
}

/** RFC 6266: a filename in ASCII for old clients, and the true one in the form of RFC 5987. */
function contentDisposition(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\/%;]/g, '_');
  const extended = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${extended}`;
}
