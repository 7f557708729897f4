import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import * as domains from '../../../operations/domains/domains.ts';
import { access } from '../../admission/access.ts';
import { errorBody, idInPath, type RestOptions } from '../shapes.ts';
import { checkedBodyOf } from './domain-changes.ts';
import { dnsRecordsBody, dnsRecordsBodyOf, domainBody } from './domain-wire.ts';

const records = z.object({
  domain: z.string(),
  domainId: z.string(),
  records: dnsRecordsBody,
  dnsRecords: dnsRecordsBody,
});

/** Paths of `@inboundemail/sdk` 4.4 . */
export const legacyDomainRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  for (const [method, operationId] of [
    ['POST', 'legacyVerifyDomain'],
    ['PATCH', 'legacyCheckDomain'],
  ] as const)
    app.route({
      method,
      url: '/domains/:id/auth',
      config: { access: access.manage },
      schema: {
        operationId,
        summary: `Check the DNS records of a domain (legacy ${method})`,
        description: 'Same as retrieving the domain with `check`.',
        tags: ['Paths of other clients'],
        deprecated: true,
        params: idInPath,
        response: { 200: domainBody, 503: errorBody, default: errorBody },
      },
      handler: (request) => checkedBodyOf(contextOf(request), request.params.id),
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
      const shown = dnsRecordsBodyOf(domain);
      return { domain: domain.name, domainId: domain.id, records: shown, dnsRecords: shown };
    },
  );
};
