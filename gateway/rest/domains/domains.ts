import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { domainName } from '../../../operations/capability/field-shapes.ts';
import * as domains from '../../../operations/domains/domains.ts';
import { access, accessByCase } from '../../admission/access.ts';
import { INSTEAD_OF_OFFSET, isOneSided, oneSide, pageByIdFields, readPageById } from '../page-by-id.ts';
import {
  besideBody,
  errorBody,
  idInPath,
  limit,
  listBody,
  makeListShape,
  offset,
  queryBoolean,
  type RestOptions,
} from '../shapes.ts';
import { makeCheckedBody } from './domain-changes.ts';
import {
  dnsRecordsBody,
  domainBody,
  domainStatus,
  makeDnsRecordsBody,
  makeDomainBody,
  makeDomainDetails,
  makeVerificationCheck,
} from './domain-wire.ts';

const check = queryBoolean.optional().meta({ description: 'Whether to check DNS now.' });

const listQuery = z
  .object({
    limit: limit(),
    offset,
    ...pageByIdFields('a domain', INSTEAD_OF_OFFSET),
    status: domainStatus.optional().meta({ description: 'Returns domains with this status only.' }),
    canReceive: queryBoolean
      .optional()
      .meta({ description: '`true` returns domains that can receive mail, `false` the others.' }),
    check,
  })
  .refine(isOneSided, oneSide)
  .refine(({ check: isLive, after, before }) => isLive !== true || (after ?? before) === undefined, {
    path: ['check'],
    message: 'cannot be used with after or before. Use offset',
  });

const listed = makeListShape(domainBody).extend({
  meta: z.object({
    totalCount: z.number().int(),
    verifiedCount: z.number().int(),
    statusBreakdown: z.record(z.string(), z.number().int()),
  }),
});

// The `resend` client calls it `name`.
const newDomain = z
  .object({
    domain: domainName.optional(),
    name: domainName.optional(),
  })
  .refine((body) => body.domain !== undefined || body.name !== undefined, {
    path: ['domain'],
    message: 'domain is required',
  })
  .meta({ examples: [{ domain: 'example.com' }] });

/** `check` queries DNS, which may verify the domain or find a record missing. */
const accessWithCheck = accessByCase(
  { 'without `check`': ['read'], 'with `check`': ['read', 'domains'] },
  ({ query }) => ((query as { check?: unknown }).check === true ? ['read', 'domains'] : ['read']),
);

export const domainRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.post(
    '/domains',
    {
      config: { access: access.domains },
      schema: {
        operationId: 'createDomain',
        summary: 'Create a domain',
        description:
          'Adds a domain and returns the DNS records to publish, and which of them already exist. The domain is verified once the TXT record at `_postroom` is found; Postroom checks every minute at first. A subdomain of one of your verified domains is verified at once.',
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
      return reply.code(201).send({ message, ...makeDomainDetails(domain, context.workspaceId) });
    },
  );

  app.get(
    '/domains',
    {
      config: { access: accessWithCheck },
      schema: {
        operationId: 'listDomains',
        summary: 'List domains',
        description:
          'Returns domains, newest first. With `check`, DNS is checked first; a domain whose check takes too long is returned with its last known state.',
        tags: ['Domains'],
        querystring: listQuery,
        response: { 200: listed, 503: errorBody, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const { status, canReceive, limit: size, offset: start, check: isLive = false } = request.query;
      const page = { limit: size, offset: start };
      const query = { status, canReceive };
      const beside = await readPageById(request.query, {
        load: (ids) => domains.loadDomains(context, ids),
        page: (keyset) => domains.pageListedDomains(context, query, keyset),
      });
      if (beside !== null) {
        const total = await domains.countDomainList(context, query);
        const counts = await domains.countDomainsByStatus(context);
        const bodies = beside.items.map((domain) => makeDomainBody(domain, context.workspaceId));
        return { ...besideBody(bodies, page, { ...beside, total }), meta: toMeta(counts) };
      }
      const found = await (isLive
        ? domains.listCheckedDomains(context, query, page)
        : domains.listDomains(context, query, page));
      return {
        ...listBody(
          found.domains.map((domain) => ({
            ...makeDomainBody(domain, context.workspaceId),
            ...(isLive ? { verificationCheck: makeVerificationCheck(domain, context.now()) } : {}),
          })),
          page,
          found.total,
        ),
        meta: toMeta(found.counts),
      };
    },
  );

  app.get(
    '/domains/:id',
    {
      config: { access: accessWithCheck },
      schema: {
        operationId: 'getDomain',
        summary: 'Retrieve a domain',
        description:
          'Returns the domain with its DNS records, which of them were found, and its recent amount of mail. With `check`, DNS is checked first.',
        tags: ['Domains'],
        params: idInPath,
        querystring: z.object({ check }),
        response: { 200: domainBody, 503: errorBody, default: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const { id } = request.params;
      if (request.query.check !== true)
        return makeDomainDetails(await domains.readDomain(context, id), context.workspaceId);
      return makeCheckedBody(context, id);
    },
  );
};

const records = z.object({
  domain: z.string(),
  domainId: z.string(),
  records: dnsRecordsBody,
  dnsRecords: dnsRecordsBody,
});

/** Paths of `@inboundemail/sdk` 4.4. */
export const legacyDomainRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  for (const [method, operationId] of [
    ['POST', 'legacyVerifyDomain'],
    ['PATCH', 'legacyCheckDomain'],
  ] as const)
    app.route({
      method,
      url: '/domains/:id/auth',
      config: { access: access.domains },
      schema: {
        operationId,
        summary: `Check the DNS records of a domain (legacy ${method})`,
        description: 'Same as retrieving the domain with `check`.',
        tags: ['Paths of other clients'],
        deprecated: true,
        params: idInPath,
        response: { 200: domainBody, 503: errorBody, default: errorBody },
      },
      handler: (request) => makeCheckedBody(contextOf(request), request.params.id),
    });

  app.get(
    '/domains/:id/dns-records',
    {
      config: { access: access.read },
      schema: {
        operationId: 'listDnsRecords',
        summary: 'List the DNS records of a domain',
        description: 'Returns the records to publish, and which of them were found.',
        tags: ['Paths of other clients'],
        deprecated: true,
        params: idInPath,
        response: { 200: records, default: errorBody },
      },
    },
    async (request) => {
      const domain = await domains.readDomain(contextOf(request), request.params.id);
      const shown = makeDnsRecordsBody(domain);
      return { domain: domain.name, domainId: domain.id, records: shown, dnsRecords: shown };
    },
  );
};

function toMeta(counts: domains.DomainList['counts']): z.infer<typeof listed>['meta'] {
  const { pending, verified, failed } = counts;
  return {
    totalCount: pending + verified + failed,
    verifiedCount: verified,
    statusBreakdown: { pending, verified, failed },
  };
}
