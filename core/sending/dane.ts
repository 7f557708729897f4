import { createHash, type X509Certificate } from 'node:crypto';

/** A TLSA record (RFC 6698 §2). */
export interface TlsaRecord {
  usage: number;
  selector: number;
  matchingType: number;
  certificate: Buffer;
}

const DANE_TA = 2;
const DANE_EE = 3;
/** Matching types: the whole data, SHA-256, SHA-512 (RFC 6698 §2.1.3). */
const EXACT = 0;
const SHA2_256 = 1;
const SHA2_512 = 2;
/** Records of one server that are read. */
const MAX_RECORDS = 50;

/**
 * Returns the records that mail can be authenticated with: DANE-TA and DANE-EE (RFC 7672 §3.1), of several digests of one usage and selector
 * only the strongest (RFC 7671 §9). When there are records and none of them is usable, mail needs TLS with any certificate (RFC 7672 §2.2).
 */
export function usableTlsaRecords(records: readonly TlsaRecord[]): TlsaRecord[] {
  const known = records
    .slice(0, MAX_RECORDS)
    .filter(
      ({ usage, selector, matchingType, certificate }) =>
        (usage === DANE_TA || usage === DANE_EE) &&
        selector <= 1 &&
        certificate.length === (LENGTHS[matchingType] ?? certificate.length) &&
        matchingType <= SHA2_512,
    );
  return known.filter(
    (record) =>
      record.matchingType !== SHA2_256 ||
      !known.some(
        (other) =>
          other.usage === record.usage && other.selector === record.selector && other.matchingType === SHA2_512,
      ),
  );
}

const LENGTHS: Readonly<Record<number, number>> = { [SHA2_256]: 32, [SHA2_512]: 64 };

/**
 * Returns whether the records authenticate a server that presents this chain, its own certificate first. DANE-EE: the server's key or
 * certificate matches, and names and dates do not count (RFC 7672 §3.1.1). DANE-TA: an issuer in the chain matches, and the chain to it is
 * valid for one of the names (§3.1.2); that issuer must be in the chain.
 */
export function matchesTlsa(
  records: readonly TlsaRecord[],
  chain: readonly X509Certificate[],
  names: readonly string[],
  now: Date,
): boolean {
  const [leaf] = chain;
  if (leaf === undefined) return false;
  if (records.some((record) => record.usage === DANE_EE && matchesRecord(record, leaf))) return true;
  if (!names.some((name) => leaf.checkHost(name) !== undefined)) return false;
  for (const [at, issuer] of chain.entries()) {
    if (!isCurrent(issuer, now)) return false;
    const issued = chain[at - 1];
    if (issued === undefined) continue;
    if (!issuer.ca || !issued.checkIssued(issuer) || !issued.verify(issuer.publicKey)) return false;
    if (records.some((record) => record.usage === DANE_TA && matchesRecord(record, issuer))) return true;
  }
  return false;
}

function matchesRecord({ selector, matchingType, certificate }: TlsaRecord, presented: X509Certificate): boolean {
  const data = selector === 0 ? presented.raw : presented.publicKey.export({ type: 'spki', format: 'der' });
  if (matchingType === EXACT) return certificate.equals(data);
  return certificate.equals(
    createHash(matchingType === SHA2_256 ? 'sha256' : 'sha512')
      .update(data)
      .digest(),
  );
}

function isCurrent({ validFromDate, validToDate }: X509Certificate, now: Date): boolean {
  return validFromDate <= now && now <= validToDate;
}
