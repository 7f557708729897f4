import { type DkimKey, dkimRecordName, dkimRecordValue } from './dkim-key.ts';

/** What a record is for: what it is looked for by, and how it is told. */
export type RecordPurpose = 'receiving' | 'proof' | 'spf' | 'mail-from-mx' | 'mail-from-spf' | 'dkim' | 'dmarc';

/** A record that the owner of a domain is asked to publish. */
export interface DnsRecord {
  purpose: RecordPurpose;
  type: 'MX' | 'TXT';
  name: string;
  value: string;
  description: string;
  isRequired: boolean;
}

/** A key of a domain: one that signs, one that waits until its record is seen, or one that was replaced lately. */
export interface PublishedKey extends Pick<DkimKey, 'selector' | 'publicKey'> {
  state: 'active' | 'waiting' | 'retired';
}

/** The label in front of a domain from which its bounces are sent (MAIL FROM). */
export const MAIL_FROM_LABEL = 'mail';
/** Of MX records (RFC 5321 §5.1); any number would do, there is only one. */
export const MX_PREFERENCE = 10;
/** How long the record of a replaced key is to stay, for mail that was signed with it; days. */
export const RETIRED_KEY_DAYS = 7;

/** The domain from which bounces of mail of this one are sent. */
export function mailFromDomainOf(domain: string): string {
  return `${MAIL_FROM_LABEL}.${domain}`;
}

/** Where ownership of a domain is proven. */
export function proofNameOf(domain: string): string {
  return `_postroom.${domain}`;
}

/** What the records of a domain are made of. */
export interface PublishedDomain {
  id: string;
  name: string;
  /** whether it was verified by a domain above it, so that it needs no proof of its own */
  isInherited: boolean;
  /** newest first; none for a subdomain, whose mail is signed with its parent's key */
  dkimKeys: readonly PublishedKey[];
}

/**
 * The records of a domain: receiving MX, proof of ownership, SPF (RFC 7208), MX and SPF of its MAIL FROM domain, its keys (RFC 6376), and
 * a DMARC policy to begin with (RFC 9989). A domain without keys is under its parent's policy.
 */
export function dnsRecordsOf(domain: PublishedDomain, mailHostname: string): DnsRecord[] {
  const { id, name, isInherited, dkimKeys } = domain;
  const mx = `${MX_PREFERENCE} ${mailHostname}`;
  const spf = `v=spf1 a:${mailHostname} ~all`;
  const mailFrom = mailFromDomainOf(name);
  const mxRecord = { type: 'MX', value: mx } as const;
  return [
    { ...mxRecord, purpose: 'receiving', name, description: 'Receives mail for the domain', isRequired: true },
    ...(isInherited ? [] : [proofOf(id, name)]),
    txt('spf', name, spf, 'Lets this service send for the domain'),
    {
      ...mxRecord,
      purpose: 'mail-from-mx',
      name: mailFrom,
      description: 'Receives bounces of mail that was sent',
      isRequired: false,
    },
    txt('mail-from-spf', mailFrom, spf, 'Lets bounce addresses pass SPF'),
    ...dkimKeys.map(({ selector, publicKey, state }) =>
      txt('dkim', dkimRecordName(selector, name), dkimRecordValue(publicKey), DKIM_DESCRIPTIONS[state]),
    ),
    ...(dkimKeys.length === 0
      ? []
      : [
          txt(
            'dmarc',
            `_dmarc.${name}`,
            DMARC_POLICY,
            'Tells receivers that mail of the domain can be checked (DMARC)',
          ),
        ]),
  ];
}

/** Whether a TXT record is an SPF record (RFC 7208 §4.5). */
export function isSpf(text: string): boolean {
  return /^v=spf1(?: |$)/i.test(text);
}

/**
 * Whether SPF records of a name let the host send (RFC 7208): there is one record only, and before any `all` it has `a:` with the host,
 * or `mx`, where the name's MX is the host. What else may cover it (networks, includes) is not followed: this is what we ask for.
 */
export function isCoveredBySpf(txtRecords: readonly string[], mailHostname: string): boolean {
  const records = txtRecords.filter(isSpf);
  const [record] = records;
  if (record === undefined || records.length > 1) return false;
  const terms = record.toLowerCase().split(/ +/).slice(1);
  const end = terms.findIndex((term) => /^[+~?-]?all$/.test(term));
  const reached = terms.slice(0, end === -1 ? undefined : end);
  return reached.some((term) => /^\+?mx$/.test(term) || term.replace(/^\+/, '') === `a:${mailHostname.toLowerCase()}`);
}

/** Whether mail for a name goes to the host: it is among the most preferred MX (RFC 5321 §5.1). */
export function isMxOf(records: readonly MxRecord[], mailHostname: string): boolean {
  return mostPreferred(records).some((record) => isOfHost(record, mailHostname));
}

/** As node:dns gives them. */
export interface MxRecord {
  exchange: string;
  priority: number;
}

/** The records to which mail goes first (RFC 5321 §5.1). */
export function mostPreferred(records: readonly MxRecord[]): MxRecord[] {
  const best = Math.min(...records.map(({ priority }) => priority));
  return records.filter(({ priority }) => priority === best);
}

/** Whether an MX names the host. */
export function isOfHost({ exchange }: MxRecord, host: string): boolean {
  return exchange.replace(/\.$/, '').toLowerCase() === host.toLowerCase();
}

/** Asks receivers for nothing yet, so that nothing is lost while a domain is being set up. */
const DMARC_POLICY = 'v=DMARC1; p=none';

const DKIM_DESCRIPTIONS: Record<PublishedKey['state'], string> = {
  active: 'Lets receivers check the DKIM signature of mail',
  waiting: 'The next DKIM key: mail is signed with it as soon as this record is seen',
  retired: `The former DKIM key: keep this record until it is no longer listed, ${RETIRED_KEY_DAYS} days after the change`,
};

function proofOf(id: string, name: string): DnsRecord {
  return {
    purpose: 'proof',
    type: 'TXT',
    name: proofNameOf(name),
    value: `postroom-verification=${id}`,
    description: 'Proves that the domain is yours',
    isRequired: true,
  };
}

function txt(purpose: RecordPurpose, name: string, value: string, description: string): DnsRecord {
  return { purpose, type: 'TXT', name, value, description, isRequired: false };
}
