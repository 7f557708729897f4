import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { OperationContext } from '../../../operations/context.ts';
import { domainChange } from '../../../operations/domains/domain-capability.ts';
import * as changes from '../../../operations/domains/domain-changes.ts';
import * as domains from '../../../operations/domains/domains.ts';
import { rotateDkimKey } from '../../../operations/domains/rotate-dkim-key.ts';
import { access } from '../../admission/access.ts';
import { errorBody, idInPath, type RestOptions } from '../shapes.ts';
import { type DomainBody, domainBody, domainStatus, makeDomainDetails, makeVerificationCheck } from './domain-wire.ts';

/** Fields of the `resend` client for what Postroom does not do, each with the reason. */
const withoutEffect = {
  open_tracking: 'Postroom does not track whether mail is opened.',
  click_tracking: 'Postroom does not rewrite links to track clicks.',
  tracking_subdomain: 'Postroom does not track opens or clicks.',
  tls: 'Postroom uses TLS wherever the receiving server offers it, and requires it by the MTA-STS policy or DANE records of the receiver.',
  capabilities: 'Every verified domain sends and receives.',
} as const;
const ignored = z
  .unknown()
  .optional()
  .meta({ description: 'Of the `resend` client. It has no effect, as `warnings` says.' });

const change = domainChange
  .extend({
    open_tracking: ignored,
    click_tracking: ignored,
    tracking_subdomain: ignored,
    tls: ignored,
    capabilities: ignored,
  })
  .meta({
    examples: [
      { isCatchAllEnabled: false },
      { isCatchAllEnabled: true, catchAllEndpointId: 'ep_01931f3e5a7b7c1d8e2f3a4b5c6d7e8f' },
      { isCatchAllEnabled: true, isCatchAllStoreOnly: true },
    ],
  });

const deleted = z.object({
  success: z.literal(true),
  message: z.string(),
  object: z.literal('domain'),
  id: z.string(),
  deleted: z.literal(true),
  deletedResources: z.object({
    domain: z.string(),
    emailAddresses: z.number().int(),
    dnsRecords: z.number().int(),
    blockedEmails: z.number().int(),
    providerIdentity: z.boolean(),
    providerReceiptRules: z.boolean(),
    sesIdentity: z.boolean(),
    sesReceiptRules: z.boolean(),
  }),
});

const conflict = errorBody.extend({
  dependentSubdomains: z.array(z.object({ id: z.string(), domain: z.string(), status: domainStatus })).optional(),
});

const response = { 200: domainBody, default: errorBody };

/** The response of a domain whose DNS was checked just now. */
export async function makeCheckedBody(context: OperationContext, id: string): Promise<DomainBody> {
  const domain = await domains.readCheckedDomain(context, id);
  const verificationCheck = makeVerificationCheck(domain, context.now());
  return { ...makeDomainDetails(domain, context.workspaceId), verificationCheck };
}

export const domainChangeRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  // PATCH is the documented method; the older client sends PUT.
  for (const [method, operationId] of [
    ['PATCH', 'updateDomain'],
    ['PUT', 'replaceDomain'],
  ] as const)
    app.route({
      method,
      url: '/domains/:id',
      config: { access: access.domains },
      schema: {
        operationId,
        summary: method === 'PATCH' ? 'Update a domain' : 'Update a domain (legacy PUT)',
        description:
          'Turns the catch-all of a verified domain on or off, which routes mail to unknown addresses to an endpoint, or only stores it (`isCatchAllStoreOnly`). A body with fields of the `resend` client only changes nothing.',
        tags: ['Domains'],
        params: idInPath,
        body: change,
        response,
      },
      handler: async (request) => {
        const context = contextOf(request);
        const { id } = request.params;
        const { isCatchAllEnabled, catchAllEndpointId, isCatchAllStoreOnly, receiveDmarcEmails, ...others } =
          request.body;
        const warnings = Object.entries(withoutEffect).flatMap(([field, message]) =>
          others[field as keyof typeof others] === undefined
            ? []
            : [{ field, message: `It has no effect. ${message}` }],
        );
        request.bodyWarnings?.push(...warnings);
        const own = { isCatchAllEnabled, catchAllEndpointId, isCatchAllStoreOnly, receiveDmarcEmails };
        const hasOwn = Object.values(own).some((value) => value !== undefined);
        // A client of Resend expects success for what it set.
        const domain =
          hasOwn || warnings.length === 0
            ? await changes.updateDomain(context, id, own)
            : await domains.readDomain(context, id);
        return makeDomainDetails(domain, context.workspaceId);
      },
    });

  app.delete(
    '/domains/:id',
    {
      config: { access: access.domains },
      schema: {
        operationId: 'deleteDomain',
        summary: 'Delete a domain',
        description:
          'Deletes the domain together with its addresses, keys and DMARC reports. Its emails stay readable. Delete its subdomains first; otherwise the request fails with 409 and lists them.',
        tags: ['Domains'],
        params: idInPath,
        response: { 200: deleted, 409: conflict, default: errorBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const gone = await changes.deleteDomain(contextOf(request), id);
      const hadReceiving = gone.wasVerified || gone.addressCount > 0;
      return {
        success: true as const,
        message: `Domain ${gone.name} was deleted.`,
        object: 'domain' as const,
        id,
        deleted: true as const,
        deletedResources: {
          domain: gone.name,
          emailAddresses: gone.addressCount,
          dnsRecords: gone.recordCount,
          blockedEmails: 0,
          providerIdentity: true,
          providerReceiptRules: hadReceiving,
          sesIdentity: true,
          sesReceiptRules: hadReceiving,
        },
      };
    },
  );

  app.post(
    '/domains/:id/dkim',
    {
      config: { access: access.domains },
      schema: {
        operationId: 'rotateDkimKey',
        summary: 'Rotate the DKIM key of a domain',
        description:
          'Creates a new key and returns the domain with the records of both keys. Publish the new record; mail is signed with the new key once the record is found. Keep the old record as long as it is listed, which is 7 more days.',
        tags: ['Domains'],
        params: idInPath,
        response: { ...response, 409: errorBody },
      },
    },
    async (request) => {
      const context = contextOf(request);
      const domain = await rotateDkimKey(context, request.params.id);
      const message = 'Publish the record of the new DKIM key. Mail is signed with it once the record is found.';
      return { ...makeDomainDetails(domain, context.workspaceId), message };
    },
  );

  app.post(
    '/domains/:id/verify',
    {
      config: { access: access.domains },
      schema: {
        operationId: 'verifyDomain',
        summary: 'Check the DNS records of a domain',
        description: 'Same as retrieving the domain with `check`.',
        tags: ['Domains'],
        params: idInPath,
        response: { ...response, 503: errorBody },
      },
    },
    (request) => makeCheckedBody(contextOf(request), request.params.id),
  );
};
