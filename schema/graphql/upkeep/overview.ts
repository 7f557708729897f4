import { type Finding, listFindings } from '../../../operations/upkeep/findings.ts';
import * as overview from '../../../operations/upkeep/overview.ts';
import { access } from '../access.ts';
import { builder, enumValues } from '../builder.ts';
import { loadNode } from '../node-kinds.ts';

const AS_IT_STANDS = 'created in this hour, with their current status';

const OverviewHour = builder.objectRef<overview.HourOfMail>('OverviewHour').implement({
  description: 'Mail statistics of one hour.',
  fields: (t) => ({
    beginsAt: t.expose('beginsAt', { type: 'DateTime', description: 'Start of the hour, in UTC.' }),
    received: t.exposeInt('received', { description: 'Number of emails received.' }),
    sent: t.exposeInt('sent', {
      description: `Number of emails submitted for sending, ${AS_IT_STANDS}; scheduled emails are not included.`,
    }),
    delivered: t.exposeInt('delivered', { description: 'Number of sent emails that all servers accepted.' }),
    bounced: t.exposeInt('bounced', { description: 'Number of sent emails that a server rejected permanently.' }),
    failed: t.exposeInt('failed', { description: 'Number of sent emails that Postroom gave up on.' }),
    held: t.exposeInt('held', {
      description: 'Number of received emails that a guard rule holds now, including those for review.',
    }),
  }),
});

const OverviewTotals = builder.objectRef<Omit<overview.HourOfMail, 'beginsAt'>>('OverviewTotals').implement({
  description: 'Mail statistics of the whole period.',
  fields: (t) => ({
    received: t.exposeInt('received', { description: 'Number of emails received.' }),
    sent: t.exposeInt('sent', { description: 'Number of emails submitted for sending.' }),
    delivered: t.exposeInt('delivered', { description: 'Number of sent emails that all servers accepted.' }),
    bounced: t.exposeInt('bounced', { description: 'Number of sent emails that a server rejected permanently.' }),
    failed: t.exposeInt('failed', { description: 'Number of sent emails that Postroom gave up on.' }),
    held: t.exposeInt('held', { description: 'Number of received emails that a guard rule holds now.' }),
    successRate: t.float({
      nullable: true,
      description: 'Share of finished sent emails that were delivered, 0 to 1. Null if none is finished.',
      resolve: ({ delivered, bounced, failed }) => rateOf(delivered, bounced + failed),
    }),
  }),
});

const WebhookSummary = builder.objectRef<overview.RecentWebhooks>('WebhookSummary').implement({
  description: `Statistics of webhook deliveries created in the period. Based on the newest ${overview.MAX_SAMPLED_DELIVERIES}, with an equal share for each endpoint.`,
  fields: (t) => ({
    successful: t.exposeInt('successful', { description: 'Number of successful deliveries.' }),
    failed: t.exposeInt('failed', { description: 'Number of failed deliveries.' }),
    pending: t.exposeInt('pending', { description: 'Number of deliveries with an attempt pending.' }),
    retrying: t.exposeInt('retrying', {
      description: 'Number of pending deliveries that have failed before and are retried.',
    }),
    successRate: t.float({
      nullable: true,
      description:
        'Share of attempted deliveries whose last attempt succeeded, 0 to 1; deliveries that are being retried count as failed until they succeed. Null if none was attempted.',
      resolve: ({ successful, failed, retrying }) => rateOf(successful, failed + retrying),
    }),
    medianMs: t.exposeInt('medianMs', {
      nullable: true,
      description: 'Median duration of the last attempts, in milliseconds. Null if there was none.',
    }),
    p95Ms: t.exposeInt('p95Ms', {
      nullable: true,
      description: '95th percentile of the duration of the last attempts, in milliseconds. Null if there was none.',
    }),
    isSampled: t.exposeBoolean('isSampled', {
      description: 'Whether there were more deliveries than these statistics include.',
    }),
  }),
});

