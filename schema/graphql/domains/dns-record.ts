import { MX_PREFERENCE, mailFromDomainOf, type RecordPurpose } from '../../../core/domains/dns-records.ts';
import { conflictMessage, type Recommendation } from '../../../core/domains/domain-advice.ts';
import type { MtaStsMode } from '../../../core/domains/mta-sts.ts';
import type { Domain } from '../../../operations/domains/domains.ts';
import { builder, enumValues } from '../builder.ts';

type Provider = NonNullable<NonNullable<Domain['check']>['provider']>;
type Conflict = NonNullable<NonNullable<Domain['check']>['conflict']>;

const DnsRecordType = builder.enumType('DnsRecordType', {
  description: 'Type of a DNS record.',
  values: enumValues<Domain['dnsRecords'][number]['type']>({
    MX: 'Where mail for the domain goes (RFC 5321 §5).',
    TXT: 'Text about the name.',
  }),
});

const DnsRecordPurpose = builder.enumType('DnsRecordPurpose', {
  description: 'Purpose of a DNS record.',
  values: enumValues<RecordPurpose>({
    receiving: 'Receives mail for the domain.',
    proof: 'Proves that the domain is yours.',
    spf: 'Allows this server to send mail for the domain (RFC 7208).',
    'mail-from-mx': 'Receives bounces of sent mail.',
    'mail-from-spf': 'Allows this server to send from the MAIL FROM domain.',
    dkim: 'Publishes a DKIM key, which verifies signatures (RFC 6376).',
    dmarc: 'Tells receivers what to do with mail that fails DMARC (RFC 9989).',
  }),
});

const DnsRecordStatus = builder.enumType('DnsRecordStatus', {
  description: 'Whether a DNS record was found.',
  values: enumValues({
    not_started: 'Not checked yet.',
    pending: 'Checked, and the record is missing or different.',
    verified: 'The record was found.',
  }),
});

const DkimKeyState = builder.enumType('DkimKeyState', {
  description: 'State of a DKIM key.',
  values: enumValues<Domain['dkimKeys'][number]['state']>({
    active: 'Signs mail.',
    waiting: 'Signs mail as soon as its record is found.',
    retired: 'Replaced within the last 7 days. Its record is still needed for mail in transit.',
  }),
});

const DnsProviderConfidence = builder.enumType('DnsProviderConfidence', {
  description: 'Confidence in the detected DNS provider.',
  values: enumValues<Provider['confidence']>({
    high: 'All name servers belong to the provider.',
    medium: 'Some name servers belong to the provider.',
    low: 'The name servers belong to no known provider.',
  }),
});

const DnsConflictType = builder.enumType('DnsConflictType', {
  description: 'What prevents mail from arriving here.',
  values: enumValues<Conflict['type']>({
    mx: 'MX records of other servers.',
    cname: 'The name is a CNAME, which cannot have other records.',
    both: 'Both of these.',
  }),
});

/** A record and its domain. */
export interface RecordOf {
  domain: Domain;
  record: Domain['dnsRecords'][number];
}

