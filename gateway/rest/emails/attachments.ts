import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type AttachmentFile, readAttachment, readRawMessage } from '../../../operations/emails/attachments.ts';
import { readDraftAttachment } from '../../../operations/sending/drafts.ts';
import { access } from '../../admission/access.ts';
import { giveAway } from '../../admission/limit-responses.ts';
import { sendDownloadError } from '../../http/error-response.ts';
import { errorBody, type RestOptions } from '../shapes.ts';

/** Content-Security-Policy of files: nothing may run or load if a browser displays one. */
export const SANDBOX = "sandbox; default-src 'none'";

const emailId = z.string().meta({ description: 'ID of the email.' });
export const attachmentIndex = z
  .string()
  .meta({ description: 'Position of the attachment in the email, starting at 0.' });

/** Reads an index in a path. What is not a number is the index of no attachment. */
export function readIndex(index: string): number {
  return /^\d{1,6}$/.test(index) ? Number(index) : -1;
}

/** What routes of downloads share. */
export const download = { config: { access: access.read, isDownload: true }, errorHandler: sendDownloadError } as const;

/** For the OpenAPI document only: bytes bypass the serializer. */
const fileBody = makeDownload('*/*');

/** Returns the response of a download of these media types. */
export function makeDownload(...types: readonly string[]) {
  const schema = z.any().meta({ type: 'string', format: 'binary' });
  return {
    description: 'The bytes of the file, with its own content type.',
    content: Object.fromEntries(types.map((type) => [type, { schema }])),
  };
}

export const attachmentRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/attachments/:id/:filename',
    {
      ...download,
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
        response: { 200: fileBody, default: errorBody },
      },
    },
    async (request, reply) => {
      const { id, filename } = request.params;
      return sendFile(reply, await readAttachment(contextOf(request), id, { filename }));
    },
  );

  app.get(
    '/drafts/:id/attachments/:attachmentId',
    {
      ...download,
      schema: {
        operationId: 'downloadDraftAttachment',
        summary: 'Download an attachment of a draft',
        description: 'Returns the bytes of the file.',
        tags: ['Drafts'],
        params: z.object({
          id: z.string().meta({ description: 'ID of the draft.' }),
          attachmentId: z.string().meta({ description: 'ID of the attachment in the draft.' }),
        }),
        response: { 200: fileBody, default: errorBody },
      },
    },
    async (request, reply) => {
      const { id, attachmentId } = request.params;
      return sendFile(reply, await readDraftAttachment(contextOf(request), id, attachmentId));
    },
  );
};

/** Sends a file with headers that keep browsers from running it. */
export function sendFile(reply: FastifyReply, file: AttachmentFile): FastifyReply {
  const bytes = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.byteLength);
  return reply
    .headers({
      'content-type': isContentType(file.contentType) ? file.contentType : 'application/octet-stream',
      'content-disposition': contentDisposition('attachment', file.filename),
      'content-length': bytes.length,
      'cache-control': cacheControl(reply.request),
      'x-content-type-options': 'nosniff',
      'content-security-policy': SANDBOX,
    })
    .send(giveAway(bytes));
}

/** After the session ends, the browser must not serve a file from its cache. */
export function cacheControl({ caller }: FastifyRequest): string {
  return caller?.via === 'session' ? 'no-store' : 'private, max-age=3600';
}

/** A media type (RFC 9110 §8.3.1) without parameters. */
function isContentType(value: string): boolean {
  return /^[a-z0-9!#$&^_.+-]{1,126}\/[a-z0-9!#$&^_.+-]{1,126}$/i.test(value);
}

/** Returns Content-Disposition (RFC 6266): an ASCII filename for old clients, and the real one as in RFC 5987. */
export function contentDisposition(type: 'attachment' | 'inline', filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\/%;]/g, '_');
  const extended = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${type}; filename="${plain}"; filename*=UTF-8''${extended}`;
}

/** The signature of a link, which admission checks. Values of other types count as missing instead of being an error. */
const signedQuery = z.object({
  user: z.unknown().optional().meta({ type: 'string', description: 'ID of the account that the link was signed for.' }),
  for: z.unknown().optional().meta({
    type: 'string',
    description:
      'ID of the API key, member or endpoint that the link was made for. The link works while that may read the email.',
  }),
  expires: z
    .unknown()
    .optional()
    .meta({ type: 'string', description: 'When the signature expires, in seconds since 1970.' }),
  signature: z.unknown().optional().meta({ type: 'string', description: 'Replaces an API key until then.' }),
});

/** An API key, or the signature of a link. */
const security = [{ key: [] }, {}];

/** Downloads that webhooks link to. Register them after the admission that accepts signed links. */
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
          'Returns the bytes of the file. This is the `downloadUrl` of each attachment; in webhooks it includes a signature that works without an API key for 7 days, while the endpoint exists and may read.',
        tags: ['Attachments'],
        security,
        params: z.object({ id: emailId, index: attachmentIndex }),
        querystring: signedQuery,
        response: { 200: fileBody, default: errorBody },
      },
    },
    async (request, reply) => {
      const { id, index } = request.params;
      return sendFile(reply, await readAttachment(contextOf(request), id, { index: readIndex(index) }));
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
          'Returns the message as it was received or sent, as a file of type `message/rfc822`. This is the `rawUrl` in webhooks, where it includes a signature that works without an API key for 7 days, while the endpoint exists and may read.',
        tags: ['Emails'],
        security,
        params: z.object({ id: emailId }),
        querystring: signedQuery,
        response: { 200: makeDownload('message/rfc822'), default: errorBody },
      },
    },
    async (request, reply) => sendFile(reply, await readRawMessage(contextOf(request), request.params.id)),
  );
};
