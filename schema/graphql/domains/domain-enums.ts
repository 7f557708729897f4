import { builder } from '../builder.ts';

export const DomainStatus = builder.enumType('DomainStatus', {
  description: 'How far a domain is proven to be yours.',
  values: {
    PENDING: { value: 'pending', description: 'The proof was not seen yet; it is looked for by and by.' },
    VERIFIED: { value: 'verified', description: 'Proven: mail can be sent from it, and addresses made on it.' },
    FAILED: { value: 'failed', description: 'No proof was seen in time, or another account proved that it is theirs.' },
  } as const,
});

export const DnsRecordType = builder.enumType('DnsRecordType', {
  description: 'Types of DNS records that a domain is asked for.',
  values: {
    MX: { value: 'MX', description: 'Where mail for the name goes (RFC 5321 §5).' },
    TXT: { value: 'TXT', description: 'Text that says something of the name.' },
  } as const,
});

export const DnsRecordPurpose = builder.enumType('DnsRecordPurpose', {
  description: 'What a DNS record is good for.',
  values: {
    RECEIVING: { value: 'receiving', description: 'Mail for the domain comes here.' },
    PROOF: { value: 'proof', description: 'Proves that the domain is yours.' },
    SPF: { value: 'spf', description: 'Lets this service send mail of the domain (RFC 7208).' },
    MAIL_FROM_MX: { value: 'mail-from-mx', description: 'Bounces of mail that was sent come here.' },
    MAIL_FROM_SPF: {
      value: 'mail-from-spf',
      description: 'Lets this service send from the address that bounces go to.',
    },
    DKIM: { value: 'dkim', description: 'A key by which signatures of mail are checked (RFC 6376).' },
    DMARC: { value: 'dmarc', description: 'What receivers shall do with mail that fails (RFC 9989).' },
  } as const,
});

export const DnsRecordStatus = builder.enumType('DnsRecordStatus', {
  description: 'Whether what was asked for is seen in DNS.',
  values: {
    NOT_STARTED: { value: 'not_started', description: 'DNS was not asked yet.' },
    PENDING: { value: 'pending', description: 'DNS was asked, and it is not there yet, or something else is.' },
    VERIFIED: { value: 'verified', description: 'It is there.' },
  } as const,
});

export const DkimKeyState = builder.enumType('DkimKeyState', {
  description: 'What a DKIM key is used for.',
  values: {
    ACTIVE: { value: 'active', description: 'Mail is signed with it.' },
    WAITING: { value: 'waiting', description: 'Mail is signed with it as soon as its record is seen.' },
    RETIRED: {
      value: 'retired',
      description: 'Replaced within the last 7 days: its record is needed for mail that is still on its way.',
    },
  } as const,
});

export const DnsProviderConfidence = builder.enumType('DnsProviderConfidence', {
  description: 'How sure it is who serves the DNS of a domain.',
  values: {
    HIGH: { value: 'high', description: 'All name servers are of the provider.' },
    MEDIUM: { value: 'medium', description: 'Some are.' },
    LOW: { value: 'low', description: 'The name servers are of nobody we know.' },
  } as const,
});

export const DnsConflictType = builder.enumType('DnsConflictType', {
  description: 'What keeps mail from coming here.',
  values: {
    MX: { value: 'mx', description: 'MX records of other servers.' },
    CNAME: { value: 'cname', description: 'The name is an alias, beside which no other record may stand.' },
    BOTH: { value: 'both', description: 'Both.' },
  } as const,
});
