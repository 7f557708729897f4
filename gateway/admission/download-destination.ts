import type { FastifyInstance } from 'fastify';
import { UserError } from '../../core/shared/errors.ts';

/** What a browser says it loads a file as (Fetch Metadata, `Sec-Fetch-Dest`) when what is in it would run or style a page. */
const CODE = new Set([
  'audioworklet',
  'paintworklet',
  'script',
  'serviceworker',
  'sharedworker',
  'style',
  'worker',
  'xslt',
]);

/** Refuses files of mail that a page loads as code: a sender wrote them. To be called before the routes are registered. */
export function refuseDownloadsAsCode(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ headers, routeOptions }) => {
    const destination = headers['sec-fetch-dest'];
    if (routeOptions.config.isDownload !== true || typeof destination !== 'string' || !CODE.has(destination)) return;
    throw new UserError('forbidden', `A file of a mail cannot be loaded as ${destination}. Download it instead.`, {
      name: 'validation_error',
      title: 'Forbidden',
      reason: 'LOADED_AS_CODE',
    });
  });
}
