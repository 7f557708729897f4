import { z } from 'zod';
import { graphqlOnly, linkTo, named, nameType, restLiteral, usually } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { type Capability, defineAction } from '../capability/capability.ts';
import { FINDING_KINDS, FINDING_SEVERITIES, listFindings } from './findings.ts';
import * as overview from './overview.ts';

const count = z.number().int();

const mailCounts = {
  received: count.meta({ description: 'Number of emails received.' }),
  sent: count.meta({
    description:
      'Number of emails submitted for sending, with their current status; scheduled emails are not included.',
  }),
  delivered: count.meta({ description: 'Number of sent emails that all servers accepted.' }),
  bounced: count.meta({ description: 'Number of sent emails that a server rejected permanently.' }),
  failed: count.meta({ description: 'Number of sent emails that Postroom gave up on.' }),
  held: count.meta({
    description: 'Number of received emails that a guard rule holds now, including those for review.',
  }),
};

const hour = nameType(
  z.object({ beginsAt: z.date().meta({ description: 'Start of the hour, in UTC.' }), ...mailCounts }),
  { type: 'OverviewHour', description: 'Mail statistics of one hour.' },
);

const totals = nameType(
  z.object({
    ...mailCounts,
    successRate: graphqlOnly(z.number().nullable()).meta({
      description: 'Share of finished sent emails that were delivered, 0 to 1. Null if none is finished.',
    }),
  }),
  { type: 'OverviewTotals', description: 'Mail statistics of the whole period.' },
);

const domainResults = nameType(
  z.object({
    domain: z.string().meta({ description: 'Name of the domain.' }),
    sent: count.meta({ description: 'Number of emails submitted for sending.' }),
    delivered: count.meta({ description: 'Number of these that all servers accepted.' }),
    pending: count.meta({ description: 'Number of these that are queued or deferred.' }),
    deferred: count.meta({
      description: `Number of pending ones that a server deferred and Postroom retries, among the oldest ${overview.MAX_DEFERRED} of the account.`,
    }),
    bounced: count.meta({ description: 'Number of these that a server rejected permanently.' }),
    failed: count.meta({ description: 'Number of these that Postroom gave up on.' }),
    complained: count.meta({
      description: 'Number of these that a recipient reported as spam, whatever their status.',
    }),
  }),
  {
    type: 'DomainDeliverability',
    description: 'What became of the mail that a domain sent in the period, by current status.',
  },
);

const webhooks = nameType(
  z.object({
    successful: count.meta({ description: 'Number of successful deliveries.' }),
    failed: count.meta({ description: 'Number of failed deliveries.' }),
    pending: count.meta({ description: 'Number of deliveries with an attempt pending.' }),
    retrying: count.meta({ description: 'Number of pending deliveries that have failed before and are retried.' }),
    successRate: graphqlOnly(z.number().nullable()).meta({
      description:
        'Share of attempted deliveries whose last attempt succeeded, 0 to 1; deliveries that are being retried count as failed until they succeed. Null if none was attempted.',
    }),
    medianMs: count.nullable().meta({
      description: 'Median duration of the last attempts, in milliseconds. Null if there was none.',
    }),
    p95Ms: count.nullable().meta({
      description: '95th percentile of the duration of the last attempts, in milliseconds. Null if there was none.',
    }),
    isSampled: z.boolean().meta({
      description: 'Whether there were more deliveries than these statistics include.',
    }),
  }),
  {
    type: 'WebhookSummary',
    description: `Statistics of webhook deliveries created in the period. Based on the newest ${overview.MAX_SAMPLED_DELIVERIES}, with an equal share for each endpoint.`,
  },
);

const webhookTimes = nameType(
  z.object({
    beginsAt: z.date().meta({ description: 'Start of the hour or day, in UTC.' }),
    medianMs: count.meta({ description: 'Median duration of the last attempts, in milliseconds.' }),
    p95Ms: count.meta({ description: '95th percentile of the duration of the last attempts, in milliseconds.' }),
    sampleSize: count.meta({ description: 'Number of deliveries that the times are computed from.' }),
  }),
  {
    type: 'WebhookTimes',
    description: `How long the webhook deliveries took that were created in an hour or day. Based on up to ${overview.MAX_TIMED_DELIVERIES} deliveries of the period, with an equal share for each interval and endpoint.`,
  },
);

const UP_TO = `at most ${overview.MAX_COUNTED}`;

const waiting = nameType(
  z.object({
    pending: count.meta({ description: 'Sent emails that not all servers have accepted yet.' }),
    deferred: count.meta({
      description: `Pending emails that a server deferred and Postroom retries, among the oldest ${overview.MAX_DEFERRED}.`,
    }),
    scheduled: count.meta({ description: 'Scheduled emails.' }),
    paused: count.meta({ description: 'Paused emails.' }),
    blocked: count.meta({ description: `Received emails that a guard rule holds, ${UP_TO}.` }),
    review: count.meta({ description: `Received emails that wait for your review, ${UP_TO}.` }),
    deliveries: count.meta({
      description: `Pending deliveries to endpoints, ${UP_TO} each of webhooks and copies.`,
    }),
    retries: count.meta({ description: 'Pending deliveries that have failed before and are retried.' }),
  }),
  {
    type: 'WaitingCounts',
    description:
      'Number of emails and deliveries that are waiting now, whenever they were created. A count at its maximum means that many or more.',
  },
);