export const DnsRecord = builder.objectRef<RecordOf>('DnsRecord').implement({
  description: 'A DNS record to publish for a domain, and whether Postroom has found it.',
  isOfDomain: true,
  fields: (t) => ({
    id: t.id({ description: 'Stays the same as long as the record is needed.', resolve: ({ record }) => record.id }),
    type: t.field({ type: DnsRecordType, description: 'Type of the record.', resolve: ({ record }) => record.type }),
    purpose: t.field({
      type: DnsRecordPurpose,
      description: 'Purpose of the record.',
      resolve: ({ record }) => record.purpose,
    }),
    name: t.string({
      description: 'Fully qualified name, without the trailing dot.',
      resolve: ({ record }) => record.name,
    }),
    value: t.string({
      description: 'Value in zone file format. For an MX record, the preference and the host.',
      resolve: ({ record }) => record.value,
    }),
    priority: t.int({
      nullable: true,
      description: 'Preference of an MX record, for forms with a separate field. Null for other types.',
      resolve: ({ record }) => (record.type === 'MX' ? MX_PREFERENCE : null),
    }),
    exchange: t.string({
      nullable: true,
      description: 'Host of an MX record, for forms with a separate field. Null for other types.',
      resolve: ({ record }) => (record.type === 'MX' ? record.value.slice(record.value.indexOf(' ') + 1) : null),
    }),
    description: t.string({
      description: 'What the record does. Display text.',
      resolve: ({ record }) => record.description,
    }),
    isRequired: t.boolean({
      description: 'Whether the domain fails without the record: it cannot be verified or cannot receive mail.',
      resolve: ({ record }) => record.isRequired,
    }),
    status: t.field({
      type: DnsRecordStatus,
      description: 'Whether the record was found at the last check.',
      resolve: ({ domain, record }) =>
        record.isSeen ? 'verified' : domain.checkedAt === null ? 'not_started' : 'pending',
    }),
    error: t.string({
      nullable: true,
      description:
        'Why the record was not found, or that DNS did not respond. Null if there is nothing to report or no check was made yet.',
      resolve: ({ record }) => record.error,
    }),
    lastCheckedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When DNS was last checked. Null if never.',
      resolve: ({ domain }) => domain.checkedAt,
    }),
  }),
});

/** A key and the domain whose mail it signs. */
export interface KeyOf {
  domain: Domain;
  key: Domain['dkimKeys'][number];
}

export const DkimKey = builder.objectRef<KeyOf>('DkimKey').implement({
  description: 'A DKIM key of a domain (RFC 6376). The private key never leaves the server.',
  isOfDomain: true,
  fields: (t) => ({
    selector: t.string({ description: 'The DKIM selector (`s=`).', resolve: ({ key }) => key.selector }),
    publicKey: t.string({
      description: 'The RSA public key, DER in base64: the `p=` tag of the record.',
      resolve: ({ key }) => key.publicKey,
    }),
    state: t.field({ type: DkimKeyState, description: 'State of the key.', resolve: ({ key }) => key.state }),
    record: t.field({
      type: DnsRecord,
      nullable: true,
      description: 'The record that publishes the key. Null if it is no longer needed.',
      resolve: ({ domain, key }) => {
        const record = domain.dnsRecords.find(
          ({ purpose, name }) => purpose === 'dkim' && name.startsWith(`${key.selector}.`),
        );
        return record === undefined ? null : { domain, record };
      },
    }),
  }),
});

export const DomainMailFrom = builder.objectRef<Domain>('DomainMailFrom').implement({
  description: 'The custom MAIL FROM domain, which receives bounces (RFC 5321 §3.3).',
  isOfDomain: true,
  fields: (t) => ({
    name: t.string({ description: 'A subdomain of the domain.', resolve: ({ name }) => mailFromDomainOf(name) }),
    status: t.field({
      type: DnsRecordStatus,
      description: 'Whether both records were found. Until then mail uses the domain itself.',
      resolve: ({ mailFromVerifiedAt, checkedAt }) =>
        mailFromVerifiedAt !== null ? 'verified' : checkedAt === null ? 'not_started' : 'pending',
    }),
    verifiedAt: t.expose('mailFromVerifiedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When both records were found. Null if they were not.',
    }),
  }),
});

export const DnsProvider = builder.objectRef<Provider>('DnsProvider').implement({
  description: 'The DNS provider of a domain, derived from its name servers.',
  isOfDomain: true,
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Display name of the provider.' }),
    confidence: t.expose('confidence', { type: DnsProviderConfidence, description: 'Confidence of this result.' }),
  }),
});

