import { findThingsToFix, type ThingToFix } from '../../../operations/upkeep/findings.ts';
import * as overview from '../../../operations/upkeep/overview.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { loadNode } from '../node-kinds.ts';

const AS_IT_STANDS = 'created then, as it stands now';

const OverviewHour = builder.objectRef<overview.HourOfMail>('OverviewHour').implement({
  description: 'The mail of one hour.',
  fields: (t) => ({
    beginsAt: t.expose('beginsAt', { type: 'DateTime', description: 'When the hour begins; hours are those of UTC.' }),
    received: t.exposeInt('received', { description: 'Emails that came in.' }),
    sent: t.exposeInt('sent', {
      description: `Emails that were given to be sent, ${AS_IT_STANDS}; what waits for its time is not counted.`,
    }),
    delivered: t.exposeInt('delivered', { description: 'Of the sent ones: those that every server took.' }),
    bounced: t.exposeInt('bounced', { description: 'Of the sent ones: those that a server refused for good.' }),
    failed: t.exposeInt('failed', { description: 'Of the sent ones: those that were given up.' }),
    held: t.exposeInt('held', {
      description: 'Of the received ones: those that a guard rule holds back now, for review too.',
    }),
  }),
});

const OverviewTotals = builder.objectRef<Omit<overview.HourOfMail, 'beginsAt'>>('OverviewTotals').implement({
  description: 'The mail of all the hours.',
  fields: (t) => ({
    received: t.exposeInt('received', { description: 'As of an hour.' }),
    sent: t.exposeInt('sent', { description: 'As of an hour.' }),
    delivered: t.exposeInt('delivered', { description: 'As of an hour.' }),
    bounced: t.exposeInt('bounced', { description: 'As of an hour.' }),
    failed: t.exposeInt('failed', { description: 'As of an hour.' }),
    held: t.exposeInt('held', { description: 'As of an hour.' }),
    successRate: t.float({
      nullable: true,
      description: 'Of the sent emails that are settled, the part that was delivered, 0 to 1; null: none is settled.',
      resolve: ({ delivered, bounced, failed }) => rateOf(delivered, bounced + failed),
    }),
  }),
});

const WebhookSummary = builder.objectRef<overview.RecentWebhooks>('WebhookSummary').implement({
  description: `What became of the webhook deliveries that were made in these hours, at most the newest ${overview.MAX_SAMPLED_DELIVERIES}, each endpoint with an equal part of them.`,
  fields: (t) => ({
    successful: t.exposeInt('successful', { description: 'Deliveries that succeeded.' }),
    failed: t.exposeInt('failed', { description: 'Deliveries that were given up.' }),
    pending: t.exposeInt('pending', { description: 'Deliveries that are tried, or will be.' }),
    successRate: t.float({
      nullable: true,
      description: 'Of those that ended, the part that succeeded, 0 to 1; null: none ended.',
      resolve: ({ successful, failed }) => rateOf(successful, failed),
    }),
    medianMs: t.exposeInt('medianMs', {
      nullable: true,
      description: 'Half of the last tries took no longer, in milliseconds; null: there was none.',
    }),
    p95Ms: t.exposeInt('p95Ms', {
      nullable: true,
      description: '95 of 100 last tries took no longer, in milliseconds; null: there was none.',
    }),
    isSampled: t.exposeBoolean('isSampled', { description: 'Whether there were more than are told of here.' }),
  }),
});

const UP_TO = `at most ${overview.MAX_COUNTED}`;

const WaitingMail = builder.objectRef<overview.WaitingMail>('WaitingCounts').implement({
  description: `What waits now, whenever it was made. Numbers with a bound are so large when there are more.`,
  fields: (t) => ({
    pending: t.exposeInt('pending', { description: 'Sent emails that not all servers took yet.' }),
    deferred: t.exposeInt('deferred', {
      description: `Of these, those that a server put off and that are tried again, among the oldest ${overview.MAX_DEFERRED}.`,
    }),
    scheduled: t.exposeInt('scheduled', { description: 'Emails that wait for their time.' }),
    paused: t.exposeInt('paused', { description: 'Scheduled emails that you paused.' }),
    blocked: t.exposeInt('blocked', { description: `Received emails that a guard rule holds back: ${UP_TO}.` }),
    review: t.exposeInt('review', { description: `Received emails that wait for your review: ${UP_TO}.` }),
    deliveries: t.exposeInt('deliveries', {
      description: `Deliveries to endpoints that are on their way: ${UP_TO} of webhooks and of copies each.`,
    }),
    retries: t.exposeInt('retries', { description: 'Of these, those that failed before and are tried again.' }),
  }),
});

