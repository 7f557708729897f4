import { type FastifyInstance } from 'fastify';
import { UserError } from '../../core/shared/errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** whether the route sends a file or a message, which stays in memory until the last byte is sent */
    isDownload?: boolean;
  }
}

export interface DownloadLimits {
  /** maximum concurrent downloads of one user */
  most?: number;
  /** time after which a client that reads nothing is disconnected; milliseconds */
  stalledMs?: number;
}

/** A message has up to 15 MB, so this makes 120 MB. */
export const MAX_DOWNLOADS_IN_FLIGHT = 8;
const STALLED_MS = 30_000;
/** Seconds. */
const RETRY_AFTER_SECONDS = 1;

/**
 * Keeps slow clients from filling the memory: a download, by key or by signed link, counts for its user until its last byte is sent. A
 * download beyond the limit gets 429 before anything is read. Call it before the routes are registered.
 */
export function limitDownloads(app: FastifyInstance, limits: DownloadLimits = {}): void {
  const { most = MAX_DOWNLOADS_IN_FLIGHT, stalledMs = STALLED_MS } = limits;
  const countOfWorkspaces = new Map<string, number>();

  // Runs after admission, which uses onRequest hooks.
  app.addHook('preHandler', async ({ workspaceId, routeOptions }, { raw }) => {
    if (routeOptions.config.isDownload !== true) return;
    // `close` is emitted once: a download that its client left while it waited for its turn would count for ever.
    if (raw.closed || raw.destroyed) throw new UserError('unavailable', 'The connection is closed');
    const count = countOfWorkspaces.get(workspaceId) ?? 0;
    if (count >= most)
      throw new UserError('rate_limited', `Too many concurrent downloads. The limit is ${most}.`, {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    countOfWorkspaces.set(workspaceId, count + 1);
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      const left = (countOfWorkspaces.get(workspaceId) ?? 1) - 1;
      if (left > 0) countOfWorkspaces.set(workspaceId, left);
      else countOfWorkspaces.delete(workspaceId);
    };
    raw.once('finish', end).once('close', end);
    raw.setTimeout(stalledMs, () => raw.destroy());
  });
}

/** Values of `Sec-Fetch-Dest` (Fetch Metadata) with which a browser would run the file or apply it as a style sheet. */
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

/** Rejects downloads that a page loads as code, because a sender wrote them. Call it before the routes are registered. */
export function refuseDownloadsAsCode(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ headers, routeOptions }) => {
    const destination = headers['sec-fetch-dest'];
    if (routeOptions.config.isDownload !== true || typeof destination !== 'string' || !CODE.has(destination)) return;
    throw new UserError('forbidden', `A file from an email cannot be loaded as ${destination}. Download it instead.`, {
      name: 'validation_error',
      title: 'Forbidden',
      reason: 'LOADED_AS_CODE',
    });
  });
}
