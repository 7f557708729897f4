import { alignedPercent } from '../../../core/domains/dmarc-advice.ts';
import { type DmarcPolicy, type DmarcRecord, isAligned } from '../../../core/domains/dmarc-report.ts';
import { UserError } from '../../../core/shared/errors.ts';
import type { KeysetPage } from '../../../core/shared/page.ts';
import type { DmarcSource } from '../../../db/queries/domains/dmarc-list.ts';
import { invalid } from '../../../operations/context.ts';
import * as reports from '../../../operations/domains/dmarc-reports.ts';
import { type DmarcSummary, SUMMARY_DAYS, summarizeDmarc } from '../../../operations/domains/dmarc-reports.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity, enumValues, requirePageSize } from '../builder.ts';
import { type CountedConnection, connection, totalCount } from '../connection.ts';
import type { GraphContext } from '../context.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { addNodeKind } from '../node-kinds.ts';
import { DomainNode, EmailNode, loaderOf, orNull } from '../nodes.ts';

const DmarcAlignmentMode = builder.enumType('DmarcAlignmentMode', {
  description: 'How closely a domain must match the domain of the From header.',
  values: {
    RELAXED: { value: 'r', description: 'Both have the same organizational domain.' },
    STRICT: { value: 's', description: 'Both are identical.' },
  } as const,
});

const DmarcRequest = builder.enumType('DmarcRequestedAction', {
  description: 'What the domain owner asks receivers to do with mail that fails DMARC.',
  values: enumValues<NonNullable<DmarcPolicy['p']>>({
    none: 'Take no action; report only.',
    quarantine: 'Treat the mail as suspicious.',
    reject: 'Reject the mail.',
  }),
});

const DmarcDisposition = builder.enumType('DmarcDisposition', {
  description: 'What a receiver did with the mail.',
  values: enumValues<NonNullable<DmarcRecord['disposition']>>({
    none: 'No action because of the policy.',
    pass: 'The mail passed.',
    quarantine: 'Treated the mail as suspicious.',
    reject: 'Rejected the mail.',
  }),
});

type Report = reports.DmarcReport;

const DmarcReportNode = builder.loadableNodeRef<Report, string, string>('DmarcReport', {
  id: { resolve: (report) => report.id },
  load: (ids: string[], { reads }) => reports.loadDmarcReports(reads, ids).then(orNull),
});
addNodeKind('dmr', loaderOf('DmarcReport', DmarcReportNode));

const DmarcReportConnection = builder.connectionObject<typeof DmarcReportNode, CountedConnection<Report>>(
  {
    type: DmarcReportNode,
    name: 'DmarcReportConnection',
    description: 'A page of DMARC reports.',
    fields: (c) => totalCount(c),
  },
  { name: 'DmarcReportEdge', description: 'A DMARC report and its cursor.' },
);

const pages = loadByOwner(({ reads }, domainIds, page: KeysetPage) => reports.pageDmarcReports(reads, domainIds, page));
const counts = loadByOwner(({ reads }, domainIds, _args: null) => reports.countDmarcReports(reads, domainIds));
const records = loadByOwner(({ reads }, reportIds, page: { limit: number; offset: number }) =>
  reports.loadDmarcRecords(reads, reportIds, page),
);

/** Loads a page of the reports on a domain. */
async function reportPage(context: GraphContext, domainId: string, args: Parameters<typeof connection>[0]) {
  const page = await connection<Report>(
    args,
    (report) => ({ at: report.end, id: report.id }),
    (span) => pages(context, domainId, span),
  );
  return { ...page, count: () => counts(context, domainId, null) };
}

const asked = 'Null if the record does not include it.';

const DmarcPolicyRef = builder.objectRef<DmarcPolicy>('DmarcPolicy').implement({
  description: 'The DMARC record as the reporter saw it.',
  fields: (t) => ({
    domain: t.exposeString('domain', { description: 'The name that publishes the record.' }),
    dkimAlignment: t.expose('adkim', {
      type: DmarcAlignmentMode,
      nullable: true,
      description: `adkim: how closely the DKIM domain must match. ${asked}`,
    }),
    spfAlignment: t.expose('aspf', {
      type: DmarcAlignmentMode,
      nullable: true,
      description: `aspf: how closely the MAIL FROM domain must match. ${asked}`,
    }),
    request: t.expose('p', {
      type: DmarcRequest,
      nullable: true,
      description: `p: policy for mail from the domain. ${asked}`,
    }),
    subdomainRequest: t.expose('sp', {
      type: DmarcRequest,
      nullable: true,
      description: `sp: policy for mail from subdomains. ${asked}`,
    }),
    nonexistentSubdomainRequest: t.expose('np', {
      type: DmarcRequest,
      nullable: true,
      description: `np: policy for mail from subdomains that do not exist. ${asked}`,
    }),
    percent: t.exposeInt('pct', {
      nullable: true,
      description: `pct: percentage of mail the policy applies to (RFC 7489, removed in RFC 9990). ${asked}`,
    }),
  }),
});

