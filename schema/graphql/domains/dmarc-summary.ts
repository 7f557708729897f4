import { UserError } from '../../../core/shared/errors.ts';
import type { DmarcSource } from '../../../db/queries/domains/dmarc-list.ts';
import { type DmarcSummary, SUMMARY_DAYS, summarizeDmarc } from '../../../operations/domains/dmarc-reports.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { DmarcPolicyRef } from './dmarc-report.ts';

const DmarcSourceRef = builder.objectRef<DmarcSource>('DmarcSource').implement({
  description: 'Who sends mail in the name of a domain.',
  fields: (t) => ({
    sourceIp: t.exposeString('sourceIp', { description: 'IPv4 or IPv6.' }),
    headerFrom: t.exposeString('headerFrom', { description: 'The domain of the From field.' }),
    messageCount: t.exposeFloat('count', { description: 'Messages.' }),
    alignedCount: t.exposeFloat('alignedCount', { description: 'Those of them that passed DMARC.' }),
  }),
});

/** The limit on costs assumes so many; there are at most 100. */
const LIKELY_SOURCES = 50;
/** Thousands of reports may be summed up. */
const SUMMARY_COST = 100;

const DmarcSummaryRef = builder.objectRef<DmarcSummary>('DmarcSummary').implement({
  description: `What the DMARC reports of the last ${SUMMARY_DAYS} days say of a domain.`,
  fields: (t) => ({
    domain: t.exposeString('domain', { description: 'The name of the domain.' }),
    since: t.expose('since', { type: 'DateTime', description: 'The begin of those days.' }),
    until: t.expose('until', { type: 'DateTime', description: 'Their end: now.' }),
    reportCount: t.exposeInt('reportCount', { description: 'Reports; one that came several times counts once.' }),
    messageCount: t.exposeFloat('messages', { description: 'Messages that they tell of; whole, but maybe large.' }),
    alignedCount: t.exposeFloat('aligned', { description: 'Those of them that passed DMARC; whole, but maybe large.' }),
    alignedPercent: t.exposeFloat('alignedPercent', {
      nullable: true,
      description: 'Per cent that passed, with one digit, never rounded up to 100; null without messages.',
    }),
    policy: t.expose('policy', {
      type: DmarcPolicyRef,
      nullable: true,
      description: 'As reporters saw it last; null without reports.',
    }),
    sources: t.field({
      type: [DmarcSourceRef],
      description: 'The 100 sources of most mail, those of most first.',
      complexity: { field: 1, multiplier: LIKELY_SOURCES },
      resolve: ({ sources }) => sources,
    }),
    advice: t.exposeString('advice', {
      description: 'For people: what is missing before p=quarantine or p=reject, or that it is safe.',
    }),
    isTruncated: t.exposeBoolean('isTruncated', {
      description: 'Whether the sources are those of a part of the messages only.',
    }),
  }),
});

builder.queryField('dmarcSummary', (t) =>
  t.field({
    type: DmarcSummaryRef,
    access: access.readAccount,
    nullable: true,
    description: 'Sums up the DMARC reports on a domain; null when you have none with that id.',
    args: { domainId: t.arg.id({ required: true, description: 'Id of the domain.' }) },
    complexity: { field: SUMMARY_COST },
    resolve: (_root, { domainId }, { reads }) =>
      summarizeDmarc(reads, domainId).catch((error: unknown) => {
        if (error instanceof UserError && error.code === 'not_found') return null;
        throw error;
      }),
  }),
);
