/** A record that the owner of a domain is asked to publish. */
export interface DnsRecord {
  type: 'MX' | 'TXT';
  name: string;
  value: string;
  description: string;
  isRequired: boolean;
}

/** The label in front of a domain from which its bounces are sent (MAIL FROM). */
export const MAIL_FROM_LABEL = 'mail';
/** Of MX records (RFC 5321 §5.1); any number would do, there is only one. */
const MX_PREFERENCE = 10;

/** The domain from which bounces of mail of this one are sent. */
export function mailFromDomainOf(domain: string): string {
  return `${MAIL_FROM_LABEL}.${domain}`;
}

/** The records of a domain: receiving MX, proof of ownership, SPF (RFC 7208), and MX and SPF of its MAIL FROM domain. */
export function dnsRecordsOf(domain: { name: string; id: string }, mailHostname: string): DnsRecord[] {
  const mx = `${MX_PREFERENCE} ${mailHostname}`;
  const spf = `v=spf1 a:${mailHostname} ~all`;
  const mailFrom = mailFromDomainOf(domain.name);
  return [
    { type: 'MX', name: domain.name, value: mx, description: 'Receives mail for the domain', isRequired: true },
    {
      type: 'TXT',
      name: `_postroom.${domain.name}`,
      value: `postroom-verification=${domain.id}`,
      description: 'Proves that the domain is yours',
      isRequired: true,
    },
    {
      type: 'TXT',
      name: domain.name,
      value: spf,
      description: 'Lets this service send for the domain',
      isRequired: false,
    },
    { type: 'MX', name: mailFrom, value: mx, description: 'Receives bounces of mail that was sent', isRequired: false },
    { type: 'TXT', name: mailFrom, value: spf, description: 'Lets bounce addresses pass SPF', isRequired: false },
  ];
}
