import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { readAttachmentPreview } from '../../../operations/emails/attachment-preview.ts';
import { readAttachmentsArchive } from '../../../operations/emails/attachments-archive.ts';
import { errorBody, idInPath, type RestOptions } from '../shapes.ts';
import { attachmentIndex, cacheControl, contentDisposition, download, makeDownload, readIndex } from './attachments.ts';

/** Nothing runs or loads if a browser displays the preview by itself. */
const SANDBOX = "sandbox; default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'";
/**
 * Browsers do not show a PDF in a sandbox. Their viewers run scripts of a PDF apart from any page, and the bytes begin like a PDF, so
 * that `nosniff` keeps them from being read as anything else.
 */
const PDF_POLICY = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'";

export const attachmentViewRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/emails/:id/attachments/:index/preview',
    {
      ...download,
      schema: {
        operationId: 'previewAttachment',
        summary: 'Preview an attachment',
        description:
          'Returns an image or a PDF as it is, and the first 1,000,000 bytes of any other text, also of HTML and SVG, as plain text in UTF-8. The type is found in the bytes. `x-preview-cut` is `true` for a text that continues. Other files have no preview (400).',
        tags: ['Attachments'],
        params: idInPath.extend({ index: attachmentIndex }),
        response: {
          200: makeDownload(
            'image/png',
            'image/jpeg',
            'image/gif',
            'image/webp',
            'image/bmp',
            'application/pdf',
            'text/plain',
          ),
          default: errorBody,
        },
      },
    },
    async (request, reply) => {
      const { id, index } = request.params;
      const context = contextOf(request);
      const { filename, contentType, bytes, isCut } = await readAttachmentPreview(context, id, readIndex(index));
      return reply
        .headers({
          'content-type': contentType,
          'content-disposition': contentDisposition('inline', filename),
          'content-length': bytes.length,
          'cache-control': cacheControl(request),
          'x-content-type-options': 'nosniff',
          'content-security-policy': contentType === 'application/pdf' ? PDF_POLICY : SANDBOX,
          'cross-origin-resource-policy': 'same-origin',
          'referrer-policy': 'no-referrer',
          'x-preview-cut': String(isCut),
        })
        .send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    },
  );

  app.get(
    '/emails/:id/attachments.zip',
    {
      ...download,
      schema: {
        operationId: 'downloadAttachments',
        summary: 'Download all attachments',
        description:
          'Returns all attachments of the email as one ZIP file. Their names are changed where they are not safe on every operating system, or not unique.',
        tags: ['Attachments'],
        params: idInPath,
        response: { 200: makeDownload('application/zip'), default: errorBody },
      },
    },
    async (request, reply) => {
      const { filename, stream } = await readAttachmentsArchive(contextOf(request), request.params.id);
      return reply
        .headers({
          'content-type': 'application/zip',
          'content-disposition': contentDisposition('attachment', filename),
          'cache-control': cacheControl(request),
          'x-content-type-options': 'nosniff',
        })
        .send(stream);
    },
  );
};
