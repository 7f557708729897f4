import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { countSendsLeft, countSent, readAccount } from '../../../operations/accounts/account.ts';
import { FINDING_KINDS, FINDING_SEVERITIES, listFindings } from '../../../operations/upkeep/findings.ts';
import * as overview from '../../../operations/upkeep/overview.ts';
import { access } from '../../admission/access.ts';
import { errorBody, instant, type RestOptions, wireInstant } from '../shapes.ts';

const accountBody = z
  .object({
    object: z.literal('account'),
    id: z.string(),
    email: z.string().nullable().meta({ description: 'Null while the account is being deleted.' }),
    name: z.string().meta({ description: 'Name of the account owner; may be empty.' }),
    via: z.enum(['session', 'key']).meta({ description: 'How the request was authenticated.' }),
    created_at: instant.nullable(),
    limits: z.object({
      requests_per_second: z.number().int().nullable().meta({ description: 'Null means no limit.' }),
      sends_per_hour: z.number().int().nullable().meta({ description: 'Null means no limit.' }),
      sends_left: z.number().int().nullable().meta({ description: 'Emails that can be sent now. Null: no limit.' }),
      sent_within_hour: z.number().int(),
    }),
    service: z.object({
      public_url: z.string(),
      mail_hostname: z.string().meta({ description: 'Host name of the mail server, which MX records point to.' }),
      smtp_host: z.string(),
      smtp_port: z.number().int(),
      has_guard_model: z.boolean().meta({ description: 'Whether guard rules can use a language model.' }),
      version: z.string(),
    }),
  })
  .meta({ id: 'Account' });

const mailCounts = {
  received: z.number().int(),
  sent: z.number().int().meta({ description: 'Emails submitted for sending; scheduled emails are not included.' }),
  delivered: z.number().int().meta({ description: 'Sent emails that all servers accepted.' }),
  bounced: z.number().int().meta({ description: 'Sent emails that a server rejected permanently.' }),
  failed: z.number().int().meta({ description: 'Sent emails that Postroom gave up on.' }),
  held: z.number().int().meta({ description: 'Received emails that a guard rule holds now.' }),
};

const overviewBody = z
  .object({
    object: z.literal('overview'),
    from: instant.meta({ description: 'Start of the first hour.' }),
    until: instant.meta({ description: 'End of the period, which is now.' }),
    totals: z.object(mailCounts),
    hours: z
      .array(z.object({ begins_at: instant, ...mailCounts }))
      .meta({ description: 'Counts per hour, oldest first, including hours without mail.' }),
    domains: z
      .array(
        z.object({
          domain: z.string(),
          sent: z.number().int(),
          delivered: z.number().int(),
          pending: z.number().int(),
          deferred: z.number().int(),
          bounced: z.number().int(),
          failed: z.number().int(),
          complained: z.number().int(),
        }),
      )
      .meta({ description: 'Results of sending by domain, most mail first.' }),
    webhooks: z
      .object({
        successful: z.number().int(),
        failed: z.number().int(),
        pending: z.number().int(),
        retrying: z.number().int(),
        median_ms: z.number().int().nullable(),
        p95_ms: z.number().int().nullable(),
        is_sampled: z.boolean().meta({ description: 'Whether there were more deliveries than were counted.' }),
      })
      .meta({ description: 'Webhook deliveries created in the period.' }),
    waiting: z
      .object({
        pending: z.number().int(),
        deferred: z.number().int(),
        scheduled: z.number().int(),
        paused: z.number().int(),
        blocked: z.number().int(),
        review: z.number().int(),
        deliveries: z.number().int(),
        retries: z.number().int(),
      })
      .meta({ description: 'What is waiting now, whenever it was created.' }),
    findings: z
      .array(
        z.object({
          kind: z.enum(FINDING_KINDS),
          severity: z.enum(FINDING_SEVERITIES),
          title: z.string(),
          detail: z.string().meta({ description: 'The consequences and what to do.' }),
          at: instant.nullable().meta({ description: 'When it started, or when the key expires.' }),
          id: z.string().nullable().meta({ description: 'ID of the object concerned. Null: the account.' }),
        }),
      )
      .meta({ description: 'What needs your attention, most severe first.' }),
  })
  .meta({ id: 'Overview' });

const DEFAULT_HOURS = 24;

/** The account, its limits and its state at a glance. */
export const accountRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/account',
    {
      config: { access: access.read },
      schema: {
        operationId: 'getAccount',
        summary: 'Retrieve the account',
        description: 'Returns the account that makes the request, its limits, and settings of the server.',
        tags: ['Account'],
        response: { 200: accountBody, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const { settings } = context;
      const account = await readAccount(context);
      return {
        object: 'account' as const,
        id: account.userId,
        email: account.email,
        name: account.name,
        via: account.via,
        created_at: wireInstant(account.createdAt),
        limits: {
          requests_per_second: settings.requestsPerSecond || null,
          sends_per_hour: settings.sendLimitPerHour || null,
          sends_left: await countSendsLeft(context),
          sent_within_hour: await countSent(context),
        },
        service: {
          public_url: settings.publicUrl,
          mail_hostname: settings.mailHostname,
          smtp_host: settings.smtp.host,
          smtp_port: settings.smtp.port,
          has_guard_model: settings.hasGuardModel,
          version: settings.version,
        },
      };
    },
  );

  app.get(
    '/overview',
    {
      config: { access: access.read },
      schema: {
        operationId: 'getOverview',
        summary: 'Retrieve the overview',
        description: 'Returns mail per hour, deliveries, waiting mail and what needs your attention.',
        tags: ['Account'],
        querystring: z.object({
          hours: z.coerce.number().int().min(1).max(overview.MAX_OVERVIEW_HOURS).default(DEFAULT_HOURS).meta({
            description: 'Number of hours, including the current one.',
          }),
        }),
        response: { 200: overviewBody, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const span = overview.overviewSpan(context, request.query.hours);
      const hours = await overview.readHours(context, span);
      const { medianMs, p95Ms, isSampled, ...webhooks } = await overview.readRecentWebhooks(context, span);
      return {
        object: 'overview' as const,
        from: wireInstant(span.from),
        until: wireInstant(span.until),
        totals: overview.totalsOf(hours),
        hours: hours.map(({ beginsAt, ...counts }) => ({ begins_at: wireInstant(beginsAt), ...counts })),
        domains: await overview.readDeliverability(context, span),
        webhooks: { ...webhooks, median_ms: medianMs, p95_ms: p95Ms, is_sampled: isSampled },
        waiting: await overview.readWaitingMail(context),
        findings: (await listFindings(context)).map(({ nodeId, at, ...finding }) => ({
          ...finding,
          at: wireInstant(at),
          id: nodeId,
        })),
      };
    },
  );
};
