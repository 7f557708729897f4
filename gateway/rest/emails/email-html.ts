import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { readEmailHtml } from '../../../operations/emails/email-html.ts';
import { access } from '../../admission/access.ts';
import { errorBody, idInPath, type RestOptions } from '../shapes.ts';

/** For the OpenAPI document only: bytes bypass the serializer. */
const page = {
  description: 'A complete HTML document.',
  content: { 'text/html': { schema: z.any().meta({ type: 'string' }) } },
};

export const emailHtmlRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/emails/:id/html',
    {
      config: { access: access.read, isDownload: true },
      schema: {
        operationId: 'showEmail',
        summary: 'Render an email as a page',
        description:
          'Returns an HTML document with the sanitized HTML of the email, or with its text if there is no HTML. It keeps the design of the sender: style sheets, colors and the places of images. The document runs no code and loads nothing, except remote images if you request them. The headers `x-remote-image-count` and `x-tracking-pixel-count` show how many images were left out or could be.',
        tags: ['Emails'],
        params: idInPath,
        querystring: z.object({
          images: z.enum(['blocked', 'remote', 'trusted']).default('blocked').meta({
            description:
              '`remote` includes images from public servers, except tracking pixels. `trusted` does so only if images of the sender are always shown (see the settings of the dashboard) and the domain of the sender confirms the email. Images at private or local addresses and on hosts of this server are always left out.',
          }),
        }),
        response: { 200: page, default: errorBody },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const host = request.headers.host ?? null;
      const document = await readEmailHtml(contextOf(request), id, { images: request.query.images, host });
      const { hasRemoteImages } = document;
      const { 'sec-fetch-dest': destination, 'sec-fetch-site': site } = request.headers;
      const isFramed = destination === 'iframe' && site === 'same-origin';
      return reply
        .headers({
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': mailPolicy({ hasRemoteImages, isFramed }),
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'no-referrer',
          'cross-origin-resource-policy': 'same-origin',
          // Browsers must not resolve host names of links before the user follows them.
          'x-dns-prefetch-control': 'off',
          'cache-control': 'no-store',
          'x-remote-image-count': document.remoteImageCount,
          'x-tracking-pixel-count': document.trackingPixelCount,
        })
        .send(Buffer.from(document.html));
    },
  );
};

/**
 * Content-Security-Policy of the HTML of an email, which allows almost nothing (decision 37). In a frame of our own pages it keeps its origin, so
 * that the page can measure it; opened on its own it has none.
 */
function mailPolicy({ hasRemoteImages, isFramed }: { hasRemoteImages: boolean; isFramed: boolean }): string {
  return [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `img-src data:${hasRemoteImages ? ' https: http:' : ''}`,
    "font-src 'none'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
    `sandbox allow-popups allow-popups-to-escape-sandbox${isFramed ? ' allow-same-origin' : ''}`,
  ].join('; ');
}
