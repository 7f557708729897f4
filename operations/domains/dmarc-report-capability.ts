import { z } from 'zod';
import { alignedPercent } from '../../core/domains/dmarc-advice.ts';
import { type DmarcRecord, dmarcPolicy, isAligned } from '../../core/domains/dmarc-report.ts';
import {
  graphqlOnly,
  linkTo,
  maybeGone,
  named,
  nameType,
  restLiteral,
  usually,
} from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import {
  type Capability,
  defineAction,
  defineOwnedList,
  defineRead,
  defineResource,
  OF_DOMAINS,
} from '../capability/capability.ts';
import { invalid } from '../context.ts';
import * as reports from './dmarc-reports.ts';

const fields = dmarcPolicy.shape;
const asked = 'Null if the record does not include it.';

const alignment = (graphqlName: string) =>
  named(
    oneOf(['r', 's'], {
      name: 'DmarcAlignmentMode',
      description: 'How closely a domain must match the domain of the From header.',
      names: { r: 'RELAXED', s: 'STRICT' },
      values: { r: 'Both have the same organizational domain.', s: 'Both are identical.' },
    }).nullable(),
    { graphqlName },
  );
const request = (graphqlName: string) =>
  named(
    oneOf(['none', 'quarantine', 'reject'], {
      name: 'DmarcRequestedAction',
      description: 'What the domain owner asks receivers to do with mail that fails DMARC.',
      values: {
        none: 'Take no action; report only.',
        quarantine: 'Treat the mail as suspicious.',
        reject: 'Reject the mail.',
      },
    }).nullable(),
    { graphqlName },
  );

const policy = nameType(
  z.object({
    domain: fields.domain.meta({ description: 'The name that publishes the record.' }),
    adkim: alignment('dkimAlignment').meta({
      description: `adkim: how closely the DKIM domain must match. ${asked}`,
    }),
    aspf: alignment('spfAlignment').meta({
      description: `aspf: how closely the MAIL FROM domain must match. ${asked}`,
    }),
    p: request('request').meta({ description: `p: policy for mail from the domain. ${asked}` }),
    sp: request('subdomainRequest').meta({ description: `sp: policy for mail from subdomains. ${asked}` }),
    np: request('nonexistentSubdomainRequest').meta({
      description: `np: policy for mail from subdomains that do not exist. ${asked}`,
    }),
    pct: named(fields.pct, { graphqlName: 'percent' }).meta({
      description: `pct: percentage of mail the policy applies to (RFC 7489, removed in RFC 9990). ${asked}`,
    }),
  }),
  { type: 'DmarcPolicy', description: 'The DMARC record as the reporter saw it.' },
);

const domain = z.string();
const result = z.string().meta({ description: 'The result as the reporter wrote it, such as `pass` or `fail`.' });
/** Results of each kind that the cost limit of GraphQL assumes. */
const USUAL_RESULTS = 2;

/** A record as GraphQL has it; REST has what is stored. */
const dmarcRecordInGraphql = nameType(
  z.object({
    sourceIp: z.string().meta({ description: 'IP address of the sender, IPv4 or IPv6.' }),
    count: z.number().int().meta({ description: 'Number of messages.' }),
    disposition: oneOf(['none', 'pass', 'quarantine', 'reject'], {
      name: 'DmarcDisposition',
      description: 'What a receiver did with the mail.',
      values: {
        none: 'No action because of the policy.',
        pass: 'The mail passed.',
        quarantine: 'Treated the mail as suspicious.',
        reject: 'Rejected the mail.',
      },
    })
      .nullable()
      .meta({ description: 'What the receiver did with the messages. Null if the report does not include it.' }),
    isAligned: z.boolean().meta({ description: 'Whether the messages passed DMARC, by DKIM, SPF or both.' }),
    isDkimAligned: z.boolean().meta({ description: 'Whether a valid DKIM signature aligns with the From domain.' }),
    isSpfAligned: z.boolean().meta({ description: 'Whether SPF passed and aligns with the From domain.' }),
    headerFrom: domain.meta({ description: 'The domain in the From header.' }),
    envelopeFrom: domain.nullable().meta({
      description: 'The MAIL FROM domain. Null if the report does not include it.',
    }),
    dkimResults: usually(
      USUAL_RESULTS,
      z.array(
        nameType(
          z.object({
            domain: domain.meta({ description: 'The `d=` tag: the signing domain.' }),
            selector: z.string().nullable().meta({
              description: 'The `s=` tag: the selector. Null if the report does not include it.',
            }),
            result,
          }),
          { type: 'DmarcDkimResult', description: 'The result of one DKIM signature.' },
        ),
      ),
    ).meta({ description: 'DKIM signatures, up to 5.' }),
    spfResults: usually(
      USUAL_RESULTS,
      z.array(
        nameType(z.object({ domain: domain.meta({ description: 'The MAIL FROM or EHLO domain.' }), result }), {
          type: 'DmarcSpfResult',
          description: 'The result of one SPF check.',
        }),
      ),
    ).meta({ description: 'SPF results, up to 5.' }),
  }),
  { type: 'DmarcRecord', description: 'A group of messages from one source with the same results.' },
);

