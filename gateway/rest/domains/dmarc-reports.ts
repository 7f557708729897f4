import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { dmarcPolicy, dmarcRecord } from '../../../core/domains/dmarc-report.ts';
import * as dmarc from '../../../operations/domains/dmarc-reports.ts';
import { access } from '../../admission/access.ts';
import {
  errorBody,
  idInPath,
  instant,
  limit,
  listBody,
  listOf,
  offset,
  type RestOptions,
  wireInstant,
} from '../shapes.ts';

const reportFields = {
  object: z.literal('dmarc_report'),
  id: z.string(),
  domain: z.string().meta({ description: 'Domain of the policy: the domain itself, its parent or a subdomain.' }),
  organization: z.string().meta({ description: 'Organization that sent the report.' }),
  reportId: z.string().meta({ description: 'ID the reporter gave the report.' }),
  begin: instant,
  end: instant,
  policy: dmarcPolicy.meta({
    description: 'The DMARC record as the reporter saw it. Null where the report does not include it.',
  }),
  messageCount: z.number().int(),
  alignedCount: z.number().int().meta({ description: 'Number of messages that passed DMARC.' }),
  emailId: z.string().meta({ description: 'The email that contained the report.' }),
  createdAt: instant,
  isTruncated: z
    .boolean()
    .meta({ description: 'Whether records are missing from the list. The counts include all messages.' }),
};
const reportBody = z.object(reportFields).meta({ id: 'DmarcReport' });
const reportWithRecords = z
  .object({ ...reportFields, records: z.array(dmarcRecord) })
  .meta({ id: 'DmarcReportDetails' });

const summaryBody = z
  .object({
    object: z.literal('dmarc_summary'),
    domain: z.string(),
    since: instant,
    until: instant,
    reportCount: z.number().int().meta({ description: 'Number of reports. Duplicates count once.' }),
    messages: z.number().int(),
    aligned: z.number().int().meta({ description: 'Number of messages that passed DMARC.' }),
    alignedPercent: z.number().nullable().meta({ description: 'Null if there are no messages.' }),
    policy: dmarcPolicy
      .nullable()
      .meta({ description: 'The DMARC record as reporters last saw it. Null if there are no reports.' }),
    sources: z.array(
      z.object({
        sourceIp: z.string(),
        headerFrom: z.string(),
        count: z.number().int(),
        alignedCount: z.number().int(),
      }),
    ),
    advice: z.string().meta({ description: 'What to fix before you publish p=quarantine or p=reject.' }),
    isTruncated: z.boolean().meta({ description: 'Whether `sources` covers only part of the messages.' }),
  })
  .meta({ id: 'DmarcSummary' });

const oneInPath = idInPath.extend({ reportId: z.string().meta({ description: 'ID of the report.' }) });

export const dmarcReportRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/domains/:id/dmarc-reports',
    {
      config: { access: access.read },
      schema: {
        operationId: 'listDmarcReports',
        summary: 'List DMARC reports on a domain',
        description:
          'Returns the aggregate reports received by any of your addresses, latest period first. The emails that contained them also appear as mail.',
        tags: ['Domains'],
        params: idInPath,
        querystring: z.object({ limit: limit(), offset }),
        response: { 200: listOf(reportBody), default: errorBody },
      },
    },
    async (request) => {
      const { limit: size, offset: start } = request.query;
      const page = { limit: size, offset: start };
      const found = await dmarc.listDmarcReports(contextOf(request), request.params.id, page);
      return listBody(found.reports.map(dmarcReportBodyOf), page, found.total);
    },
  );

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
      const report = await dmarc.readDmarcReport(contextOf(request), id, reportId);
      return { ...dmarcReportBodyOf(report), records: report.records };
    },
  );

  app.get(
    '/domains/:id/dmarc',
    {
      config: { access: access.read },
      schema: {
        operationId: 'getDmarcSummary',
        summary: 'Summarize DMARC reports on a domain',
        description: `Summarizes the reports of the last ${dmarc.SUMMARY_DAYS} days: how much mail passed, the 100 sources with the most mail, and what to do next.`,
        tags: ['Domains'],
        params: idInPath,
        response: { 200: summaryBody, default: errorBody },
      },
    },
    async (request) => {
      const { since, until, sources, ...summary } = await dmarc.summarizeDmarc(contextOf(request), request.params.id);
      return {
        object: 'dmarc_summary' as const,
        ...summary,
        since: wireInstant(since),
        until: wireInstant(until),
        sources: sources.map(({ sourceIp, headerFrom, count, alignedCount }) => ({
          sourceIp,
          headerFrom,
          count,
          alignedCount,
        })),
      };
    },
  );
};

export function dmarcReportBodyOf(report: dmarc.DmarcReport): z.infer<typeof reportBody> {
  const { id, domain, organization, reportId, begin, end, policy, messageCount, alignedCount, emailId } = report;
  return {
    object: 'dmarc_report',
    id,
    domain,
    organization,
    reportId,
    begin: wireInstant(begin),
    end: wireInstant(end),
    policy,
    messageCount,
    alignedCount,
    emailId,
    createdAt: wireInstant(report.createdAt),
    isTruncated: report.isTruncated,
  };
}
