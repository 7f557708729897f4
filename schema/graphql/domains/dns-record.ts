import { MX_PREFERENCE, mailFromDomainOf } from '../../../core/domains/dns-records.ts';
import { conflictMessage, type Recommendation } from '../../../core/domains/domain-advice.ts';
import type { Domain } from '../../../operations/domains/domains.ts';
import { builder } from '../builder.ts';
import {
  DkimKeyState,
  DnsConflictType,
  DnsProviderConfidence,
  DnsRecordPurpose,
  DnsRecordStatus,
  DnsRecordType,
} from './domain-enums.ts';

/** A record with the domain that it is asked of. */
export interface RecordOf {
  domain: Domain;
  record: Domain['dnsRecords'][number];
}

export const DnsRecord = builder.objectRef<RecordOf>('DnsRecord').implement({
  description: 'A DNS record that the owner of a domain is asked to publish, and whether it is seen.',
  isOfDomain: true,
  fields: (t) => ({
    id: t.id({ description: 'The same as long as the record is asked for.', resolve: ({ record }) => record.id }),
    type: t.field({ type: DnsRecordType, description: 'Its type.', resolve: ({ record }) => record.type }),
    purpose: t.field({
      type: DnsRecordPurpose,
      description: 'What it is good for.',
      resolve: ({ record }) => record.purpose,
    }),
    name: t.string({ description: 'In full, without a dot at the end.', resolve: ({ record }) => record.name }),
    value: t.string({
      description: 'As it stands in a zone file: of an MX record the preference and the host.',
      resolve: ({ record }) => record.value,
    }),
    priority: t.int({
      nullable: true,
      description: 'The preference of an MX record, where a form asks for it apart; null: it is of another type.',
      resolve: ({ record }) => (record.type === 'MX' ? MX_PREFERENCE : null),
    }),
    exchange: t.string({
      nullable: true,
      description: 'The host of an MX record, where a form asks for it apart; null: it is of another type.',
      resolve: ({ record }) => (record.type === 'MX' ? record.value.slice(record.value.indexOf(' ') + 1) : null),
    }),
    description: t.string({
      description: 'For people: what it is good for.',
      resolve: ({ record }) => record.description,
    }),
    isRequired: t.boolean({
      description: 'Whether the domain does not work without it: no proof, or no mail comes.',
      resolve: ({ record }) => record.isRequired,
    }),
    status: t.field({
      type: DnsRecordStatus,
      description: 'Whether it was seen when DNS was last asked.',
      resolve: ({ domain, record }) =>
        record.isSeen ? 'verified' : domain.checkedAt === null ? 'not_started' : 'pending',
    }),
    error: t.string({
      nullable: true,
      description: 'Why it is not seen, or that DNS did not answer; null: nothing to say, or DNS was not asked yet.',
      resolve: ({ record }) => record.error,
    }),
    lastCheckedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When DNS was last asked; null: it was not asked yet.',
      resolve: ({ domain }) => domain.checkedAt,
    }),
  }),
});

/** A key with the domain whose mail it signs. */
export interface KeyOf {
  domain: Domain;
  key: Domain['dkimKeys'][number];
}