const FoundRecord = builder.objectRef<{ type: string; value: string }>('FoundDnsRecord').implement({
  description: 'A DNS record found at the domain.',
  isOfDomain: true,
  fields: (t) => ({
    type: t.exposeString('type', { description: 'MX or CNAME.' }),
    value: t.exposeString('value', { description: 'Value in zone file format.' }),
  }),
});

export const DnsConflict = builder.objectRef<Conflict>('DnsConflict').implement({
  description: 'Existing DNS records that prevent the domain from receiving mail here.',
  isOfDomain: true,
  fields: (t) => ({
    type: t.expose('type', { type: DnsConflictType, description: 'The kind of conflict.' }),
    message: t.string({
      description: 'What the conflict causes and how to fix it. Display text.',
      resolve: ({ type }) => conflictMessage(type),
    }),
    records: t.field({
      type: [FoundRecord],
      description: 'The records, up to 10.',
      complexity: { field: 1, multiplier: 3 },
      resolve: ({ records }) => records,
    }),
  }),
});

const DnsRecommendation = builder.objectRef<Recommendation>('DnsRecommendation').implement({
  description: 'An optional TXT record that improves delivery of mail from the domain.',
  isOfDomain: true,
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Fully qualified name, without the trailing dot.' }),
    value: t.exposeString('value', {
      description: 'Text to publish. It replaces an existing record of the same kind.',
    }),
    description: t.exposeString('description', { description: 'What the record does. Display text.' }),
  }),
});

const TransportRecord = builder.objectRef<Recommendation & { isSeen: boolean }>('TransportSecurityRecord').implement({
  description: 'A TXT record for transport security, and whether it was found.',
  isOfDomain: true,
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Fully qualified name, without the trailing dot.' }),
    value: t.exposeString('value', { description: 'Text to publish.' }),
    description: t.exposeString('description', { description: 'What the record does. Display text.' }),
    isSeen: t.exposeBoolean('isSeen', { description: 'Whether the record was found at the last check.' }),
  }),
});

const MtaStsModeEnum = builder.enumType('MtaStsMode', {
  description: 'What senders should do if TLS fails (RFC 8461 §5).',
  values: enumValues<MtaStsMode>({
    testing: 'Deliver the mail and report the failure.',
    enforce: 'Do not deliver the mail.',
  }),
});

export const TransportSecurity = builder.objectRef<Domain['transport']>('TransportSecurity').implement({
  description: 'Settings that make senders use TLS for mail to a domain (RFC 8461) and report failures (RFC 8460).',
  isOfDomain: true,
  fields: (t) => ({
    mode: t.expose('mode', { type: MtaStsModeEnum, description: 'Mode of the policy.' }),
    policyHost: t.exposeString('policyHost', { description: 'The name that must point to this gateway over HTTPS.' }),
    policyUrl: t.exposeString('policyUrl', { description: 'URL of the policy.' }),
    mtaSts: t.field({
      type: TransportRecord,
      description: 'The record that announces the policy.',
      resolve: ({ mtaSts, isMtaStsSeen }) => ({ ...mtaSts, isSeen: isMtaStsSeen }),
    }),
    tlsReports: t.field({
      type: TransportRecord,
      description: 'The record that says where to send TLS reports.',
      resolve: ({ tlsReports, isTlsReportSeen }) => ({ ...tlsReports, isSeen: isTlsReportSeen }),
    }),
  }),
});

export const AuthRecommendations = builder.objectRef<Domain['advice']>('AuthRecommendations').implement({
  description: 'Optional records that make receivers trust mail from the domain.',
  isOfDomain: true,
  fields: (t) => ({
    spf: t.expose('spf', {
      type: DnsRecommendation,
      nullable: true,
      description: 'Suggested SPF record. Null if SPF already allows this server or DNS was not checked yet.',
    }),
    dmarc: t.expose('dmarc', {
      type: DnsRecommendation,
      nullable: true,
      description: 'Suggested DMARC record. Null if the domain or its parent has a policy, or DNS was not checked yet.',
    }),
  }),
});
