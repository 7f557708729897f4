import { z } from 'zod';
import { MX_PREFERENCE, makeMailFromDomain } from '../../../core/domains/dns-records.ts';
import { conflictMessage } from '../../../core/domains/domain-advice.ts';
import { DOMAIN_STATUSES } from '../../../core/domains/domain-state.ts';
import { MTA_STS_MODES } from '../../../core/domains/mta-sts.ts';
import { ENDPOINT_TYPES } from '../../../core/endpoints/endpoint-config.ts';
import type * as domains from '../../../operations/domains/domains.ts';
import type { ShownRecord } from '../../../operations/domains/domains.ts';
import { instant, wireInstant } from '../shapes.ts';

/** The type of the `resend` client requires a region; Postroom does not use it. */
const REGION = 'us-east-1';

export const domainStatus = z.enum(DOMAIN_STATUSES);

const dnsRecord = z
  .object({
    id: z.string(),
    domainId: z.string(),
    type: z.string(),
    recordType: z.string(),
    name: z.string(),
    value: z.string(),
    description: z.string(),
    isRequired: z.boolean(),
    isVerified: z.boolean(),
    lastChecked: instant.nullable(),
    createdAt: instant,
    error: z.string().optional().meta({ description: 'Why the record is not verified.' }),
  })
  .meta({ id: 'DnsRecord' });

/** A DNS record in the format of the `resend` client. */
const publishedRecord = z.object({
  record: z.enum(['SPF', 'DKIM', 'Receiving']),
  name: z.string(),
  type: z.string(),
  ttl: z.string(),
  status: z.string(),
  value: z.string(),
  priority: z.number().int().optional(),
});

const recommendation = z.object({ name: z.string(), value: z.string(), description: z.string() });
const transportRecord = recommendation.extend({
  isSeen: z.boolean().meta({ description: 'Whether the record was found at the last check.' }),
});
const transportSecurity = z
  .object({
    mode: z
      .enum(MTA_STS_MODES)
      .meta({ description: '`testing`: senders report TLS failures. `enforce`: senders do not deliver without TLS.' }),
    policyHost: z.string().meta({ description: 'The name that must point to this gateway over HTTPS.' }),
    policyUrl: z.string(),
    mtaSts: transportRecord,
    tlsReports: transportRecord,
  })
  .meta({ description: 'TXT records that make senders use TLS (RFC 8461) and report failures (RFC 8460).' });

const verificationCheck = z.object({
  dnsRecords: z.array(
    z.object({
      type: z.string(),
      name: z.string(),
      value: z.string(),
      isVerified: z.boolean(),
      status: z.string(),
      lastChecked: instant,
      error: z.string().optional(),
    }),
  ),
  sesStatus: z.string(),
  providerStatus: z.string(),
  dkimStatus: z.string(),
  dkimVerified: z.boolean(),
  dkimTokens: z.array(z.string()),
  mailFromDomain: z.string(),
  mailFromStatus: z.string(),
  mailFromVerified: z.boolean(),
  isFullyVerified: z
    .boolean()
    .meta({ description: 'Whether the domain is verified and all required records were found.' }),
  lastChecked: instant,
  error: z
    .string()
    .optional()
    .meta({ description: 'What DNS did not return at the last check; those results are from earlier.' }),
});

/** A domain with the fields of all clients. */
export const domainBody = z
  .object({
    object: z.literal('domain'),
    id: z.string(),
    domain: z.string(),
    name: z.string(),
    status: domainStatus,
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
    created_at: instant,
    updatedAt: instant,
    userId: z.string(),
    region: z
      .literal(REGION)
      .meta({ description: 'Always the same value, because the `resend` client requires a region.' }),
    capabilities: z.object({ sending: z.string(), receiving: z.string() }),
    proofLostAt: instant.nullable().meta({ description: 'Since when the verification record has been missing.' }),
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
    records: z.array(publishedRecord),
    parentDomain: z.string().optional().meta({ description: 'For a subdomain of one of your domains.' }),
    inheritsFromParent: z.boolean(),
    dnsConflict: z
      .object({
        hasConflict: z.boolean(),
        conflictType: z.enum(['mx', 'cname', 'both']),
        message: z.string(),
        existingRecords: z.array(z.object({ type: z.string(), value: z.string() })),
      })
      .optional(),
    authRecommendations: z.object({ spf: recommendation.optional(), dmarc: recommendation.optional() }).optional(),
    transportSecurity: transportSecurity.optional(),
    verificationCheck: verificationCheck.optional(),
    message: z.string().optional(),
  })
  .meta({ id: 'Domain' });
export type DomainBody = z.infer<typeof domainBody>;

