/** A required record; the value of an MX record includes its preference. */
export interface ZoneRecord {
  type: string;
  name: string;
  value: string;
}

/** Seconds that resolvers may cache a record: short, so that a mistake is soon forgotten. */
export const ADVISED_TTL_SECONDS = 3_600;
/** Maximum bytes of one string of a TXT record (RFC 1035 §3.3). */
const TXT_STRING = /[^]{1,255}/g;

/** Returns the records as lines of a zone file (RFC 1035 §5.1) with complete names that end in a dot. */
export function zoneFileOf(records: readonly ZoneRecord[]): string {
  return records
    .map((record) => `${record.name}.\t${ADVISED_TTL_SECONDS}\tIN\t${record.type}\t${dataOf(record)}`)
    .join('\n');
}

function dataOf({ type, value }: ZoneRecord): string {
  if (type === 'MX') return `${value}.`;
  return (value.match(TXT_STRING) ?? ['']).map((text) => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`).join(' ');
}

/** Returns the host name as forms of DNS providers expect it: without the zone, or `@` for the zone itself. */
export function hostWithin(name: string, zone: string): string {
  return name === zone ? '@' : name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name;
}
