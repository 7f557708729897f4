import { Readable } from 'node:stream';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { auditCapability, auditFilter } from '../../../operations/accounts/audit-capability.ts';
import { type AuditEntry, type AuditQuery, exportAuditEntries } from '../../../operations/accounts/audit-log.ts';
import { access } from '../../admission/access.ts';
import { sendDownloadError } from '../../http/error-response.ts';
import { makeReader, wireQuery } from '../capability-shapes.ts';
import { makeDownload } from '../emails/attachments.ts';
import { errorBody, type RestOptions } from '../shapes.ts';
import { plainWireObject } from '../wire-object.ts';

const readFilter = makeReader(auditFilter, 'snake') as (query: unknown) => AuditQuery;

/** The export of the audit log. It is made while it is sent, at the speed of the client, from short transactions. */
export const auditExportRoute: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  const { resource } = auditCapability;
  if (resource === undefined) throw new Error('unreachable');
  const { writeRow } = plainWireObject(resource, 'snake');
  app.get(
    '/audit.ndjson',
    {
      config: { access: access.audit, isDownload: true },
      errorHandler: sendDownloadError,
      schema: {
        operationId: 'exportAuditLog',
        summary: 'Export the audit log',
        description:
          'Returns all entries that match, newest first, as JSON lines. A file without a last line break is incomplete. Each export has an entry of its own.',
        tags: ['Audit'],
        querystring: wireQuery(auditFilter, 'snake'),
        response: {
          200: makeDownload('application/x-ndjson'),
          default: errorBody,
        },
      },
    },
    async (request, reply) => {
      const context = contextOf(request);
      const pieces = exportAuditEntries(context, readFilter(request.query));
      // An error of the first piece is still a response of its own.
      const first = await pieces.next();
      const toLines = (entries: AuditEntry[]) =>
        entries.map((entry) => `${JSON.stringify(writeRow(context, entry))}\n`).join('');
      async function* lines(): AsyncGenerator<string> {
        if (first.done === true) return;
        yield toLines(first.value);
        for await (const entries of pieces) yield toLines(entries);
      }
      const day = context.now().toISOString().slice(0, 'yyyy-mm-dd'.length);
      return reply
        .headers({
          'content-type': 'application/x-ndjson; charset=utf-8',
          'content-disposition': `attachment; filename="audit-${day}.ndjson"`,
          'cache-control': 'no-store',
        })
        .send(Readable.from(lines()));
    },
  );
};