/** Returns a stored record as GraphQL has it. */
function describeRecord(record: DmarcRecord): z.output<typeof dmarcRecordInGraphql> {
  const { dkim, spf, ...rest } = record;
  return { ...rest, isAligned: isAligned(record), isDkimAligned: dkim === 'pass', isSpfAligned: spf === 'pass' };
}

const DEFAULT_RECORDS = 100;
const MAX_RECORDS = 1_000;

/** Returns the number of records to return. Throws validation. */
function checkRecordCount(first: number | null | undefined): number {
  const count = first ?? DEFAULT_RECORDS;
  if (count < 1 || count > MAX_RECORDS)
    throw invalid(`\`first\` is ${count}. Use a number from 1 to ${MAX_RECORDS}.`, 'first');
  return count;
}

const percent = {
  description:
    'Percentage of messages that passed, with one decimal place; never rounded up to 100. Null if there are no messages.',
};

export const dmarcReportResource = defineResource<reports.DmarcReport>()({
  name: 'DmarcReport',
  noun: 'DMARC report',
  identifier: 'dmarcReport',
  description: 'A report by one receiver on the mail it saw from a domain during a period (RFC 9990).',
  isOfDomain: false,
  shape: z.object({
    object: restLiteral('dmarc_report'),
    domainId: maybeGone(linkTo('Domain', graphqlOnly(z.string()))).meta({
      description: 'Your domain that the report is about. Null if it was deleted while you asked.',
    }),
    domain: named(z.string(), { graphqlName: 'policyDomain' }).meta({
      description: 'The domain of the policy: your domain, its parent or a subdomain.',
    }),
    organization: z.string().meta({ description: 'The organization that sent the report.' }),
    reportId: named(z.string(), { graphqlType: 'String' }).meta({ description: 'ID the reporter gave the report.' }),
    begin: named(z.date(), { graphqlName: 'beginsAt' }).meta({ description: 'Start of the period.' }),
    end: named(z.date(), { graphqlName: 'endsAt' }).meta({ description: 'End of the period. Lists are sorted by it.' }),
    policy: policy.meta({ description: 'The DMARC record as the reporter saw it.' }),
    messageCount: z.number().int().meta({ description: 'Number of messages in all records.' }),
    alignedCount: z.number().int().meta({ description: 'Number of messages that passed DMARC.' }),
    alignedPercent: graphqlOnly(z.number().nullable()).meta(percent),
    emailId: maybeGone(linkTo('Email', z.string())).meta({
      description: 'The email that contained the report. Null in GraphQL if it is no longer stored.',
    }),
    createdAt: z.date().meta({ description: 'When the report was received.' }),
    isTruncated: z.boolean().meta({
      description: 'Whether records are missing from the list. The counts include all messages.',
    }),
  }),
  computed: {
    object: () => undefined,
    alignedPercent: ({ messageCount, alignedCount }) =>
      alignedPercent({ messages: messageCount, aligned: alignedCount }),
  },
  load: reports.loadDmarcReports,
});

/** Sources that the cost limit of GraphQL assumes; there are at most 100. */
const USUAL_SOURCES = 50;
/** Cost in GraphQL: a summary can cover thousands of reports. */
const SUMMARY_COST = 100;
const large = 'A whole number that may exceed 32 bits.';