const FindingKind = builder.enumType('FindingKind', {
  description: 'What is to be looked at.',
  values: {
    DOMAIN_UNVERIFIED: { value: 'domain-unproven', description: 'A domain is not verified.' },
    DOMAIN_VERIFICATION_LOST: {
      value: 'domain-proof-lost',
      description: 'DNS does not show any more that a domain is yours.',
    },
    DOMAIN_RECORDS_MISSING: { value: 'domain-records-missing', description: 'A verified domain misses DNS records.' },
    ENDPOINT_DISABLED: { value: 'endpoint-disabled', description: 'An endpoint was switched off by the service.' },
    ENDPOINT_FAILING: { value: 'endpoint-failing', description: 'Every delivery to an endpoint fails.' },
    ADDRESS_WITHOUT_ENDPOINT: {
      value: 'address-without-way',
      description: 'An address leads to an endpoint that you switched off.',
    },
    SENDING_LIMIT: { value: 'sending-limit', description: '90 % of the hourly sending limit are used.' },
    API_KEY_EXPIRED: { value: 'api-key-expired', description: 'An API key has expired within the last 30 days.' },
    API_KEY_EXPIRING: { value: 'api-key-expiring', description: 'An API key expires within 7 days.' },
    MAIL_TO_REVIEW: { value: 'mail-to-review', description: 'Mail waits for your review.' },
  } as const,
});

const FindingSeverity = builder.enumType('FindingSeverity', {
  description: 'How bad a thing is.',
  values: {
    ERROR: { value: 'error', description: 'Mail is refused, stuck or lost to you.' },
    WARNING: { value: 'warning', description: 'It will be, when nothing is done.' },
    NOTICE: { value: 'notice', description: 'You have to decide something.' },
  } as const,
});

const FindingRef = builder.objectRef<ThingToFix>('Finding').implement({
  description: 'Something that you should look at.',
  fields: (t) => ({
    kind: t.expose('kind', { type: FindingKind, description: 'Of what kind it is.' }),
    severity: t.expose('severity', { type: FindingSeverity, description: 'How bad it is.' }),
    title: t.exposeString('title', { description: 'What it is, in one line.' }),
    detail: t.exposeString('detail', { description: 'What it comes to and what helps, in whole sentences.' }),
    at: t.expose('at', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when it is so; of keys when they expire; null: nobody knows.',
    }),
    node: t.field({
      type: builder.nodeInterfaceRef(),
      nullable: true,
      description: 'What it is about: Domain, Endpoint, EmailAddress, ApiKey or Email; null: the account.',
      resolve: ({ nodeId }, _args, context) => (nodeId === null ? null : loadNode(nodeId, context)),
    }),
  }),
});

/** What the fields share. */
interface OverviewOf extends overview.Span {
  hours: () => Promise<overview.HourOfMail[]>;
}

/** Assumed by the limit on costs. */
const USUAL_HOURS = 24;
const USUAL_THINGS = 10;

const Overview = builder.objectRef<OverviewOf>('Overview').implement({
  description: 'How things stand. Only what is asked for is read, each field in one statement, findings in six.',
  fields: (t) => ({
    from: t.expose('from', { type: 'DateTime', description: 'When the first hour begins.' }),
    until: t.expose('until', { type: 'DateTime', description: 'Now.' }),
    hours: t.field({
      type: [OverviewHour],
      description: 'Each hour, oldest first, the present one last; hours without mail too.',
      complexity: { field: 1, multiplier: USUAL_HOURS },
      resolve: ({ hours }) => hours(),
    }),
    totals: t.field({
      type: OverviewTotals,
      description: 'All these hours together.',
      resolve: async ({ hours }) => overview.totalsOf(await hours()),
    }),
    webhooks: t.field({
      type: WebhookSummary,
      description: 'What became of webhook deliveries.',
      resolve: (span, _args, { reads }) => overview.readRecentWebhooks(reads, span),
    }),
    waiting: t.field({
      type: WaitingMail,
      description: 'What waits now.',
      resolve: (_span, _args, { reads }) => overview.readWaitingMail(reads),
    }),
    findings: t.field({
      type: [FindingRef],
      description: 'What you should look at, the worst first; at most 50 of each kind.',
      complexity: { field: 1, multiplier: USUAL_THINGS },
      resolve: (_span, _args, { reads }) => findThingsToFix(reads),
    }),
  }),
});

builder.queryField('overview', (t) =>
  t.field({
    type: Overview,
    access: access.readAccount,
    description: 'Mail by the hour, deliveries, what waits, and what is to be looked at.',
    args: {
      hours: t.arg.int({
        defaultValue: USUAL_HOURS,
        description: `How many, the present one among them: 1 to ${overview.MAX_OVERVIEW_HOURS}.`,
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
