import { z } from 'zod';
import { MX_PREFERENCE, makeMailFromDomain } from '../../core/domains/dns-records.ts';
import { conflictMessage } from '../../core/domains/domain-advice.ts';
import { DOMAIN_STATUSES } from '../../core/domains/domain-state.ts';
import { linkTo, named, nameType, usually } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import {
  type Capability,
  defineAction,
  defineChange,
  defineList,
  defineOwnedList,
  defineRead,
  defineResource,
  OF_DOMAINS,
} from '../capability/capability.ts';
import { domainName, text } from '../capability/field-shapes.ts';
import { DNS_CHECK_MS } from './check-dns.ts';
import {
  authRecommendations,
  conflict,
  dkimKey,
  dnsRecord,
  mailFrom,
  provider,
  transportSecurity,
} from './dns-shapes.ts';
import * as changes from './domain-changes.ts';
import * as domains from './domains.ts';
import { mailStatistics } from './email-address-capability.ts';
import { rotateDkimKey } from './rotate-dkim-key.ts';

const domainStatus = oneOf(DOMAIN_STATUSES, {
  name: 'DomainStatus',
  description: 'Verification status of a domain.',
  values: {
    pending: 'Not verified yet. Postroom checks the DNS record automatically.',
    verified: 'Verified: you can send from the domain and create addresses on it.',
    failed: 'The DNS record was not found in time, or another account verified the domain.',
  },
});

const catchAll = nameType(
  z.object({
    isEnabled: z.boolean().meta({ description: 'Whether such mail is accepted; otherwise it is rejected.' }),
    endpointId: linkTo('Endpoint', z.string().nullable()).meta({
      description: 'Endpoint that receives the mail. Null if such mail is not accepted, or only stored.',
    }),
  }),
  { type: 'CatchAll', description: 'Where mail to unknown addresses of a domain goes.' },
);

/** Values that the cost limit of GraphQL assumes. */
const USUAL_RECORDS = 8;
const USUAL_KEYS = 2;

const byId = { argument: 'id', argumentDescription: 'ID of the domain.' } as const;

export const domainChange = z.object({
  isCatchAllEnabled: z
    .boolean()
    .optional()
    .meta({ description: 'Whether to accept and route mail to unknown addresses.' }),
  catchAllEndpointId: text.nullish().meta({
    description: 'ID of the endpoint that receives the mail; required to turn the catch-all on, unless it only stores.',
  }),
  isCatchAllStoreOnly: z.boolean().optional().meta({
    description:
      'With `isCatchAllEnabled`: mail to unknown addresses is accepted and stored, and delivered to no endpoint. Instead of `catchAllEndpointId`.',
  }),
  receiveDmarcEmails: z.boolean().optional().meta({
    description: 'Whether to route mail to dmarc@ like other mail. If you set it, `isCatchAllEnabled` is optional.',
  }),
});

/** Returns a record as GraphQL has it. */
function showRecord({ checkedAt }: domains.Domain, record: domains.ShownRecord) {
  const isMx = record.type === 'MX';
  return {
    ...record,
    priority: isMx ? MX_PREFERENCE : null,
    exchange: isMx ? record.value.slice(record.value.indexOf(' ') + 1) : null,
    status: readStatus(record.isSeen, checkedAt),
    lastCheckedAt: checkedAt,
  };
}

function readStatus(isFound: boolean, checkedAt: Date | null) {
  return isFound ? ('verified' as const) : checkedAt === null ? ('not_started' as const) : ('pending' as const);
}