const DomainDeliverabilityRef = builder.objectRef<overview.DomainDeliverability>('DomainDeliverability').implement({
  description: 'What became of the mail that a domain sent in the period, by current status.',
  fields: (t) => ({
    domain: t.exposeString('domain', { description: 'Name of the domain.' }),
    sent: t.exposeInt('sent', { description: 'Number of emails submitted for sending.' }),
    delivered: t.exposeInt('delivered', { description: 'Number of these that all servers accepted.' }),
    pending: t.exposeInt('pending', { description: 'Number of these that are queued or deferred.' }),
    deferred: t.exposeInt('deferred', {
      description: `Number of pending ones that a server deferred and Postroom retries, among the oldest ${overview.MAX_DEFERRED} of the account.`,
    }),
    bounced: t.exposeInt('bounced', { description: 'Number of these that a server rejected permanently.' }),
    failed: t.exposeInt('failed', { description: 'Number of these that Postroom gave up on.' }),
    complained: t.exposeInt('complained', {
      description: 'Number of these that a recipient reported as spam, whatever their status.',
    }),
  }),
});

const UP_TO = `at most ${overview.MAX_COUNTED}`;

const WaitingMail = builder.objectRef<overview.WaitingMail>('WaitingCounts').implement({
  description: `Number of emails and deliveries that are waiting now, whenever they were created. A count at its maximum means that many or more.`,
  fields: (t) => ({
    pending: t.exposeInt('pending', { description: 'Sent emails that not all servers have accepted yet.' }),
    deferred: t.exposeInt('deferred', {
      description: `Pending emails that a server deferred and Postroom retries, among the oldest ${overview.MAX_DEFERRED}.`,
    }),
    scheduled: t.exposeInt('scheduled', { description: 'Scheduled emails.' }),
    paused: t.exposeInt('paused', { description: 'Paused emails.' }),
    blocked: t.exposeInt('blocked', { description: `Received emails that a guard rule holds, ${UP_TO}.` }),
    review: t.exposeInt('review', { description: `Received emails that wait for your review, ${UP_TO}.` }),
    deliveries: t.exposeInt('deliveries', {
      description: `Pending deliveries to endpoints, ${UP_TO} each of webhooks and copies.`,
    }),
    retries: t.exposeInt('retries', { description: 'Pending deliveries that have failed before and are retried.' }),
  }),
});

const FindingKind = builder.enumType('FindingKind', {
  description: 'Kind of a finding.',
  values: {
    DOMAIN_UNVERIFIED: { value: 'domain-unproven', description: 'A domain is not verified.' },
    DOMAIN_VERIFICATION_LOST: {
      value: 'domain-proof-lost',
      description: 'The verification record of a domain is missing.',
    },
    DOMAIN_RECORDS_MISSING: {
      value: 'domain-records-missing',
      description: 'DNS records of a verified domain are missing.',
    },
    ENDPOINT_DISABLED: { value: 'endpoint-disabled', description: 'Postroom disabled an endpoint.' },
    ENDPOINT_FAILING: { value: 'endpoint-failing', description: 'All deliveries to an endpoint fail.' },
    ENDPOINT_QUERY_OUTDATED: {
      value: 'endpoint-query-outdated',
      description: 'The payload query of an endpoint no longer fits the schema.',
    },
    ADDRESS_WITHOUT_ENDPOINT: {
      value: 'address-without-endpoint',
      description: 'An address uses an endpoint that you disabled.',
    },
    SENDING_LIMIT: { value: 'sending-limit', description: '90% of the hourly sending limit is used.' },
    API_KEY_EXPIRED: { value: 'api-key-expired', description: 'An API key expired within the last 30 days.' },
    API_KEY_EXPIRING: { value: 'api-key-expiring', description: 'An API key expires within 7 days.' },
    MAIL_TO_REVIEW: { value: 'mail-to-review', description: 'Mail is waiting for your review.' },
  } as const,
});

const FindingSeverity = builder.enumType('FindingSeverity', {
  description: 'Severity of a finding.',
  values: enumValues<Finding['severity']>({
    error: 'Mail is being rejected, held up or lost.',
    warning: 'Mail will be affected unless you act.',
    notice: 'You need to decide something.',
  }),
});