export const DkimKey = builder.objectRef<KeyOf>('DkimKey').implement({
  description: 'A key that mail of a domain is signed with (RFC 6376). The private half never leaves the service.',
  isOfDomain: true,
  fields: (t) => ({
    selector: t.string({ description: 'The `s=` of its signatures.', resolve: ({ key }) => key.selector }),
    publicKey: t.string({
      description: 'RSA, DER in base64: the `p=` of its record.',
      resolve: ({ key }) => key.publicKey,
    }),
    state: t.field({ type: DkimKeyState, description: 'What it is used for.', resolve: ({ key }) => key.state }),
    record: t.field({
      type: DnsRecord,
      nullable: true,
      description: 'The record that publishes it; null: it is not asked for.',
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
  description: 'The name that bounces of mail of the domain go to (the domain of MAIL FROM, RFC 5321 §3.3).',
  isOfDomain: true,
  fields: (t) => ({
    name: t.string({ description: 'A name under the domain.', resolve: ({ name }) => mailFromDomainOf(name) }),
    status: t.field({
      type: DnsRecordStatus,
      description: 'Whether both of its records are seen. Until then the domain itself serves.',
      resolve: ({ mailFromVerifiedAt, checkedAt }) =>
        mailFromVerifiedAt !== null ? 'verified' : checkedAt === null ? 'not_started' : 'pending',
    }),
    verifiedAt: t.expose('mailFromVerifiedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when they are seen; null: they are not.',
    }),
  }),
});

export const DnsProvider = builder
  .objectRef<NonNullable<NonNullable<Domain['check']>['provider']>>('DnsProvider')
  .implement({
    description: 'Who serves the DNS of a domain, as its name servers tell.',
    isOfDomain: true,
    fields: (t) => ({
      name: t.exposeString('name', { description: 'For people.' }),
      confidence: t.expose('confidence', { type: DnsProviderConfidence, description: 'How sure that is.' }),
    }),
  });

const FoundRecord = builder.objectRef<{ type: string; value: string }>('FoundDnsRecord').implement({
  description: 'A DNS record that is there.',
  isOfDomain: true,
  fields: (t) => ({
    type: t.exposeString('type', { description: 'MX or CNAME.' }),
    value: t.exposeString('value', { description: 'As it stands in a zone file.' }),
  }),
});

export const DnsConflict = builder
  .objectRef<NonNullable<NonNullable<Domain['check']>['conflict']>>('DnsConflict')
  .implement({
    description: 'Records of others at the name of a domain that keep its mail from coming here.',
    isOfDomain: true,
    fields: (t) => ({
      type: t.expose('type', { type: DnsConflictType, description: 'What stands in the way.' }),
      message: t.string({
        description: 'For people: what it does, and what to do.',
        resolve: ({ type }) => conflictMessage(type),
      }),
      records: t.field({
        type: [FoundRecord],
        description: 'The records, at most 10.',
        complexity: { field: 1, multiplier: 3 },
        resolve: ({ records }) => records,
      }),
    }),
  });

const DnsRecommendation = builder.objectRef<Recommendation>('DnsRecommendation').implement({
  description: 'A TXT record that would help the mail of a domain, though the domain works without it.',
  isOfDomain: true,
  fields: (t) => ({
    name: t.exposeString('name', { description: 'In full, without a dot at the end.' }),
    value: t.exposeString('value', {
      description: 'The text to publish, in place of the one of its kind that is there.',
    }),
    description: t.exposeString('description', { description: 'For people: what it is good for.' }),
  }),
});

const TransportRecord = builder.objectRef<Recommendation & { isSeen: boolean }>('TransportSecurityRecord').implement({
  description: 'A TXT record about TLS, and whether it is seen.',
  isOfDomain: true,
  fields: (t) => ({
    name: t.exposeString('name', { description: 'In full, without a dot at the end.' }),
    value: t.exposeString('value', { description: 'The text to publish.' }),
    description: t.exposeString('description', { description: 'For people: what it is good for.' }),
    isSeen: t.exposeBoolean('isSeen', { description: 'Whether DNS had it when it was last asked.' }),
  }),
});

const MtaStsModeEnum = builder.enumType('MtaStsMode', {
  description: 'What senders are to do when TLS fails (RFC 8461 §5).',
  values: {
    TESTING: { value: 'testing', description: 'Deliver, and report.' },
    ENFORCE: { value: 'enforce', description: 'Not deliver.' },
  } as const,
});

export const TransportSecurity = builder.objectRef<Domain['transport']>('TransportSecurity').implement({
  description:
    'What makes senders insist on TLS when they bring mail for a domain (RFC 8461), and report on it (RFC 8460).',
  isOfDomain: true,
  fields: (t) => ({
    mode: t.expose('mode', { type: MtaStsModeEnum, description: 'What the policy says.' }),
    policyHost: t.exposeString('policyHost', { description: 'The name that has to lead to this gateway by HTTPS.' }),
    policyUrl: t.exposeString('policyUrl', { description: 'Where senders read the policy.' }),
    mtaSts: t.field({
      type: TransportRecord,
      description: 'Says that there is a policy.',
      resolve: ({ mtaSts, isMtaStsSeen }) => ({ ...mtaSts, isSeen: isMtaStsSeen }),
    }),
    tlsReports: t.field({
      type: TransportRecord,
      description: 'Says where reports go.',
      resolve: ({ tlsReports, isTlsReportSeen }) => ({ ...tlsReports, isSeen: isTlsReportSeen }),
    }),
  }),
});

export const AuthRecommendations = builder.objectRef<Domain['advice']>('AuthRecommendations').implement({
  description: 'What its owner may publish so that receivers trust the mail of a domain.',
  isOfDomain: true,
  fields: (t) => ({
    spf: t.expose('spf', {
      type: DnsRecommendation,
      nullable: true,
      description: 'Null: SPF lets this service send already, or DNS was not asked yet.',
    }),
    dmarc: t.expose('dmarc', {
      type: DnsRecommendation,
      nullable: true,
      description: 'Null: there is a policy, be it that of the domain above, or DNS was not asked yet.',
    }),
  }),
});
