import { alignedPercent } from '../../../core/domains/dmarc-advice.ts';
import { type DmarcPolicy, type DmarcRecord, isAligned } from '../../../core/domains/dmarc-report.ts';
import type { KeysetPage } from '../../../core/shared/page.ts';
import * as reports from '../../../operations/domains/dmarc-reports.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { type Connection, connection } from '../connection.ts';
import type { GraphContext } from '../context.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { addNodeKind } from '../node-kinds.ts';
import { DomainNode, EmailNode, loaderOf, orNull } from '../nodes.ts';
import { DmarcAlignmentMode, DmarcDisposition, DmarcRequest } from './dmarc-enums.ts';

type Report = reports.DmarcReport;

export const DmarcReportNode = builder.loadableNodeRef<Report, string, string>('DmarcReport', {
  id: { resolve: (report) => report.id },
  load: (ids: string[], { reads }) => reports.loadDmarcReports(reads, ids).then(orNull),
});
addNodeKind('dmr', loaderOf('DmarcReport', DmarcReportNode));

export const DmarcReportConnection = builder.connectionObject<
  typeof DmarcReportNode,
  Connection<Report> & { count: () => Promise<number> }
>(
  {
    type: DmarcReportNode,
    name: 'DmarcReportConnection',
    description: 'A page of DMARC reports.',
    fields: (c) => ({
      totalCount: c.int({
        description: 'Of all pages; counted when it is asked for.',
        resolve: (page) => page.count(),
      }),
    }),
  },
  { name: 'DmarcReportEdge', description: 'A DMARC report with its cursor.' },
);

const pages = loadByOwner(({ reads }, domainIds, page: KeysetPage) => reports.pageDmarcReports(reads, domainIds, page));
const counts = loadByOwner(({ reads }, domainIds, _args: null) => reports.countDmarcReports(reads, domainIds));
const records = loadByOwner(({ reads }, reportIds, page: { limit: number; offset: number }) =>
  reports.loadDmarcRecords(reads, reportIds, page),
);

/** A page of the reports on a domain. */
export async function reportPage(context: GraphContext, domainId: string, args: Parameters<typeof connection>[0]) {
  const page = await connection<Report>(
    args,
    (report) => ({ at: report.end, id: report.id }),
    (span) => pages(context, domainId, span),
  );
  return { ...page, count: () => counts(context, domainId, null) };
}

const asked = 'null: the record does not say.';

export const DmarcPolicyRef = builder.objectRef<DmarcPolicy>('DmarcPolicy').implement({
  description: 'The DMARC record that a reporter saw.',
  fields: (t) => ({
    domain: t.exposeString('domain', { description: 'The name that publishes it.' }),
    dkimAlignment: t.expose('adkim', {
      type: DmarcAlignmentMode,
      nullable: true,
      description: `adkim: how well the domain of a signature must fit; ${asked}`,
    }),
    spfAlignment: t.expose('aspf', {
      type: DmarcAlignmentMode,
      nullable: true,
      description: `aspf: how well the domain of MAIL FROM must fit; ${asked}`,
    }),
    request: t.expose('p', { type: DmarcRequest, nullable: true, description: `p: for mail of the domain; ${asked}` }),
    subdomainRequest: t.expose('sp', {
      type: DmarcRequest,
      nullable: true,
      description: `sp: for mail of domains under it; ${asked}`,
    }),
    nonexistentSubdomainRequest: t.expose('np', {
      type: DmarcRequest,
      nullable: true,
      description: `np: for mail of domains under it that do not exist; ${asked}`,
    }),
    percent: t.exposeInt('pct', {
      nullable: true,
      description: `pct: how much of the mail that is asked for (RFC 7489, gone with RFC 9990); ${asked}`,
    }),
  }),
});

const DmarcDkimResult = builder.objectRef<DmarcRecord['dkimResults'][number]>('DmarcDkimResult').implement({
  description: 'What became of one DKIM signature.',
  fields: (t) => ({
    domain: t.exposeString('domain', { description: 'Its `d=`.' }),
    selector: t.exposeString('selector', { nullable: true, description: 'Its `s=`; null: the report does not say.' }),
    result: t.exposeString('result', { description: 'As the reporter wrote it: pass, fail and so on.' }),
  }),
});

const DmarcSpfResult = builder.objectRef<DmarcRecord['spfResults'][number]>('DmarcSpfResult').implement({
  description: 'What SPF said.',
  fields: (t) => ({
    domain: t.exposeString('domain', { description: 'Of MAIL FROM, or of EHLO.' }),
    result: t.exposeString('result', { description: 'As the reporter wrote it: pass, fail and so on.' }),
  }),
});

