import type { DomainCheck } from './domain-check.ts';

/** A record that would help the mail of a domain, though the domain works without it. */
export interface Recommendation {
  name: string;
  value: string;
  description: string;
}

export interface AuthAdvice {
  /** null: SPF lets us send, or DNS was not asked yet */
  spf: Recommendation | null;
  /** null: there is a DMARC policy, or DNS was not asked yet; or the domain above it has one to give */
  dmarc: Recommendation | null;
}

/** What is asked about a domain that mail is sent from. */
export interface AdvisedDomain {
  name: string;
  /** under the policy of the domain above it */
  isInherited: boolean;
  /** whether its mail, and so reports on it, come here */
  canReceive: boolean;
  /** whether its SPF record lets us send */
  isSpfSeen: boolean;
}

/** SPF and DMARC records to publish where there are none that serve (RFC 7208, RFC 9989). */
export function authAdviceOf(domain: AdvisedDomain, check: DomainCheck | null, mailHostname: string): AuthAdvice {
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
              : 'In place of the SPF record that is there: lets this service send mail for the domain, too',
        },
    dmarc:
      check.hasDmarc || isInherited
        ? null
        : {
            name: `_dmarc.${name}`,
            // Reports to an address where nobody takes them would bounce.
            value: canReceive ? `v=DMARC1; p=none; rua=mailto:dmarc@${name}` : 'v=DMARC1; p=none',
            description: 'Tells receivers that mail of the domain can be checked, and where to report (DMARC)',
          },
  };
}

/** What records of others at the name of a domain do, in words for its owner. */
export function conflictMessage(type: NonNullable<DomainCheck['conflict']>['type']): string {
  const mx = 'Mail for this domain goes to another server. It comes here once the MX records of others are removed.';
  const cname = 'The domain is an alias (CNAME). No other record may stand beside it; remove it to receive mail here.';
  switch (type) {
    case 'mx':
      return mx;
    case 'cname':
      return cname;
    case 'both':
      return `${mx} ${cname}`;
  }
}

/** The SPF record with our host before the term that ends it. */
function spfWith(record: string | null, mailHostname: string): string {
  if (record === null) return `v=spf1 a:${mailHostname} ~all`;
  const terms = record.trim().split(/ +/);
  const end = terms.findIndex((term) => /^(?:[+~?-]?all|redirect=.*)$/i.test(term));
  return terms.toSpliced(end === -1 ? terms.length : end, 0, `a:${mailHostname}`).join(' ');
}