const finding = nameType(
  z.object({
    kind: oneOf(FINDING_KINDS, {
      name: 'FindingKind',
      description: 'Kind of a finding.',
      names: {
        'domain-unproven': 'DOMAIN_UNVERIFIED',
        'domain-proof-lost': 'DOMAIN_VERIFICATION_LOST',
      },
      values: {
        'domain-unproven': 'A domain is not verified.',
        'domain-proof-lost': 'The verification record of a domain is missing.',
        'domain-records-missing': 'DNS records of a verified domain are missing.',
        'endpoint-disabled': 'Postroom disabled an endpoint.',
        'endpoint-failing': 'All deliveries to an endpoint fail.',
        'endpoint-query-outdated': 'The payload query of an endpoint no longer fits the schema.',
        'address-without-endpoint': 'An address uses an endpoint that you disabled.',
        'sending-limit': '90% of the hourly sending limit is used.',
        'api-key-expired': 'An API key expired within the last 30 days.',
        'api-key-expiring': 'An API key expires within 7 days.',
        'mail-to-review': 'Mail is waiting for your review.',
      },
    }).meta({ description: 'Kind of finding.' }),
    severity: oneOf(FINDING_SEVERITIES, {
      name: 'FindingSeverity',
      description: 'Severity of a finding.',
      values: {
        error: 'Mail is being rejected, held up or lost.',
        warning: 'Mail will be affected unless you act.',
        notice: 'You need to decide something.',
      },
    }).meta({ description: 'Severity.' }),
    title: z.string().meta({ description: 'Summary in one line.' }),
    detail: z.string().meta({ description: 'Consequences and what to do, in full sentences.' }),
    at: z.date().nullable().meta({ description: 'When it started, or when the key expires. Null if unknown.' }),
    nodeId: linkTo('Node', named(z.string().nullable(), { restName: 'id' }), 'node').meta({
      description:
        'The Domain, Endpoint, EmailAddress, ApiKey or Email concerned; its ID in REST. Null if it is the whole account.',
    }),
  }),
  { type: 'Finding', description: 'A problem or task that needs your attention.' },
);

/** Rows that the cost limit of GraphQL assumes. */
const USUAL_HOURS = 24;
const USUAL_DAYS = 30;
const USUAL_ITEMS = 10;

const whole = z
  .object({
    object: restLiteral('overview'),
    from: z.date().meta({ description: 'Start of the first hour.' }),
    until: z.date().meta({ description: 'End of the period, which is now.' }),
    totals: totals.meta({ description: 'Statistics of the whole period.' }),
    hours: usually(USUAL_HOURS, z.array(hour)).meta({
      description: 'Statistics per hour, oldest first, including the current hour and hours without mail.',
    }),
    days: usually(USUAL_DAYS, graphqlOnly(z.array(hour))).meta({
      description:
        'Statistics per UTC day, oldest first. `beginsAt` is the start of the day. The first day has only the hours of the period.',
    }),
    domains: usually(USUAL_ITEMS, z.array(domainResults)).meta({
      description: `Results of sending by domain, most mail first; at most ${overview.MAX_DELIVERABILITY_DOMAINS} domains.`,
    }),
    webhooks: webhooks.meta({ description: 'Statistics of webhook deliveries created in the period.' }),
    webhookTimes: usually(USUAL_HOURS, z.array(webhookTimes)).meta({
      description: `How long webhook deliveries took, oldest first: per hour in periods up to ${overview.MAX_HOURLY_TIMES} hours, otherwise per UTC day. Intervals without an attempt are left out.`,
    }),
    waiting: waiting.meta({ description: 'What is waiting now, whenever it was created.' }),
    findings: usually(USUAL_ITEMS, z.array(finding)).meta({
      description: 'What needs your attention, most severe first, up to 50 of each kind.',
    }),
  })
  .meta({
    id: 'Overview',
    description:
      'The state of the account at a glance. Only requested fields are read, each with one SQL statement, findings with six.',
  });

const hours = z
  .number()
  .int()
  .default(USUAL_HOURS)
  .meta({
    description: `Number of hours including the current one, 1 to ${overview.MAX_OVERVIEW_HOURS}.`,
  });

export const overviewCapability: Capability = {
  feature: 'Account',
  what: 'Overview',
  tag: 'Account',
  path: '/overview',
  restCase: 'snake',
  operations: [
    defineAction({
      access: 'read',
      operationId: 'getOverview',
      field: 'overview',
      summary: 'Retrieve the overview',
      description: 'Returns mail per hour, deliveries, waiting mail and what needs your attention.',
      method: 'GET',
      path: '',
      input: z.object({ hours }),
      output: whole,
      errors: [],
      run: (context, { hours: length }) => {
        const span = overview.overviewSpan(context, length);
        let reading: Promise<overview.HourOfMail[]> | null = null;
        const readHours = () => (reading ??= overview.readHours(context, span));
        return Promise.resolve({
          ...span,
          async totals() {
            const sums = overview.sumTotals(await readHours());
            return { ...sums, successRate: findSuccessRate(sums.delivered, sums.bounced + sums.failed) };
          },
          hours: readHours,
          days: async () => overview.groupByDay(await readHours()),
          domains: () => overview.readDeliverability(context, span),
          async webhooks() {
            const recent = await overview.readRecentWebhooks(context, span);
            return { ...recent, successRate: findSuccessRate(recent.successful, recent.failed + recent.retrying) };
          },
          webhookTimes: () => overview.readWebhookTimes(context, span),
          waiting: () => overview.readWaitingMail(context),
          findings: () => listFindings(context),
        });
      },
    }),
  ],
};

function findSuccessRate(good: number, bad: number): number | null {
  return good + bad === 0 ? null : good / (good + bad);
}
