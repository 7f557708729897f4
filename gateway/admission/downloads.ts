import { type FastifyInstance } from 'fastify';
import { UserError } from '../../core/shared/errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** of a route that answers the bytes of a file or a message, which are in memory until the last of them has gone */
    isDownload?: boolean;
  }
}

export interface DownloadLimits {
  /** downloads of one user at the same time */
  most?: number;
  /** a receiver that takes nothing for so long is given up; milliseconds */
  stalledMs?: number;
}

/** A message has up to 15 MB, so that these are 120 MB. */
export const MAX_DOWNLOADS_IN_FLIGHT = 8;
const STALLED_MS = 30_000;
/** Seconds. */
const RETRY_AFTER_SECONDS = 1;

/**
 * Keeps receivers that read slowly, or not at all, from filling the memory with what they asked for: a download counts for its user, by
 * key or by signed link, until its last byte has gone. One more is answered 429 before anything is read for it. To be called before the
 * routes are registered.
 */
export function limitDownloads(app: FastifyInstance, limits: DownloadLimits = {}): void {
  const { most = MAX_DOWNLOADS_IN_FLIGHT, stalledMs = STALLED_MS } = limits;
  const countOfUsers = new Map<string, number>();

  // Behind the admission, whose hooks are of an earlier kind.
  app.addHook('preHandler', async ({ userId, routeOptions }, { raw }) => {
    if (routeOptions.config.isDownload !== true) return;
    const count = countOfUsers.get(userId) ?? 0;
    if (count >= most)
      throw new UserError('rate_limited', `Too many downloads at once. At most ${most} may be under way.`, {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    countOfUsers.set(userId, count + 1);
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      const left = (countOfUsers.get(userId) ?? 1) - 1;
      if (left > 0) countOfUsers.set(userId, left);
      else countOfUsers.delete(userId);
    };
    raw.once('finish', end).once('close', end);
    raw.setTimeout(stalledMs, () => raw.destroy());
  });
}

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