const DmarcDkimResult = builder.objectRef<DmarcRecord['dkimResults'][number]>('DmarcDkimResult').implement({
  description: 'The result of one DKIM signature.',
  fields: (t) => ({
    domain: t.exposeString('domain', { description: 'The `d=` tag: the signing domain.' }),
    selector: t.exposeString('selector', {
      nullable: true,
      description: 'The `s=` tag: the selector. Null if the report does not include it.',
    }),
    result: t.exposeString('result', { description: 'The result as the reporter wrote it, such as `pass` or `fail`.' }),
  }),
});

const DmarcSpfResult = builder.objectRef<DmarcRecord['spfResults'][number]>('DmarcSpfResult').implement({
  description: 'The result of one SPF check.',
  fields: (t) => ({
    domain: t.exposeString('domain', { description: 'The MAIL FROM or EHLO domain.' }),
    result: t.exposeString('result', { description: 'The result as the reporter wrote it, such as `pass` or `fail`.' }),
  }),
});

const DmarcRecordRef = builder.objectRef<DmarcRecord>('DmarcRecord').implement({
  description: 'A group of messages from one source with the same results.',
  fields: (t) => ({
    sourceIp: t.exposeString('sourceIp', { description: 'IP address of the sender, IPv4 or IPv6.' }),
    count: t.exposeInt('count', { description: 'Number of messages.' }),
    disposition: t.expose('disposition', {
      type: DmarcDisposition,
      nullable: true,
      description: 'What the receiver did with the messages. Null if the report does not include it.',
    }),
    isAligned: t.boolean({
      description: 'Whether the messages passed DMARC, by DKIM, SPF or both.',
      resolve: isAligned,
    }),
    isDkimAligned: t.boolean({
      description: 'Whether a valid DKIM signature aligns with the From domain.',
      resolve: ({ dkim }) => dkim === 'pass',
    }),
    isSpfAligned: t.boolean({
      description: 'Whether SPF passed and aligns with the From domain.',
      resolve: ({ spf }) => spf === 'pass',
    }),
    headerFrom: t.exposeString('headerFrom', { description: 'The domain in the From header.' }),
    envelopeFrom: t.exposeString('envelopeFrom', {
      nullable: true,
      description: 'The MAIL FROM domain. Null if the report does not include it.',
    }),
    dkimResults: t.field({
      type: [DmarcDkimResult],
      description: 'DKIM signatures, up to 5.',
      complexity: { field: 1, multiplier: 2 },
      resolve: ({ dkimResults }) => dkimResults,
    }),
    spfResults: t.field({
      type: [DmarcSpfResult],
      description: 'SPF results, up to 5.',
      complexity: { field: 1, multiplier: 2 },
      resolve: ({ spfResults }) => spfResults,
    }),
  }),
});

const DEFAULT_RECORDS = 100;
const MOST_RECORDS = 1_000;

DmarcReportNode.implement({
  description: 'A report by one receiver on the mail it saw from a domain during a period (RFC 9990).',
  fields: (t) => ({
    domain: t.field({
      type: DomainNode,
      nullable: true,
      description: 'Your domain that the report is about. Null if it was deleted while you asked.',
      resolve: ({ domainId }) => domainId,
    }),
    policyDomain: t.exposeString('domain', {
      description: 'The domain of the policy: your domain, its parent or a subdomain.',
    }),
    organization: t.exposeString('organization', { description: 'The organization that sent the report.' }),
    reportId: t.exposeString('reportId', { description: 'ID the reporter gave the report.' }),
    beginsAt: t.expose('begin', { type: 'DateTime', description: 'Start of the period.' }),
    endsAt: t.expose('end', { type: 'DateTime', description: 'End of the period. Lists are sorted by it.' }),
    policy: t.field({
      type: DmarcPolicyRef,
      description: 'The DMARC record as the reporter saw it.',
      resolve: ({ policy }) => policy,
    }),
    messageCount: t.exposeInt('messageCount', { description: 'Number of messages in all records.' }),
    alignedCount: t.exposeInt('alignedCount', { description: 'Number of messages that passed DMARC.' }),
    alignedPercent: t.float({
      nullable: true,
      description:
        'Percentage of messages that passed, with one decimal place; never rounded up to 100. Null if there are no messages.',
      resolve: ({ messageCount, alignedCount }) => alignedPercent({ messages: messageCount, aligned: alignedCount }),
    }),
    isTruncated: t.exposeBoolean('isTruncated', {
      description: 'Whether records are missing from this list. The counts include all messages.',
    }),
    records: t.field({
      type: [DmarcRecordRef],
      description: 'Records in the order of the report. The first 1,000 are kept.',
      args: {
        first: t.arg.int({ defaultValue: DEFAULT_RECORDS, description: 'Number of records to return, 1 to 1,000.' }),
        skip: t.arg.int({ defaultValue: 0, description: 'Number of records to skip.' }),
      },
      complexity: ({ first }) => ({ field: 1, multiplier: recordLimit(first) }),
      resolve: ({ id }, { first, skip }, context) => {
        if (skip != null && skip < 0) throw invalid(`\`skip\` is ${skip}. Use 0 or more.`, 'skip');
        return records(context, id, { limit: recordLimit(first), offset: skip ?? 0 });
      },
    }),
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email that contained the report. Null if it is no longer stored.',
      resolve: ({ emailId }) => emailId,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the report was received.' }),
  }),
});