const DmarcRecordRef = builder.objectRef<DmarcRecord>('DmarcRecord').implement({
  description: 'Mail of one source that fared alike.',
  fields: (t) => ({
    sourceIp: t.exposeString('sourceIp', { description: 'Who sent it: IPv4 or IPv6.' }),
    count: t.exposeInt('count', { description: 'Messages.' }),
    disposition: t.expose('disposition', {
      type: DmarcDisposition,
      nullable: true,
      description: 'What the receiver did with it; null: the report does not say.',
    }),
    isAligned: t.boolean({ description: 'Whether it passed DMARC: by DKIM, SPF or both.', resolve: isAligned }),
    isDkimAligned: t.boolean({
      description: 'Whether a signature was sound and its domain fits the From field.',
      resolve: ({ dkim }) => dkim === 'pass',
    }),
    isSpfAligned: t.boolean({
      description: 'Whether SPF passed and its domain fits the From field.',
      resolve: ({ spf }) => spf === 'pass',
    }),
    headerFrom: t.exposeString('headerFrom', { description: 'The domain of the From field.' }),
    envelopeFrom: t.exposeString('envelopeFrom', {
      nullable: true,
      description: 'The domain of MAIL FROM; null: the report does not say.',
    }),
    dkimResults: t.field({
      type: [DmarcDkimResult],
      description: 'The signatures, at most 5.',
      complexity: { field: 1, multiplier: 2 },
      resolve: ({ dkimResults }) => dkimResults,
    }),
    spfResults: t.field({
      type: [DmarcSpfResult],
      description: 'What SPF said, at most 5.',
      complexity: { field: 1, multiplier: 2 },
      resolve: ({ spfResults }) => spfResults,
    }),
  }),
});

const DEFAULT_RECORDS = 100;
const MOST_RECORDS = 1_000;

DmarcReportNode.implement({
  description: 'What one receiver saw of the mail of a domain within some time (RFC 9990).',
  fields: (t) => ({
    domain: t.field({
      type: DomainNode,
      nullable: true,
      description: 'The domain of yours that it is on; null in the rare case that it was deleted while you asked.',
      resolve: ({ domainId }) => domainId,
    }),
    policyDomain: t.exposeString('domain', {
      description: 'The domain of the policy: that one, or one under or above it.',
    }),
    organization: t.exposeString('organization', { description: 'Who reports.' }),
    reportId: t.exposeString('reportId', { description: 'The reporter’s own name for it.' }),
    beginsAt: t.expose('begin', { type: 'DateTime', description: 'The begin of the time that it tells of.' }),
    endsAt: t.expose('end', { type: 'DateTime', description: 'The end of that time. Lists are ordered by it.' }),
    policy: t.field({
      type: DmarcPolicyRef,
      description: 'What the reporter saw published.',
      resolve: ({ policy }) => policy,
    }),
    messageCount: t.exposeInt('messageCount', { description: 'Messages of all records.' }),
    alignedCount: t.exposeInt('alignedCount', { description: 'Those of them that passed DMARC.' }),
    alignedPercent: t.float({
      nullable: true,
      description: 'Per cent that passed, with one digit, never rounded up to 100; null without messages.',
      resolve: ({ messageCount, alignedCount }) => alignedPercent({ messages: messageCount, aligned: alignedCount }),
    }),
    isTruncated: t.exposeBoolean('isTruncated', {
      description: 'Whether records were left out; messages of all are counted.',
    }),
    records: t.field({
      type: [DmarcRecordRef],
      description: 'In the order of the report, of which the first 1,000 are kept.',
      args: {
        first: t.arg.int({ defaultValue: DEFAULT_RECORDS, description: 'How many; above 1,000 counts as 1,000.' }),
        skip: t.arg.int({ defaultValue: 0, description: 'How many to leave out at the beginning.' }),
      },
      complexity: ({ first }) => ({ field: 1, multiplier: recordLimit(first) }),
      resolve: ({ id }, { first, skip }, context) =>
        records(context, id, { limit: recordLimit(first), offset: Math.max(0, skip ?? 0) }),
    }),
    email: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email that brought it; null: it is not there any more.',
      resolve: ({ emailId }) => emailId,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it came.' }),
  }),
});

function recordLimit(first: number | null | undefined): number {
  return Math.min(MOST_RECORDS, Math.max(1, first ?? DEFAULT_RECORDS));
}

builder.queryField('dmarcReport', (t) =>
  t.field({
    type: DmarcReportNode,
    access: access.readAccount,
    nullable: true,
    description: 'A DMARC report by its id; null when you have none with that id.',
    args: { id: t.arg.id({ required: true, description: 'Id of the report.' }) },
    resolve: (_root, { id }) => id,
  }),
);
