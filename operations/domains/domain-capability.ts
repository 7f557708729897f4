import { z } from 'zod';
import { MX_PREFERENCE, mailFromDomainOf, RECORD_PURPOSES } from '../../core/domains/dns-records.ts';
import { conflictMessage } from '../../core/domains/domain-advice.ts';
import { DOMAIN_STATUSES } from '../../core/domains/domain-state.ts';
import { MTA_STS_MODES } from '../../core/domains/mta-sts.ts';
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
} from '../capability/capability.ts';
import { domainName, text } from '../capability/field-shapes.ts';
import { DNS_CHECK_MS } from './check-dns.ts';
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

const recordStatus = oneOf(['not_started', 'pending', 'verified'], {
  name: 'DnsRecordStatus',
  description: 'Whether a DNS record was found.',
  values: {
    not_started: 'Not checked yet.',
    pending: 'Checked, and the record is missing or different.',
    verified: 'The record was found.',
  },
});

const dnsRecord = nameType(
  z.object({
    id: z.string().meta({ description: 'Stays the same as long as the record is needed.' }),
    type: oneOf(['MX', 'TXT'], {
      name: 'DnsRecordType',
      description: 'Type of a DNS record.',
      values: { MX: 'Where mail for the domain goes (RFC 5321 §5).', TXT: 'Text about the name.' },
    }).meta({ description: 'Type of the record.' }),
    purpose: oneOf(RECORD_PURPOSES, {
      name: 'DnsRecordPurpose',
      description: 'Purpose of a DNS record.',
      values: {
        receiving: 'Receives mail for the domain.',
        proof: 'Proves that the domain is yours.',
        spf: 'Allows this server to send mail for the domain (RFC 7208).',
        'mail-from-mx': 'Receives bounces of sent mail.',
        'mail-from-spf': 'Allows this server to send from the MAIL FROM domain.',
        dkim: 'Publishes a DKIM key, which verifies signatures (RFC 6376).',
        dmarc: 'Tells receivers what to do with mail that fails DMARC (RFC 9989).',
      },
    }).meta({ description: 'Purpose of the record.' }),
    name: z.string().meta({ description: 'Fully qualified name, without the trailing dot.' }),
    value: z
      .string()
      .meta({ description: 'Value in zone file format. For an MX record, the preference and the host.' }),
    priority: z.int().nullable().meta({
      description: 'Preference of an MX record, for forms with a separate field. Null for other types.',
    }),
    exchange: z.string().nullable().meta({
      description: 'Host of an MX record, for forms with a separate field. Null for other types.',
    }),
    description: z.string().meta({ description: 'What the record does. Display text.' }),
    isRequired: z.boolean().meta({
      description: 'Whether the domain fails without the record: it cannot be verified or cannot receive mail.',
    }),
    status: recordStatus.meta({ description: 'Whether the record was found at the last check.' }),
    error: z.string().nullable().meta({
      description:
        'Why the record was not found, or that DNS did not respond. Null if there is nothing to report or no check was made yet.',
    }),
    lastCheckedAt: z.date().nullable().meta({ description: 'When DNS was last checked. Null if never.' }),
  }),
  { type: 'DnsRecord', description: 'A DNS record to publish for a domain, and whether Postroom has found it.' },
);

const dkimKey = nameType(
  z.object({
    selector: z.string().meta({ description: 'The DKIM selector (`s=`).' }),
    publicKey: z.string().meta({ description: 'The RSA public key, DER in base64: the `p=` tag of the record.' }),
    state: oneOf(['active', 'waiting', 'retired'], {
      name: 'DkimKeyState',
      description: 'State of a DKIM key.',
      values: {
        active: 'Signs mail.',
        waiting: 'Signs mail as soon as its record is found.',
        retired: 'Replaced within the last 7 days. Its record is still needed for mail in transit.',
      },
    }).meta({ description: 'State of the key.' }),
    record: dnsRecord
      .nullable()
      .meta({ description: 'The record that publishes the key. Null if it is no longer needed.' }),
  }),
  { type: 'DkimKey', description: 'A DKIM key of a domain (RFC 6376). The private key never leaves the server.' },
);

const provider = nameType(
  z.object({
    name: z.string().meta({ description: 'Display name of the provider.' }),
    confidence: oneOf(['high', 'medium', 'low'], {
      name: 'DnsProviderConfidence',
      description: 'Confidence in the detected DNS provider.',
      values: {
        high: 'All name servers belong to the provider.',
        medium: 'Some name servers belong to the provider.',
        low: 'The name servers belong to no known provider.',
      },
    }).meta({ description: 'Confidence of this result.' }),
  }),
  { type: 'DnsProvider', description: 'The DNS provider of a domain, derived from its name servers.' },
);

/** Records in the way that the cost limit of GraphQL assumes. */
const USUAL_CONFLICTS = 3;
const conflict = nameType(
  z.object({
    type: oneOf(['mx', 'cname', 'both'], {
      name: 'DnsConflictType',
      description: 'What prevents mail from arriving here.',
      values: {
        mx: 'MX records of other servers.',
        cname: 'The name is a CNAME, which cannot have other records.',
        both: 'Both of these.',
      },
    }).meta({ description: 'The kind of conflict.' }),
    message: z.string().meta({ description: 'What the conflict causes and how to fix it. Display text.' }),
    records: usually(
      USUAL_CONFLICTS,
      z.array(
        nameType(
          z.object({
            type: z.string().meta({ description: 'MX or CNAME.' }),
            value: z.string().meta({ description: 'Value in zone file format.' }),
          }),
          { type: 'FoundDnsRecord', description: 'A DNS record found at the domain.' },
        ),
      ),
    ).meta({ description: 'The records, up to 10.' }),
  }),
  { type: 'DnsConflict', description: 'Existing DNS records that prevent the domain from receiving mail here.' },
);