function recordLimit(first: number | null | undefined): number {
  requirePageSize({ first }, MOST_RECORDS);
  return first ?? DEFAULT_RECORDS;
}

builder.queryField('dmarcReport', (t) =>
  t.field({
    type: DmarcReportNode,
    access: access.read,
    nullable: true,
    description: 'Returns the DMARC report with this ID, or null if the account has no such report.',
    args: { id: t.arg.id({ required: true, description: 'ID of the report.' }) },
    resolve: (_root, { id }) => id,
  }),
);

const DmarcSourceRef = builder.objectRef<DmarcSource>('DmarcSource').implement({
  description: 'A source that sends mail using a domain.',
  fields: (t) => ({
    sourceIp: t.exposeString('sourceIp', { description: 'IPv4 or IPv6 address.' }),
    headerFrom: t.exposeString('headerFrom', { description: 'The domain in the From header.' }),
    messageCount: t.exposeFloat('count', { description: 'Number of messages.' }),
    alignedCount: t.exposeFloat('alignedCount', { description: 'Number of messages that passed DMARC.' }),
  }),
});

/** Number of sources that the cost limit assumes; there are at most 100. */
const LIKELY_SOURCES = 50;
/** A summary can cover thousands of reports. */
const SUMMARY_COST = 100;

const DmarcSummaryRef = builder.objectRef<DmarcSummary>('DmarcSummary').implement({
  description: `A summary of the DMARC reports on a domain for the last ${SUMMARY_DAYS} days.`,
  fields: (t) => ({
    domain: t.exposeString('domain', { description: 'Name of the domain.' }),
    since: t.expose('since', { type: 'DateTime', description: 'Start of the period.' }),
    until: t.expose('until', { type: 'DateTime', description: 'End of the period, which is now.' }),
    reportCount: t.exposeInt('reportCount', { description: 'Number of reports. Duplicates count once.' }),
    messageCount: t.exposeFloat('messages', {
      description: 'Number of messages reported. A whole number that may exceed 32 bits.',
    }),
    alignedCount: t.exposeFloat('aligned', {
      description: 'Number of messages that passed DMARC. A whole number that may exceed 32 bits.',
    }),
    alignedPercent: t.exposeFloat('alignedPercent', {
      nullable: true,
      description:
        'Percentage of messages that passed, with one decimal place; never rounded up to 100. Null if there are no messages.',
    }),
    policy: t.expose('policy', {
      type: DmarcPolicyRef,
      nullable: true,
      description: 'The DMARC record as reporters last saw it. Null if there are no reports.',
    }),
    sources: t.field({
      type: [DmarcSourceRef],
      description: 'The 100 sources with the most mail, largest first.',
      complexity: { field: 1, multiplier: LIKELY_SOURCES },
      resolve: ({ sources }) => sources,
    }),
    advice: t.exposeString('advice', {
      description:
        'What to fix before you publish p=quarantine or p=reject, or that it is safe to do so. Display text.',
    }),
    isTruncated: t.exposeBoolean('isTruncated', {
      description: 'Whether sources cover only part of the messages.',
    }),
  }),
});

builder.queryField('dmarcSummary', (t) =>
  t.field({
    type: DmarcSummaryRef,
    access: access.read,
    nullable: true,
    description: 'Returns a summary of the DMARC reports on a domain, or null if the account has no such domain.',
    args: { domainId: t.arg.id({ required: true, description: 'ID of the domain.' }) },
    complexity: { field: SUMMARY_COST },
    resolve: (_root, { domainId }, { reads }) =>
      summarizeDmarc(reads, domainId).catch((error: unknown) => {
        if (error instanceof UserError && error.code === 'not_found') return null;
        throw error;
      }),
  }),
);

builder.objectField(DomainNode, 'dmarcReports', (t) =>
  t.connection(
    {
      type: DmarcReportNode,
      description:
        'DMARC reports on the domain, received by any of your addresses, latest period first. The emails that contained them also appear as mail.',
      complexity: connectionComplexity,
      resolve: async ({ id }, args, context) => reportPage(context, id, args),
    },
    DmarcReportConnection,
  ),
);
