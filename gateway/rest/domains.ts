import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { mailFromDomainOf } from '../../core/dns-records.ts';
import { MAX_DOMAIN_LENGTH } from '../../core/domain-name.ts';
import * as domains from '../../operations/domains.ts';
import { ENDPOINT_TYPES } from '../../operations/endpoints.ts';
import {
  errorBody,
  idInPath,
  instant,
  limit,
  listBody,
  listOf,
  offset,
  queryBoolean,
  type RestOptions,
  text,
  wireInstant,
} from './shapes.ts';

const status = z.enum(domains.DOMAIN_STATUSES);

const dnsRecord = z
  .object({
    type: z.string(),
    recordType: z.string(),
    name: z.string(),
    value: z.string(),
    description: z.string(),
    isRequired: z.boolean(),
  })
  .meta({ id: 'DnsRecord' });

const domainBody = z
  .object({
    object: z.literal('domain'),
    id: z.string(),
    domain: z.string(),
    name: z.string(),
    status,
    canReceiveEmails: z.boolean(),
    hasMxRecords: z.boolean(),
    domainProvider: z.string().nullable(),
    providerConfidence: z.string().nullable(),
    lastDnsCheck: instant.nullable(),
    lastProviderCheck: instant.nullable(),
    lastSesCheck: instant.nullable(),
    isCatchAllEnabled: z.boolean(),
    catchAllEndpointId: z.string().nullable(),
    mailFromDomain: z.string().nullable(),
    mailFromDomainStatus: z.string().nullable(),
    mailFromDomainVerifiedAt: instant.nullable(),
    receiveDmarcEmails: z.boolean(),
    createdAt: instant,
    updatedAt: instant,
    userId: z.string(),
    stats: z.object({
      totalEmailAddresses: z.number().int(),
      activeEmailAddresses: z.number().int(),
      hasCatchAll: z.boolean(),
      emailsLast24h: z.number().int().optional(),
      emailsLast7d: z.number().int().optional(),
      emailsLast30d: z.number().int().optional(),
    }),
    catchAllEndpoint: z
      .object({ id: z.string(), name: z.string(), type: z.enum(ENDPOINT_TYPES), isActive: z.boolean() })
      .nullable(),
    dnsRecords: z.array(dnsRecord),
    parentDomain: z.string().optional(),
    inheritsFromParent: z.boolean().optional(),
    message: z.string().optional(),
  })
  .meta({ id: 'Domain' });

const check = queryBoolean.optional().meta({ description: 'whether to look at DNS now' });

const listQuery = z.object({
  limit: limit(),
  offset,
  status: status.optional().meta({ description: 'domains of one status' }),
  canReceive: queryBoolean.optional().meta({ description: 'domains that mail can reach, or those that it cannot' }),
  check,
});

// The `resend` client calls it `name`.
const newDomain = z
  .object({
    domain: text.min(1).max(MAX_DOMAIN_LENGTH).optional(),
    name: text.min(1).max(MAX_DOMAIN_LENGTH).optional(),
  })
  .refine((body) => body.domain !== undefined || body.name !== undefined, {
    path: ['domain'],
    message: 'domain is required',
  })
  .meta({ examples: [{ domain: 'example.com' }] });

export const domainRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/domains',
    {
      schema: {
        operationId: 'createDomain',
        summary: 'Add a domain',
        description:
          'Answers the DNS records to publish. A subdomain of a verified domain of yours is verified at once.',
        tags: ['Domains'],
        body: newDomain,
        response: { 201: domainBody, 409: errorBody, default: errorBody },
      },
    },
    async (request, reply) => {
      const context = contextOf(request);
      const { domain: given, name = '' } = request.body;
      const domain = await domains.createDomain(context, { domain: given ?? name });
      const message =
        domain.status === 'verified' ? 'The domain is verified.' : 'Publish the DNS records to verify the domain.';
      return reply.code(201).send({ ...detailsOf(domain, context.userId), message });
    },
  );

  app.get(
    '/domains',
    {
      schema: {
        operationId: 'listDomains',
        summary: 'List domains',
        description: 'Newest first.',
        tags: ['Domains'],
        querystring: listQuery,
        response: { 200: listOf(domainBody), default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const { status: wanted, canReceive, limit: size, offset: start } = request.query;
      const page = { limit: size, offset: start };
      const found = await domains.listDomains(context, { status: wanted, canReceive }, page);
      return listBody(
        found.domains.map((domain) => domainBodyOf(domain, context.userId)),
        page,
        found.total,
      );
    },
  );

  app.get(
    '/domains/:id',
    {
      schema: {
        operationId: 'getDomain',
        summary: 'Read a domain',
        description: 'With its DNS records, and how much mail it had lately.',
        tags: ['Domains'],
        params: idInPath,
        querystring: z.object({ check }),
        response: { 200: domainBody, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      return detailsOf(await domains.readDomain(context, request.params.id), context.userId);
    },
  );
};

function domainBodyOf(domain: domains.Domain, userId: string): z.infer<typeof domainBody> {
  return {
    object: 'domain',
    id: domain.id,
    domain: domain.name,
    name: domain.name,
    status: domain.status,
    canReceiveEmails: domain.canReceive,
    hasMxRecords: false,
    domainProvider: null,
    providerConfidence: null,
    lastDnsCheck: null,
    lastProviderCheck: null,
    lastSesCheck: null,
    isCatchAllEnabled: domain.isCatchAllEnabled,
    catchAllEndpointId: domain.catchAllEndpoint?.id ?? null,
    mailFromDomain: mailFromDomainOf(domain.name),
    mailFromDomainStatus: domain.mailFromVerifiedAt === null ? 'pending' : 'Success',
    mailFromDomainVerifiedAt: domain.mailFromVerifiedAt && wireInstant(domain.mailFromVerifiedAt),
    receiveDmarcEmails: domain.receiveDmarcEmails,
    createdAt: wireInstant(domain.createdAt),
    updatedAt: wireInstant(domain.updatedAt),
    userId,
    stats: {
      totalEmailAddresses: domain.addressCount,
      activeEmailAddresses: domain.activeAddressCount,
      hasCatchAll: domain.isCatchAllEnabled,
    },
    catchAllEndpoint: domain.catchAllEndpoint,
    dnsRecords: domain.dnsRecords.map((record) => ({ ...record, recordType: record.type })),
  };
}

function detailsOf(domain: domains.DomainDetails, userId: string): z.infer<typeof domainBody> {
  const body = domainBodyOf(domain, userId);
  const { lastDay, lastWeek, lastMonth } = domain.emailCounts;
  return {
    ...body,
    stats: { ...body.stats, emailsLast24h: lastDay, emailsLast7d: lastWeek, emailsLast30d: lastMonth },
    inheritsFromParent: domain.parent !== null && domain.status === 'verified',
    ...(domain.parent === null ? {} : { parentDomain: domain.parent }),
  };
}
