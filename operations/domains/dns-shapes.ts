import { z } from 'zod';
import { RECORD_PURPOSES } from '../../core/domains/dns-records.ts';
import { MTA_STS_MODES } from '../../core/domains/mta-sts.ts';
import { nameType, usually } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';

/** What a domain shows of its DNS, as types of GraphQL. */

const recordStatus = oneOf(['not_started', 'pending', 'verified'], {
  name: 'DnsRecordStatus',
  description: 'Whether a DNS record was found.',
  values: {
    not_started: 'Not checked yet.',
    pending: 'Checked, and the record is missing or different.',
    verified: 'The record was found.',
  },
});

export const dnsRecord = nameType(
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

export const dkimKey = nameType(
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

export const provider = nameType(
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
export const conflict = nameType(
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

export const transportSecurity = nameType(
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

export const authRecommendations = nameType(
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

export const mailFrom = nameType(
  z.object({
    name: z.string().meta({ description: 'A subdomain of the domain.' }),
    status: recordStatus.meta({
      description: 'Whether both records were found. Until then mail uses the domain itself.',
    }),
    verifiedAt: z.date().nullable().meta({ description: 'When both records were found. Null if they were not.' }),
  }),
  { type: 'DomainMailFrom', description: 'The custom MAIL FROM domain, which receives bounces (RFC 5321 §3.3).' },
);
