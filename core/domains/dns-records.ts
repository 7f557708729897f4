import { type DkimKey, dkimRecordName, dkimRecordValue } from './dkim-key.ts';

/** Purpose of a record; decides how it is checked and described. */
export const RECORD_PURPOSES = ['receiving', 'proof', 'spf', 'mail-from-mx', 'mail-from-spf', 'dkim', 'dmarc'] as const;
export type RecordPurpose = (typeof RECORD_PURPOSES)[number];

/** A record that the owner of a domain should publish. */
export interface DnsRecord {
  purpose: RecordPurpose;
  type: 'MX' | 'TXT';
  name: string;
  value: string;
  description: string;
  isRequired: boolean;
}

/** A DKIM key of a domain: active, waiting until its record is found, or recently retired. */
export interface PublishedKey extends Pick<DkimKey, 'selector' | 'publicKey'> {
  state: 'active' | 'waiting' | 'retired';
}

/** The label of a domain's MAIL FROM subdomain, which receives its bounces. */
export const MAIL_FROM_LABEL = 'mail';
/** Preference of MX records (RFC 5321 §5.1); the value does not matter, because there is only one. */
export const MX_PREFERENCE = 10;
/** How long the record of a retired key must stay, for mail already signed with it; days. */
export const RETIRED_KEY_DAYS = 7;

/** Returns the MAIL FROM domain, to which bounces of the domain's mail are sent. */
export function makeMailFromDomain(domain: string): string {
  return `${MAIL_FROM_LABEL}.${domain}`;
}

/** Returns the name of the record that proves ownership. */
export function makeProofName(domain: string): string {
  return `_postroom.${domain}`;
}

/** The inputs of a domain's records. */
export interface PublishedDomain {
  id: string;
  name: string;
  /** whether it was verified through a parent domain and needs no proof */
  isInherited: boolean;
  /** newest first; empty for a subdomain, whose mail is signed with its parent's key */
  dkimKeys: readonly PublishedKey[];
}

/**
 * Returns the records of a domain: receiving MX, proof of ownership, SPF (RFC 7208), MX and SPF of its MAIL FROM domain, DKIM keys (RFC
 * 6376), and an initial DMARC policy (RFC 9989). A domain without keys has its parent's DMARC policy.
 */
export function listDnsRecords(domain: PublishedDomain, mailHostname: string): DnsRecord[] {
  const { id, name, isInherited, dkimKeys } = domain;
  const mx = `${MX_PREFERENCE} ${mailHostname}`;
  const spf = `v=spf1 a:${mailHostname} ~all`;
  const mailFrom = makeMailFromDomain(name);
  const mxRecord = { type: 'MX', value: mx } as const;
  return [
    { ...mxRecord, purpose: 'receiving', name, description: 'Receives mail for the domain', isRequired: true },
    ...(isInherited ? [] : [toProof(id, name)]),
    txt('spf', name, spf, 'Lets this service send for the domain'),
    {
      ...mxRecord,
      purpose: 'mail-from-mx',
      name: mailFrom,
      description: 'Receives bounces of sent mail',
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
            'Tells receivers that mail of the domain can be verified (DMARC)',
          ),
        ]),
  ];
}

/** Returns whether a TXT record is an SPF record (RFC 7208 §4.5). */
export function isSpf(text: string): boolean {
  return /^v=spf1(?: |$)/i.test(text);
}

/**
 * Returns whether the SPF records of a name authorize the host (RFC 7208): there is exactly one, and before any `all` it has `a:` with
 * the host, or `mx` where the name's MX is the host. Other mechanisms (networks, includes) are not evaluated, because these are what we
 * ask users to publish.
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

/** Returns whether mail for a name goes to the host: it is among the most preferred MX (RFC 5321 §5.1). */
export function prefersMailHost(records: readonly MxRecord[], mailHostname: string): boolean {
  return mostPreferred(records).some((record) => isOfHost(record, mailHostname));
}

/** An MX record as node:dns returns it. */
export interface MxRecord {
  exchange: string;
  priority: number;
}

/** Returns the most preferred records (RFC 5321 §5.1). */
export function mostPreferred(records: readonly MxRecord[]): MxRecord[] {
  const best = Math.min(...records.map(({ priority }) => priority));
  return records.filter(({ priority }) => priority === best);
}

/** Returns whether an MX names the host. */
export function isOfHost({ exchange }: MxRecord, host: string): boolean {
  return exchange.replace(/\.$/, '').toLowerCase() === host.toLowerCase();
}

/** Asks receivers for nothing yet, so that no mail is lost while a domain is being set up. */
const DMARC_POLICY = 'v=DMARC1; p=none';

const DKIM_DESCRIPTIONS: Record<PublishedKey['state'], string> = {
  active: 'Lets receivers verify the DKIM signature of mail',
  waiting: 'The next DKIM key: mail is signed with it when this record is found',
  retired: `The previous DKIM key: keep this record until it is no longer listed, ${RETIRED_KEY_DAYS} days after the change`,
};

function toProof(id: string, name: string): DnsRecord {
  return {
    purpose: 'proof',
    type: 'TXT',
    name: makeProofName(name),
    value: `postroom-verification=${id}`,
    description: 'Proves that the domain is yours',
    isRequired: true,
  };
}

function txt(purpose: RecordPurpose, name: string, value: string, description: string): DnsRecord {
  return { purpose, type: 'TXT', name, value, description, isRequired: false };
}