const FindingRef = builder.objectRef<Finding>('Finding').implement({
  description: 'A problem or task that needs your attention.',
  fields: (t) => ({
    kind: t.expose('kind', { type: FindingKind, description: 'Kind of finding.' }),
    severity: t.expose('severity', { type: FindingSeverity, description: 'Severity.' }),
    title: t.exposeString('title', { description: 'Summary in one line.' }),
    detail: t.exposeString('detail', { description: 'Consequences and what to do, in full sentences.' }),
    at: t.expose('at', {
      type: 'DateTime',
      nullable: true,
      description: 'When it started, or when the key expires. Null if unknown.',
    }),
    node: t.field({
      type: builder.nodeInterfaceRef(),
      nullable: true,
      description: 'The Domain, Endpoint, EmailAddress, ApiKey or Email concerned. Null if it is the whole account.',
      resolve: ({ nodeId }, _args, context) => (nodeId === null ? null : loadNode(nodeId, context)),
    }),
  }),
});

/** The period of the overview, and its hours, which several fields share. */
interface OverviewOf extends overview.Span {
  hours: () => Promise<overview.HourOfMail[]>;
}

/** Number of rows that the cost limit assumes. */
const USUAL_HOURS = 24;
const USUAL_DAYS = 30;
const USUAL_THINGS = 10;

const Overview = builder.objectRef<OverviewOf>('Overview').implement({
  description:
    'The state of the account at a glance. Only requested fields are read, each with one SQL statement, findings with six.',
  fields: (t) => ({
    from: t.expose('from', { type: 'DateTime', description: 'Start of the first hour.' }),
    until: t.expose('until', { type: 'DateTime', description: 'End of the period, which is now.' }),
    hours: t.field({
      type: [OverviewHour],
      description: 'Statistics per hour, oldest first, including the current hour and hours without mail.',
      complexity: { field: 1, multiplier: USUAL_HOURS },
      resolve: ({ hours }) => hours(),
    }),
    days: t.field({
      type: [OverviewHour],
      description:
        'Statistics per UTC day, oldest first. `beginsAt` is the start of the day. The first day has only the hours of the period.',
      complexity: { field: 1, multiplier: USUAL_DAYS },
      resolve: async ({ hours }) => overview.daysOf(await hours()),
    }),
    domains: t.field({
      type: [DomainDeliverabilityRef],
      description: `Results of sending by domain, most mail first; at most ${overview.MAX_DELIVERABILITY_DOMAINS} domains.`,
      complexity: { field: 1, multiplier: USUAL_THINGS },
      resolve: (span, _args, { reads }) => overview.readDeliverability(reads, span),
    }),
    totals: t.field({
      type: OverviewTotals,
      description: 'Statistics of the whole period.',
      resolve: async ({ hours }) => overview.totalsOf(await hours()),
    }),
    webhooks: t.field({
      type: WebhookSummary,
      description: 'Statistics of webhook deliveries.',
      resolve: (span, _args, { reads }) => overview.readRecentWebhooks(reads, span),
    }),
    waiting: t.field({
      type: WaitingMail,
      description: 'What is waiting now.',
      resolve: (_span, _args, { reads }) => overview.readWaitingMail(reads),
    }),
    findings: t.field({
      type: [FindingRef],
      description: 'What needs your attention, most severe first, up to 50 of each kind.',
      complexity: { field: 1, multiplier: USUAL_THINGS },
      resolve: (_span, _args, { reads }) => listFindings(reads),
    }),
  }),
});

builder.queryField('overview', (t) =>
  t.field({
    type: Overview,
    access: access.read,
    description: 'Mail per hour, deliveries, waiting mail and findings.',
    args: {
      hours: t.arg.int({
        defaultValue: USUAL_HOURS,
        description: `Number of hours including the current one, 1 to ${overview.MAX_OVERVIEW_HOURS}.`,
      }),
    },
    resolve: (_root, { hours }, { reads }) => {
      const span = overview.overviewSpan(reads, hours ?? USUAL_HOURS);
      let read: Promise<overview.HourOfMail[]> | null = null;
      return { ...span, hours: () => (read ??= overview.readHours(reads, span)) };
    },
  }),
);

function rateOf(good: number, bad: number): number | null {
  return good + bad === 0 ? null : good / (good + bad);
}
