import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { dmarcRecord } from '../../../core/domains/dmarc-report.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { dmarcReportCapability, dmarcReportResource } from '../../../operations/domains/dmarc-report-capability.ts';
import { readDmarcReport, type readDmarcReports } from '../../../operations/domains/dmarc-reports.ts';
import { access } from '../../admission/access.ts';
import { capabilityRoutes } from '../capability-routes.ts';
import { errorBody, idInPath, type RestOptions } from '../shapes.ts';
import { plainWireObject } from '../wire-object.ts';

const report = plainWireObject(dmarcReportResource, 'camel');
const reportWithRecords = z
  .object({ ...report.shape.shape, records: z.array(dmarcRecord) })
  .meta({ id: 'DmarcReportDetails' });

const oneInPath = idInPath.extend({ reportId: z.string().meta({ description: 'ID of the report.' }) });

const declared = capabilityRoutes(dmarcReportCapability);

export const dmarcReportRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, options) => {
  await declared(app, options);
  app.get(
    '/domains/:id/dmarc-reports/:reportId',
    {
      config: { access: access.read },
      schema: {
        operationId: 'getDmarcReport',
        summary: 'Retrieve a DMARC report',
        description: 'Returns the report with its first 1,000 records.',
        tags: ['Domains'],
        params: oneInPath,
        response: { 200: reportWithRecords, default: errorBody },
      },
    },
    async (request) => {
      const { id, reportId } = request.params;
      const context = options.contextOf(request);
      return writeDmarcReport(context, await readDmarcReport(context, id, reportId)) as never;
    },
  );
};

type WholeReport = NonNullable<Awaited<ReturnType<typeof readDmarcReports>>[number]>;

/** Returns a report with its records. */
export function writeDmarcReport(context: OperationContext, whole: WholeReport): Record<string, unknown> {
  return { ...report.writeRow(context, whole), records: whole.records };
}
