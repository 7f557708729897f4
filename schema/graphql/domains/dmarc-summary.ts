import { UserError } from '../../../core/shared/errors.ts';
import type { DmarcSource } from '../../../db/queries/domains/dmarc-list.ts';
import { type DmarcSummary, SUMMARY_DAYS, summarizeDmarc } from '../../../operations/domains/dmarc-reports.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { DmarcPolicyRef } from './dmarc-report.ts';

const DmarcSourceRef = builder.objectRef<DmarcSource>('DmarcSource').implement({
  description: 'A source that sends mail using a domain.',
  fields: (t) => ({
    sourceIp: t.exposeString('sourceIp', { description: 'IPv4 or IPv6 address.' }),
    headerFrom: t.exposeString('headerFrom', { description: 'The domain in the From header.' }),
    messageCount: t.exposeFloat('count', { description: 'Number of messages.' }),
    alignedCount: t.exposeFloat('alignedCount', { description: 'Number of messages that passed DMARC.' }),
  }),
});

/** The limit on costs assumes so many; there are at most 100. */
const LIKELY_SOURCES = 50;
/** Thousands of reports may be summed up. */
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
    access: access.readAccount,
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
