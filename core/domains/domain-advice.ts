import type { DomainCheck } from './domain-check.ts';

/** An optional record that improves deliverability. */
interface Recommendation {
  name: string;
  value: string;
  description: string;
}

export interface AuthAdvice {
  /** null: SPF authorizes us, or DNS has not been checked yet */
  spf: Recommendation | null;
  /** null: a DMARC policy exists, DNS has not been checked yet, or the parent domain's policy applies */
  dmarc: Recommendation | null;
}

/** A sending domain. */
export interface AdvisedDomain {
  name: string;
  /** whether the parent domain's policy applies */
  isInherited: boolean;
  /** whether its mail arrives here, and so reports do */
  canReceive: boolean;
  /** whether its SPF record authorizes us */
  isSpfSeen: boolean;
}

/** Returns SPF and DMARC records to publish where none is sufficient (RFC 7208, RFC 9989). */
export function toAuthAdvice(domain: AdvisedDomain, check: DomainCheck | null, mailHostname: string): AuthAdvice {
  if (check === null) return { spf: null, dmarc: null };
  const { name, isInherited, canReceive, isSpfSeen } = domain;
  return {
    spf: isSpfSeen
      ? null
      : {
          name,
          value: spfWith(check.spf, mailHostname),
          description:
            check.spf === null
              ? 'Lets this service send mail for the domain (SPF)'
              : 'Replaces the current SPF record: lets this service send mail for the domain too',
        },
    dmarc:
      check.hasDmarc || isInherited
        ? null
        : {
            name: `_dmarc.${name}`,
            // Reports to an address that receives no mail would bounce.
            value: canReceive ? `v=DMARC1; p=none; rua=mailto:dmarc@${name}` : 'v=DMARC1; p=none',
            description: 'Tells receivers that mail of the domain can be verified, and where to send reports (DMARC)',
          },
  };
}

/** Explains to the domain's owner what a conflicting record does. */
export function conflictMessage(type: NonNullable<DomainCheck['conflict']>['type']): string {
  const mx =
    'Mail for this domain goes to another server. It arrives here once the MX records of other servers are removed.';
  const cname = 'The domain is an alias (CNAME). A CNAME excludes all other records; remove it to receive mail here.';
  switch (type) {
    case 'mx':
      return mx;
    case 'cname':
      return cname;
    case 'both':
      return `${mx} ${cname}`;
  }
}

/** Returns the SPF record with our host before its last mechanism. */
function spfWith(record: string | null, mailHostname: string): string {
  if (record === null) return `v=spf1 a:${mailHostname} ~all`;
  const terms = record.trim().split(/ +/);
  const end = terms.findIndex((term) => /^(?:[+~?-]?all|redirect=.*)$/i.test(term));
  return terms.toSpliced(end === -1 ? terms.length : end, 0, `a:${mailHostname}`).join(' ');
}
