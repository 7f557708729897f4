import { type DkimKey, dkimRecordName, dkimRecordValue } from './dkim-key.ts';

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

/** What the records of a domain are made of. */
export interface PublishedDomain {
  id: string;
  name: string;
  /** newest first; none for a subdomain, whose mail is signed with its parent's key */
  dkimKeys: readonly Pick<DkimKey, 'selector' | 'publicKey'>[];
}

/**
 * The records of a domain: receiving MX, proof of ownership, SPF (RFC 7208), its keys (RFC 6376), MX and SPF of its MAIL FROM domain, and
 * a DMARC policy to begin with (RFC 9989). A domain without keys is under its parent's policy.
 */
export function dnsRecordsOf(domain: PublishedDomain, mailHostname: string): DnsRecord[] {
  const { name, dkimKeys } = domain;
  const mx = `${MX_PREFERENCE} ${mailHostname}`;
  const spf = `v=spf1 a:${mailHostname} ~all`;
  const mailFrom = mailFromDomainOf(name);
  return [
    { type: 'MX', name, value: mx, description: 'Receives mail for the domain', isRequired: true },
    {
      type: 'TXT',
      name: `_postroom.${name}`,
      value: `postroom-verification=${domain.id}`,
      description: 'Proves that the domain is yours',
      isRequired: true,
    },
    txt(name, spf, 'Lets this service send for the domain'),
    { type: 'MX', name: mailFrom, value: mx, description: 'Receives bounces of mail that was sent', isRequired: false },
    txt(mailFrom, spf, 'Lets bounce addresses pass SPF'),
    ...dkimKeys.map(({ selector, publicKey }) =>
      txt(
        dkimRecordName(selector, name),
        dkimRecordValue(publicKey),
        'Lets receivers check the DKIM signature of mail',
      ),
    ),
    ...(dkimKeys.length === 0
      ? []
      : [txt(`_dmarc.${name}`, DMARC_POLICY, 'Tells receivers that mail of the domain can be checked (DMARC)')]),
  ];
}

/**
 * Whether SPF records of a name let the host send (RFC 7208): there is one record only, and before any `all` it has `a:` with the host,
 * or `mx`, where the name's MX is the host. What else may cover it (networks, includes) is not followed: this is what we ask for.
 */
export function isCoveredBySpf(txtRecords: readonly string[], mailHostname: string): boolean {
  const records = txtRecords.filter((text) => /^v=spf1(?: |$)/i.test(text));
  const [record] = records;
  if (record === undefined || records.length > 1) return false;
  const terms = record.toLowerCase().split(/ +/).slice(1);
  const end = terms.findIndex((term) => /^[+~?-]?all$/.test(term));
  const reached = terms.slice(0, end === -1 ? undefined : end);
  return reached.some((term) => /^\+?mx$/.test(term) || term.replace(/^\+/, '') === `a:${mailHostname.toLowerCase()}`);
}

/** Whether mail for a name goes to the host: it is among the most preferred MX (RFC 5321 §5.1). */
export function isMxOf(records: readonly { exchange: string; priority: number }[], mailHostname: string): boolean {
  const best = Math.min(...records.map(({ priority }) => priority));
  return records.some(
    ({ exchange, priority }) =>
      priority === best && exchange.replace(/\.$/, '').toLowerCase() === mailHostname.toLowerCase(),
  );
}

/** Asks receivers for nothing yet, so that nothing is lost while a domain is being set up. */
const DMARC_POLICY = 'v=DMARC1; p=none';

function txt(name: string, value: string, description: string): DnsRecord {
  return { type: 'TXT', name, value, description, isRequired: false };
}