const recommendation = z.object({
  name: z.string().meta({ description: 'Fully qualified name, without the trailing dot.' }),
  value: z.string().meta({ description: 'Text to publish. It replaces an existing record of the same kind.' }),
  description: z.string().meta({ description: 'What the record does. Display text.' }),
});
const dnsRecommendation = nameType(recommendation, {
  type: 'DnsRecommendation',
  description: 'An optional TXT record that improves delivery of mail from the domain.',
});
const transportRecord = nameType(
  recommendation.extend({
    isSeen: z.boolean().meta({ description: 'Whether the record was found at the last check.' }),
  }),
  {
    type: 'TransportSecurityRecord',
    description: 'A TXT record for transport security, and whether it was found.',
  },
);

const transportSecurity = nameType(
  z.object({
    mode: oneOf(MTA_STS_MODES, {
      name: 'MtaStsMode',
      description: 'What senders should do if TLS fails (RFC 8461 §5).',
      values: { testing: 'Deliver the mail and report the failure.', enforce: 'Do not deliver the mail.' },
    }).meta({ description: 'Mode of the policy.' }),
    policyHost: z.string().meta({ description: 'The name that must point to this gateway over HTTPS.' }),
    policyUrl: z.string().meta({ description: 'URL of the policy.' }),
    mtaSts: transportRecord.meta({ description: 'The record that announces the policy.' }),
    tlsReports: transportRecord.meta({ description: 'The record that says where to send TLS reports.' }),
  }),
  {
    type: 'TransportSecurity',
    description: 'Settings that make senders use TLS for mail to a domain (RFC 8461) and report failures (RFC 8460).',
  },
);

const authRecommendations = nameType(
  z.object({
    spf: dnsRecommendation.nullable().meta({
      description: 'Suggested SPF record. Null if SPF already allows this server or DNS was not checked yet.',
    }),
    dmarc: dnsRecommendation.nullable().meta({
      description: 'Suggested DMARC record. Null if the domain or its parent has a policy, or DNS was not checked yet.',
    }),
  }),
  { type: 'AuthRecommendations', description: 'Optional records that make receivers trust mail from the domain.' },
);

const mailFrom = nameType(
  z.object({
    name: z.string().meta({ description: 'A subdomain of the domain.' }),
    status: recordStatus.meta({
      description: 'Whether both records were found. Until then mail uses the domain itself.',
    }),
    verifiedAt: z.date().nullable().meta({ description: 'When both records were found. Null if they were not.' }),
  }),
  { type: 'DomainMailFrom', description: 'The custom MAIL FROM domain, which receives bounces (RFC 5321 §3.3).' },
);

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
function recordOf({ checkedAt }: domains.Domain, record: domains.ShownRecord) {
  const isMx = record.type === 'MX';
  return {
    ...record,
    priority: isMx ? MX_PREFERENCE : null,
    exchange: isMx ? record.value.slice(record.value.indexOf(' ') + 1) : null,
    status: statusOf(record.isSeen, checkedAt),
    lastCheckedAt: checkedAt,
  };
}

function statusOf(isFound: boolean, checkedAt: Date | null) {
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
  tag: 'Domains',
  path: '/domains',
  restCase: 'camel',
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
      dnsRecords: (domain) => domain.dnsRecords.map((record) => recordOf(domain, record)),
      dkimKeys: (domain) =>
        domain.dkimKeys.map((key) => {
          const record = domain.dnsRecords.find(
            ({ purpose, name }) => purpose === 'dkim' && name.startsWith(`${key.selector}.`),
          );
          return { ...key, record: record === undefined ? null : recordOf(domain, record) };
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
        name: mailFromDomainOf(name),
        status: statusOf(verifiedAt !== null, checkedAt),
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
      access: 'manage',
      field: 'createDomain',
      summary: 'Create a domain',
      description:
        'Adds a domain and checks its DNS records. The domain is verified once the TXT record at `_postroom` is found; Postroom checks every minute at first. A subdomain of one of your verified domains is verified at once.',
      answerWithinMs: DNS_CHECK_MS,
      input: z.object({
        domain: domainName.meta({ description: 'Domain name, case-insensitive, in ASCII (punycode) or Unicode.' }),
      }),
      errors: [409],
      run: (context, input) => domains.createDomain(context, input),
    }),
    defineChange({
      kind: 'update',
      access: 'manage',
      field: 'updateDomain',
      summary: 'Update a domain',
      description: 'Turns the catch-all of a verified domain on or off: where mail to unknown addresses goes.',
      target: byId,
      input: domainChange,
      errors: [],
      run: (context, change, id) => changes.updateDomain(context, id, change),
    }),
    defineAction({
      access: 'manage',
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
      access: 'manage',
      field: 'verifyDomain',
      summary: 'Check the DNS records of a domain',
      description: 'Checks the DNS records of a domain now.',
      answerWithinMs: DNS_CHECK_MS,
      method: 'POST',
      path: '/:id/verify',
      target: byId,
      input: z.object({}),
      output: 'resource',
      errors: [503],
      run: (context, _input, id) => domains.readCheckedDomain(context, id),
    }),
    defineAction({
      access: 'manage',
      field: 'verifyDomains',
      summary: 'Check the DNS records of several domains',
      description:
        'Checks the DNS records of several domains now. A domain whose check takes too long is returned with its last known state.',
      answerWithinMs: DNS_CHECK_MS,
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
      access: 'manage',
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