/** Converts a domain to the response. */
export function makeDomainBody(domain: domains.ListedDomain, workspaceId: string): DomainBody {
  const { check, checkedAt } = domain;
  const lastCheck = wireInstant(checkedAt);
  return {
    object: 'domain',
    id: domain.id,
    domain: domain.name,
    name: domain.name,
    status: domain.status,
    canReceiveEmails: domain.canReceive,
    hasMxRecords: check?.hasMx ?? false,
    domainProvider: check?.provider?.name ?? null,
    providerConfidence: check?.provider?.confidence ?? null,
    lastDnsCheck: lastCheck,
    lastProviderCheck: lastCheck,
    lastSesCheck: lastCheck,
    isCatchAllEnabled: domain.isCatchAllEnabled,
    catchAllEndpointId: domain.catchAllEndpoint?.id ?? null,
    mailFromDomain: makeMailFromDomain(domain.name),
    mailFromDomainStatus: readMailFromStatus(domain),
    mailFromDomainVerifiedAt: wireInstant(domain.mailFromVerifiedAt),
    receiveDmarcEmails: domain.receiveDmarcEmails,
    createdAt: wireInstant(domain.createdAt),
    created_at: wireInstant(domain.createdAt),
    updatedAt: wireInstant(domain.updatedAt),
    userId: workspaceId,
    region: REGION,
    capabilities: {
      sending: domain.status === 'verified' ? 'enabled' : 'disabled',
      receiving: domain.canReceive ? 'enabled' : 'disabled',
    },
    proofLostAt: wireInstant(domain.proofLostAt),
    stats: {
      totalEmailAddresses: domain.addressCount,
      activeEmailAddresses: domain.activeAddressCount,
      hasCatchAll: domain.isCatchAllEnabled,
    },
    catchAllEndpoint: domain.catchAllEndpoint,
    dnsRecords: makeDnsRecordsBody(domain),
    records: domain.dnsRecords.map((record) => toPublishedRecord(record, checkedAt !== null)),
    ...(domain.parent === null ? {} : { parentDomain: domain.parent.name }),
    inheritsFromParent: domain.parent !== null,
    ...(check?.conflict == null
      ? {}
      : {
          dnsConflict: {
            hasConflict: true,
            conflictType: check.conflict.type,
            message: conflictMessage(check.conflict.type),
            existingRecords: check.conflict.records,
          },
        }),
    ...(domain.reason === null ? {} : { message: domain.reason }),
  };
}

/** Converts one domain to the response, with its recent amount of mail. */
export function makeDomainDetails(domain: domains.DomainDetails, workspaceId: string): DomainBody {
  const body = makeDomainBody(domain, workspaceId);
  const { lastDay, lastWeek, lastMonth } = domain.emailCounts;
  const stats = { ...body.stats, emailsLast24h: lastDay, emailsLast7d: lastWeek, emailsLast30d: lastMonth };
  const { spf, dmarc } = domain.advice;
  const authRecommendations = { ...(spf === null ? {} : { spf }), ...(dmarc === null ? {} : { dmarc }) };
  const { mode, policyHost, policyUrl, mtaSts, tlsReports, isMtaStsSeen, isTlsReportSeen } = domain.transport;
  const transportSecurity = {
    mode,
    policyHost,
    policyUrl,
    mtaSts: { ...mtaSts, isSeen: isMtaStsSeen },
    tlsReports: { ...tlsReports, isSeen: isTlsReportSeen },
  };
  return { ...body, stats, transportSecurity, ...(spf === null && dmarc === null ? {} : { authRecommendations }) };
}

/** Converts the result of a DNS check. */
export function makeVerificationCheck(domain: domains.ListedDomain, now: Date): z.infer<typeof verificationCheck> {
  const { dnsRecords, check, status, isDkimSeen, isFullyVerified } = domain;
  const lastChecked = wireInstant(domain.checkedAt ?? now);
  const isMailFromSeen = domain.mailFromVerifiedAt !== null;
  return {
    dnsRecords: dnsRecords.map(({ type, name, value, isSeen, error }) => ({
      type,
      name,
      value,
      isVerified: isSeen,
      status: isSeen ? 'verified' : 'pending',
      lastChecked,
      ...(error === null ? {} : { error }),
    })),
    sesStatus: PROVIDER_STATUSES[status],
    providerStatus: PROVIDER_STATUSES[status],
    dkimStatus: isDkimSeen ? 'Success' : 'Pending',
    dkimVerified: isDkimSeen,
    dkimTokens: domain.dkimKeys.map(({ selector }) => selector),
    mailFromDomain: makeMailFromDomain(domain.name),
    mailFromStatus: readMailFromStatus(domain),
    mailFromVerified: isMailFromSeen,
    isFullyVerified,
    lastChecked,
    ...(check?.error == null ? {} : { error: check.error }),
  };
}

export const dnsRecordsBody = z.array(dnsRecord);

/** Converts the DNS records that the owner must publish. */
export function makeDnsRecordsBody(domain: domains.ListedDomain): z.infer<typeof dnsRecordsBody> {
  const lastChecked = wireInstant(domain.checkedAt);
  return domain.dnsRecords.map(({ id, type, name, value, description, isRequired, isSeen, error }) => ({
    id,
    domainId: domain.id,
    type,
    recordType: type,
    name,
    value,
    description,
    isRequired,
    isVerified: isSeen,
    lastChecked,
    createdAt: wireInstant(domain.createdAt),
    ...(error === null ? {} : { error }),
  }));
}

const PROVIDER_STATUSES = { pending: 'Pending', verified: 'Success', failed: 'Failed' } as const;

function readMailFromStatus(domain: domains.ListedDomain): string {
  if (domain.mailFromVerifiedAt !== null) return 'Success';
  return domain.checkedAt === null ? 'pending' : 'Pending';
}

/** The client has no kinds for the verification and DMARC records; its kind `SPF` allows all their types. */
const RECORD_WORDS = {
  receiving: 'Receiving',
  proof: 'SPF',
  spf: 'SPF',
  'mail-from-mx': 'SPF',
  'mail-from-spf': 'SPF',
  dkim: 'DKIM',
  dmarc: 'SPF',
} as const satisfies Record<ShownRecord['purpose'], string>;

function toPublishedRecord(record: ShownRecord, isChecked: boolean): z.infer<typeof publishedRecord> {
  const { type, name, value, purpose, isSeen } = record;
  const isMx = type === 'MX';
  return {
    record: RECORD_WORDS[purpose],
    name,
    type,
    ttl: 'Auto',
    status: isSeen ? 'verified' : isChecked ? 'pending' : 'not_started',
    value: isMx ? value.slice(value.indexOf(' ') + 1) : value,
    ...(isMx ? { priority: MX_PREFERENCE } : {}),
  };
}