const summary = z
  .object({
    object: restLiteral('dmarc_summary'),
    domain: z.string().meta({ description: 'Name of the domain.' }),
    since: z.date().meta({ description: 'Start of the period.' }),
    until: z.date().meta({ description: 'End of the period, which is now.' }),
    reportCount: z.number().int().meta({ description: 'Number of reports. Duplicates count once.' }),
    messages: named(z.number().int(), { graphqlName: 'messageCount', graphqlType: 'Float' }).meta({
      description: `Number of messages reported. ${large}`,
    }),
    aligned: named(z.number().int(), { graphqlName: 'alignedCount', graphqlType: 'Float' }).meta({
      description: `Number of messages that passed DMARC. ${large}`,
    }),
    alignedPercent: z.number().nullable().meta(percent),
    policy: policy.nullable().meta({
      description: 'The DMARC record as reporters last saw it. Null if there are no reports.',
    }),
    sources: usually(
      USUAL_SOURCES,
      z.array(
        nameType(
          z.object({
            sourceIp: z.string().meta({ description: 'IPv4 or IPv6 address.' }),
            headerFrom: z.string().meta({ description: 'The domain in the From header.' }),
            count: named(z.number().int(), { graphqlName: 'messageCount', graphqlType: 'Float' }).meta({
              description: 'Number of messages.',
            }),
            alignedCount: named(z.number().int(), { graphqlType: 'Float' }).meta({
              description: 'Number of messages that passed DMARC.',
            }),
          }),
          { type: 'DmarcSource', description: 'A source that sends mail using a domain.' },
        ),
      ),
    ).meta({ description: 'The 100 sources with the most mail, largest first.' }),
    advice: z.string().meta({
      description:
        'What to fix before you publish p=quarantine or p=reject, or that it is safe to do so. Display text.',
    }),
    isTruncated: z.boolean().meta({ description: 'Whether `sources` covers only part of the messages.' }),
  })
  .meta({
    id: 'DmarcSummary',
    description: `A summary of the DMARC reports on a domain for the last ${reports.SUMMARY_DAYS} days.`,
  });

export const dmarcReportCapability: Capability = {
  feature: 'Domains',
  what: 'DMARC reports',
  byHand: { rest: ['getDmarcReport'] },
  ...OF_DOMAINS,
  resource: dmarcReportResource,
  operations: [
    defineOwnedList({
      access: 'read',
      operationId: 'listDmarcReports',
      summary: 'List DMARC reports on a domain',
      description:
        'Returns the aggregate reports received by any of your addresses, latest period first. The emails that contained them also appear as mail.',
      of: { type: 'Domain', field: 'dmarcReports' },
      path: '/:id/dmarc-reports',
      filter: z.object({}),
      order: { cursorOf: ({ end: at, id }: reports.DmarcReport) => ({ at, id }) },
      page: (context, domainIds, _filter, page) => reports.pageDmarcReports(context, domainIds, page),
      count: (context, domainIds) => reports.countDmarcReports(context, domainIds),
      list: (context, domainId, _filter, page) => reports.listDmarcReports(context, domainId, page),
    }),
    // REST also names the domain, and returns the records (gateway/rest/domains/dmarc-reports.ts).
    defineRead<reports.DmarcReport>({
      access: 'read',
      field: 'dmarcReport',
      summary: 'Retrieve a DMARC report',
      description: 'Returns the DMARC report with this ID, or null if the account has no such report.',
      target: { argument: 'id', argumentDescription: 'ID of the report.' },
    }),
    defineAction({
      access: 'read',
      summary: 'List the records of a DMARC report',
      description: 'Records in the order of the report. The first 1,000 are kept.',
      method: 'GET',
      path: '',
      input: z.object({
        first: z.int().default(DEFAULT_RECORDS).meta({ description: 'Number of records to return, 1 to 1,000.' }),
        skip: z.int().default(0).meta({ description: 'Number of records to skip.' }),
      }),
      output: z.array(dmarcRecordInGraphql),
      errors: [],
      of: {
        type: 'DmarcReport',
        field: 'records',
        cost: ({ first }: { first?: number | null }) => ({ field: 1, multiplier: checkRecordCount(first) }),
        load: async (context, reportIds, { first, skip }: { first: number; skip: number }) => {
          if (skip < 0) throw invalid(`\`skip\` is ${skip}. Use 0 or more.`, 'skip');
          const found = await reports.loadDmarcRecords(context, reportIds, {
            limit: checkRecordCount(first),
            offset: skip,
          });
          return found.map((records) => records.map(describeRecord));
        },
      },
    }),
  ],
};

export const dmarcSummaryCapability: Capability = {
  feature: 'Domains',
  what: 'Summary of DMARC reports',
  ...OF_DOMAINS,
  operations: [
    defineAction({
      access: 'read',
      operationId: 'getDmarcSummary',
      field: 'dmarcSummary',
      summary: 'Summarize DMARC reports on a domain',
      description: `Summarizes the reports of the last ${reports.SUMMARY_DAYS} days: how much mail passed, the 100 sources with the most mail, and what to do next.`,
      method: 'GET',
      path: '/:id/dmarc',
      target: { argument: 'domainId', argumentDescription: 'ID of the domain.' },
      input: z.object({}),
      output: summary,
      isNullable: true,
      cost: SUMMARY_COST,
      errors: [],
      run: (context, _input, domainId) => reports.summarizeDmarc(context, domainId),
    }),
  ],
};
