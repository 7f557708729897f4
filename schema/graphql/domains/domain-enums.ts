import { builder } from '../builder.ts';

export const DomainStatus = builder.enumType('DomainStatus', {
  description: 'Verification status of a domain.',
  values: {
    PENDING: { value: 'pending', description: 'Not verified yet. Postroom checks the DNS record automatically.' },
    VERIFIED: { value: 'verified', description: 'Verified: you can send from the domain and create addresses on it.' },
    FAILED: {
      value: 'failed',
      description: 'The DNS record was not found in time, or another account verified the domain.',
    },
  } as const,
});

export const DnsRecordType = builder.enumType('DnsRecordType', {
  description: 'Type of a DNS record.',
  values: {
    MX: { value: 'MX', description: 'Where mail for the domain goes (RFC 5321 §5).' },
    TXT: { value: 'TXT', description: 'Text about the name.' },
  } as const,
});

export const DnsRecordPurpose = builder.enumType('DnsRecordPurpose', {
  description: 'Purpose of a DNS record.',
  values: {
    RECEIVING: { value: 'receiving', description: 'Receives mail for the domain.' },
    PROOF: { value: 'proof', description: 'Proves that the domain is yours.' },
    SPF: { value: 'spf', description: 'Allows this server to send mail for the domain (RFC 7208).' },
    MAIL_FROM_MX: { value: 'mail-from-mx', description: 'Receives bounces of sent mail.' },
    MAIL_FROM_SPF: {
      value: 'mail-from-spf',
      description: 'Allows this server to send from the MAIL FROM domain.',
    },
    DKIM: { value: 'dkim', description: 'Publishes a DKIM key, which verifies signatures (RFC 6376).' },
    DMARC: { value: 'dmarc', description: 'Tells receivers what to do with mail that fails DMARC (RFC 9989).' },
  } as const,
});

export const DnsRecordStatus = builder.enumType('DnsRecordStatus', {
  description: 'Whether a DNS record was found.',
  values: {
    NOT_STARTED: { value: 'not_started', description: 'Not checked yet.' },
    PENDING: { value: 'pending', description: 'Checked, and the record is missing or different.' },
    VERIFIED: { value: 'verified', description: 'The record was found.' },
  } as const,
});

export const DkimKeyState = builder.enumType('DkimKeyState', {
  description: 'State of a DKIM key.',
  values: {
    ACTIVE: { value: 'active', description: 'Signs mail.' },
    WAITING: { value: 'waiting', description: 'Signs mail as soon as its record is found.' },
    RETIRED: {
      value: 'retired',
      description: 'Replaced within the last 7 days. Its record is still needed for mail in transit.',
    },
  } as const,
});

export const DnsProviderConfidence = builder.enumType('DnsProviderConfidence', {
  description: 'Confidence in the detected DNS provider.',
  values: {
    HIGH: { value: 'high', description: 'All name servers belong to the provider.' },
    MEDIUM: { value: 'medium', description: 'Some name servers belong to the provider.' },
    LOW: { value: 'low', description: 'The name servers belong to no known provider.' },
  } as const,
});

export const DnsConflictType = builder.enumType('DnsConflictType', {
  description: 'What prevents mail from arriving here.',
  values: {
    MX: { value: 'mx', description: 'MX records of other servers.' },
    CNAME: { value: 'cname', description: 'The name is a CNAME, which cannot have other records.' },
    BOTH: { value: 'both', description: 'Both of these.' },
  } as const,
});