/** The bodies of REST, which has fields of several clients, are in gateway/rest/domains. */
export const domainCapability: Capability = {
  feature: 'Domains',
  what: 'Domains',
  byHand: {
    rest: [
      'listDomains',
      'getDomain',
      'listDnsRecords',
      'createDomain',
      'updateDomain',
      'replaceDomain',
      'deleteDomain',
      'verifyDomain',
      'rotateDkimKey',
    ],
  },
  difference: 'GraphQL checks the DNS of several domains at once, too',
  ...OF_DOMAINS,
  resource: defineResource<domains.Domain>()({
    name: 'Domain',
    identifier: 'domain',
    description: 'A domain of yours, which sends and receives mail.',
    isOfDomain: true,
    shape: z.object({
      name: z.string().meta({ description: 'Lowercase, in ASCII (punycode, RFC 5890).' }),
      status: domainStatus.meta({ description: 'Verification status.' }),
      reason: named(z.string().nullable(), { graphqlName: 'statusReason' }).meta({
        description: 'Why the domain is not verified. Display text; null if there is nothing to report.',
      }),
      canReceive: z.boolean().meta({
        description: 'Whether the domain can receive mail: it is verified and its mail arrives here.',
      }),
      canSend: z.boolean().meta({ description: 'Whether you can send from the domain: it is verified.' }),
      isTrusted: z.boolean().meta({
        description:
          'Whether the domain needs no DNS verification, because the server trusts its name or its parent domain.',
      }),
      isFullyVerified: z.boolean().meta({
        description: 'Whether the domain is verified and all required records were found.',
      }),
      isDkimSeen: named(z.boolean(), { graphqlName: 'isDkimVerified' }).meta({
        description: 'Whether the record of a DKIM key that signs its mail was found, on the domain or its parent.',
      }),
      hasMxRecords: z.boolean().meta({
        description: 'Whether the domain has any MX records. False while DNS was not checked yet.',
      }),
      checkedAt: named(z.date().nullable(), { graphqlName: 'lastCheckedAt' }).meta({
        description: 'When DNS was last checked. Null if never.',
      }),
      lastCheckError: z.string().nullable().meta({
        description:
          'What DNS did not return at the last check; those results are from earlier. Null if DNS returned everything.',
      }),
      proofLostAt: z.date().nullable().meta({
        description:
          'Since when the verification record has been missing, so that another account could claim the domain. Null if it is present.',
      }),
      dnsRecords: usually(USUAL_RECORDS, z.array(dnsRecord)).meta({
        description: 'DNS records to publish, and which of them were found.',
      }),
      dkimKeys: usually(USUAL_KEYS, z.array(dkimKey)).meta({
        description:
          'DKIM keys, newest first. A subdomain of a verified domain has none; the keys of the parent sign its mail.',
      }),
      provider: provider.nullable().meta({
        description: 'The DNS provider. Null if DNS was not checked yet or did not respond.',
      }),
      dnsConflict: conflict.nullable().meta({
        description: 'What prevents mail from arriving here. Null if no conflict is known.',
      }),
      transportSecurity: transportSecurity.meta({ description: 'Settings that make senders use TLS.' }),
      advice: named(authRecommendations, { graphqlName: 'authRecommendations' }).meta({
        description: 'Optional records that make receivers trust its mail.',
      }),
      mailFrom: mailFrom.meta({ description: 'The custom MAIL FROM domain, which receives bounces.' }),
      catchAll: catchAll.meta({ description: 'Where mail to unknown addresses goes.' }),
      receiveDmarcEmails: z.boolean().meta({
        description: 'Whether mail to dmarc@ is routed like other mail. DMARC reports are read in any case.',
      }),
      parentId: linkTo('Domain', z.string().nullable()).meta({
        description: 'The verified parent domain that this domain was verified by. Null if it was verified itself.',
      }),
      createdAt: z.date().meta({ description: 'When the domain was added.' }),
      updatedAt: z.date().meta({ description: 'When its settings or status last changed.' }),
      emailStatistics: mailStatistics.meta({ description: 'Recent amount of mail. Counted only when requested.' }),
    }),
    computed: {
      canSend: ({ status }) => status === 'verified',
      hasMxRecords: ({ check }) => check?.hasMx ?? false,
      lastCheckError: ({ check }) => check?.error ?? null,
      dnsRecords: (domain) => domain.dnsRecords.map((record) => showRecord(domain, record)),
      dkimKeys: (domain) =>
        domain.dkimKeys.map((key) => {
          const record = domain.dnsRecords.find(
            ({ purpose, name }) => purpose === 'dkim' && name.startsWith(`${key.selector}.`),
          );
          return { ...key, record: record === undefined ? null : showRecord(domain, record) };
        }),
      provider: ({ check }) => check?.provider ?? null,
      dnsConflict: ({ check }) =>
        check?.conflict == null ? null : { ...check.conflict, message: conflictMessage(check.conflict.type) },
      transportSecurity: ({ transport: { isMtaStsSeen, isTlsReportSeen, ...transport } }) => ({
        ...transport,
        mtaSts: { ...transport.mtaSts, isSeen: isMtaStsSeen },
        tlsReports: { ...transport.tlsReports, isSeen: isTlsReportSeen },
      }),
      mailFrom: ({ name, mailFromVerifiedAt: verifiedAt, checkedAt }) => ({
        name: makeMailFromDomain(name),
        status: readStatus(verifiedAt !== null, checkedAt),
        verifiedAt,
      }),
      catchAll: ({ isCatchAllEnabled: isEnabled, catchAllEndpoint }) => ({
        isEnabled,
        endpointId: catchAllEndpoint?.id ?? null,
      }),
      parentId: ({ parent }) => parent?.id ?? null,
    },
    loaded: {
      emailStatistics: {
        isInLists: false,
        load: (context, rows) =>
          domains.countDomainEmails(
            context,
            rows.map(({ name }) => name),
          ),
      },
    },
    load: domains.loadDomains,
  }),
  operations: [
    defineList({
      access: 'read',
      field: 'domains',
      summary: 'List domains',
      description: 'Returns your domains, newest first.',
      filter: z.object({
        status: domainStatus.optional().meta({ description: 'Matches domains with this status.' }),
        canReceive: z.boolean().optional().meta({
          description: 'True matches domains that can receive mail, false the others.',
        }),
      }),
      isPagedByItem: true,
      page: domains.pageDomains,
      count: domains.countDomainList,
      async list(context, query, page) {
        const { domains: rows, total } = await domains.listDomains(context, query, page);
        return { rows, total };
      },
    }),
    defineRead({
      access: 'read',
      field: 'domain',
      summary: 'Retrieve a domain',
      description: 'Returns the domain with this ID, or null if the account has no such domain.',
      target: byId,
      read: domains.readDomain,
    }),
    defineRead({
      access: 'read',
      field: 'domainByName',
      summary: 'Retrieve a domain by its name',
      description: 'Returns the domain with this name, or null if the account has no such domain.',
      target: { argument: 'name', argumentDescription: 'Case-insensitive, in ASCII (punycode) or Unicode.' },
      async read(context, name) {
        const id = await domains.findDomainByName(context, name);
        const [domain = null] = id === null ? [] : await domains.loadDomains(context, [id]);
        if (domain === null) throw domains.domainNotFound();
        return domain;
      },
    }),
    defineAction({
      access: 'read',
      field: 'domainCounts',
      summary: 'Count domains',
      description: 'Number of your domains by status.',
      method: 'GET',
      path: '',
      input: z.object({}),
      output: nameType(
        z.object({
          total: z.int().meta({ description: 'Total number.' }),
          pending: z.int().meta({ description: 'Number with status PENDING.' }),
          verified: z.int().meta({ description: 'Number with status VERIFIED.' }),
          failed: z.int().meta({ description: 'Number with status FAILED.' }),
        }),
        { type: 'DomainCounts', description: 'Number of your domains by status.' },
      ),
      errors: [],
      async run(context) {
        const counts = await domains.countDomainsByStatus(context);
        return { ...counts, total: counts.pending + counts.verified + counts.failed };
      },
    }),
    defineChange({
      kind: 'create',
      access: 'domains',
      field: 'createDomain',
      summary: 'Create a domain',
      description:
        'Adds a domain and checks its DNS records. The domain is verified once the TXT record at `_postroom` is found; Postroom checks every minute at first. A subdomain of one of your verified domains is verified at once.',
      respondWithinMs: DNS_CHECK_MS,
      input: z.object({
        domain: domainName.meta({ description: 'Domain name, case-insensitive, in ASCII (punycode) or Unicode.' }),
      }),
      errors: [409],
      run: (context, input) => domains.createDomain(context, input),
    }),
    defineChange({
      kind: 'update',
      access: 'domains',
      field: 'updateDomain',
      summary: 'Update a domain',
      description: 'Turns the catch-all of a verified domain on or off: where mail to unknown addresses goes.',
      target: byId,
      input: domainChange,
      errors: [],
      run: (context, change, id) => changes.updateDomain(context, id, change),
    }),
    defineAction({
      access: 'domains',
      field: 'deleteDomain',
      summary: 'Delete a domain',
      description:
        'Deletes a domain together with its addresses, keys and DMARC reports. Its emails stay readable. Delete its subdomains first: a Conflict lists them in `details.dependentSubdomains`.',
      method: 'DELETE',
      path: '/:id',
      target: byId,
      input: z.object({}),
      output: z
        .object({
          deletedId: z.string().meta({ description: 'The ID it had.' }),
          name: z.string().meta({ description: 'The name, which can be added again.' }),
          addressCount: named(z.int(), { graphqlName: 'deletedAddressCount' }).meta({
            description: 'Addresses that were deleted with the domain.',
          }),
          recordCount: named(z.int(), { graphqlName: 'obsoleteRecordCount' }).meta({
            description: 'DNS records that you can remove.',
          }),
          wasVerified: z.boolean().meta({ description: 'Whether the domain was verified.' }),
        })
        .meta({ description: 'A deleted domain.' }),
      errors: [409],
      run: async (context, _input, id) => ({ deletedId: id, ...(await changes.deleteDomain(context, id)) }),
    }),
    defineAction({
      access: 'domains',
      field: 'verifyDomain',
      summary: 'Check the DNS records of a domain',
      description: 'Checks the DNS records of a domain now.',
      respondWithinMs: DNS_CHECK_MS,
      method: 'POST',
      path: '/:id/verify',
      target: byId,
      input: z.object({}),
      output: 'resource',
      errors: [503],
      run: (context, _input, id) => domains.readCheckedDomain(context, id),
    }),
    defineAction({
      access: 'domains',
      field: 'verifyDomains',
      summary: 'Check the DNS records of several domains',
      description:
        'Checks the DNS records of several domains now. A domain whose check takes too long is returned with its last known state.',
      respondWithinMs: DNS_CHECK_MS,
      method: 'POST',
      path: '/verify',
      input: z.object({
        ids: z.array(named(z.string(), { graphqlType: 'ID' })).meta({ description: 'IDs of 1 to 100 domains.' }),
      }),
      output: z.object({ ids: linkTo('Domain', z.array(z.string()), 'domains') }),
      payloadField: 'domains',
      errors: [],
      async run(context, { ids }) {
        await changes.checkDomains(context, ids);
        return { ids };
      },
    }),
    defineAction({
      access: 'domains',
      field: 'rotateDkimKey',
      summary: 'Rotate the DKIM key of a domain',
      description:
        'Creates a new DKIM key. Publish its record; mail is signed with the key once the record is found. Keep the old record as long as it is listed, which is 7 more days.',
      method: 'POST',
      path: '/:id/dkim',
      target: byId,
      input: z.object({}),
      output: 'resource',
      errors: [409],
      run: (context, _input, id) => rotateDkimKey(context, id),
    }),
    defineOwnedList({
      access: 'read',
      summary: 'List subdomains',
      description: 'Your subdomains of this domain, newest first. The domain can be deleted once there are none.',
      of: { type: 'Domain', field: 'subdomains' },
      filter: z.object({}),
      page: (context, ids, _filter, page) => domains.pageSubdomains(context, ids, page),
      count: (context, ids) => domains.countSubdomains(context, ids),
    }),
  ],
};
