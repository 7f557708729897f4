import { once } from 'node:events';
import { createGzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { NO_RIGHTS } from '../../core/accounts/key-rights.ts';
import { requireRights } from '../../core/accounts/rights.ts';
import { UserError } from '../../core/shared/errors.ts';
import { TAR_END, tarHeader, tarPadding } from '../../core/shared/tar.ts';
import type { Database } from '../../db/connection/database.ts';
import { chargeResults } from '../../db/connection/result-charge.ts';
import { findRightsNow } from '../../db/queries/accounts/credential.ts';
import { exportAccount } from '../../operations/accounts/export-account.ts';
import { requireFreshSignIn } from '../../operations/accounts/fresh-sign-in.ts';
import { readOrigin } from '../admission/audit-notes.ts';
import { findSession } from '../admission/session-admission.ts';
import type { SessionLookup } from './session-lookup.ts';

export interface AccountExportOptions {
  /** role postroom_gateway */
  userDatabase: Database;
  sessions: SessionLookup;
  publicUrl: string;
  now: () => Date;
}

/** Each holds a connection to the database until its client has received the last byte. @limit */
export const MAX_EXPORTS = 2;
/** What an export has in memory, as long as it takes: two parts and what waits for the network. @limit */
export const EXPORT_BYTES = 4_000_000;
const RETRY_AFTER_SECONDS = 30;
/** Time between two looks whether the person may still export. Milliseconds. */
const LOOK_MS = 2_000;
/** Time after which a client that reads nothing is disconnected; milliseconds. */
const STALLED_MS = 60_000;
/** Higher levels take several times the processor time for a few percent. */
const GZIP_LEVEL = 3;

/**
 * Serves `GET /export`: all data of the account that is signed in, as a .tar.gz without secrets. API keys cannot use it. The archive is made
 * while it is sent, at the speed of the client, and nothing is stored. A connection that breaks ends the export, and so does the end of the session or
 * of the right, within seconds. It takes room as other responses do, of a fixed size, because a message is read in pieces.
 */
export function accountExportRoute(
  app: FastifyInstance,
  { userDatabase, sessions, publicUrl, now }: AccountExportOptions,
): void {
  const running = new Set<string>();
  app.get('/export', { schema: { hide: true } }, async (request, reply) => {
    const entry = await findSession(request, sessions, publicUrl);
    if (entry === null) throw new UserError('unauthorized', 'Authentication required');
    const { workspaceId, rights } = entry.session;
    requireRights(rights, 'An export', ['export']);
    requireFreshSignIn(
      { caller: { via: 'session', signedInAt: entry.session.confirmedAt }, now },
      'export the account',
    );
    if (running.has(workspaceId) || running.size >= MAX_EXPORTS)
      throw new UserError('rate_limited', 'An export is already running. Wait until its download has ended.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    // Whose room it takes.
    request.workspaceId = workspaceId;
    request.room?.take(EXPORT_BYTES);
    running.add(workspaceId);
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    reply.raw.setTimeout(STALLED_MS, () => reply.raw.destroy());
    const archive = createGzip({ level: GZIP_LEVEL });
    let lookedAt = performance.now();
    const requireStill = async () => {
      if (performance.now() - lookedAt < LOOK_MS) return;
      const session = await sessions.find(sessions.cookieOf(request.headers.cookie) ?? '');
      const present = await findRightsNow(userDatabase.kysely, workspaceId, entry.session.personId);
      if (session?.sessionId !== entry.session.sessionId) throw new UserError('unauthorized', 'The session has ended');
      requireRights({ ...rights, ...(present ?? NO_RIGHTS) }, 'An export', ['export']);
      lookedAt = performance.now();
    };
    const send = async (bytes: Buffer) => {
      gone.signal.throwIfAborted();
      await requireStill();
      if (!archive.write(bytes)) await once(archive, 'drain', { signal: gone.signal });
    };
    const startedAt = now();
    const exported = () =>
      exportAccount(userDatabase, {
        workspaceId,
        origin: { ...readOrigin(request), kind: 'person', id: entry.session.personId },
        secretKey: null,
        async write({ path, number, sizeBytes, pieces }) {
          const name = number === 1 ? path : path.replace(/(?=\.jsonl$)/, `.${number}`);
          await send(tarHeader({ path: name, sizeBytes, modifiedAt: startedAt }));
          for await (const piece of pieces) await send(piece);
          await send(tarPadding(sizeBytes));
        },
      });
    // What it reads is in its room already.
    chargeResults(null, exported)
      .then(() => archive.end(TAR_END))
      .catch((error: unknown) => {
        if (!gone.signal.aborted) request.log.error({ err: error, workspaceId }, 'an export of an account failed');
        archive.destroy(error as Error);
        // Otherwise a client that reads slowly would get what is on its way.
        reply.raw.destroy();
      })
      .finally(() => running.delete(workspaceId));
    return reply
      .headers({
        'content-type': 'application/gzip',
        'content-disposition': `attachment; filename="postroom-${startedAt.toISOString().slice(0, 'yyyy-mm-dd'.length)}.tar.gz"`,
        'cache-control': 'no-store',
      })
      .send(archive);
  });
}
