import { getServers } from 'node:dns';
import type { Answer, DecodedPacket, RecordType } from 'dns-packet';
import { dnsError, exchangeDns } from './dns-exchange.ts';

/** Types whose records {@link queryDns} returns. */
const TYPES: ReadonlySet<string> = new Set(['A', 'AAAA', 'MX', 'PTR', 'TXT']);
/** Maximum characters of a name and of its labels (RFC 1035 §2.3.4). */
const MAX_NAME = 253;
const MAX_LABEL = 63;

/**
 * Returns whether node:dns rejects a name without a lookup although DNS allows it (RFC 2181 §11): macros of SPF put parts of an address into
 * names, `+` and `=` among them.
 */
export function isBeyondHostNames(name: string): boolean {
  return !/^[\w.*/-]*$/.test(name) && name.length <= MAX_NAME && name.split('.').every(isLabel);
}

function isLabel(label: string): boolean {
  return label.length > 0 && label.length <= MAX_LABEL && /^[\x20-\x7e]+$/.test(label);
}

/**
 * Looks up a name with any characters. Tries the servers in order, those of the system if none is given. Returns the records as node:dns does;
 * rejects with an error that has the `code` of node:dns.
 */
export async function queryDns(
  servers: readonly string[],
  name: string,
  type: string,
  timeoutMs: number,
): Promise<string[] | string[][]> {
  if (!TYPES.has(type)) throw dnsError('ENOTIMP', name);
  let last = dnsError('ECONNREFUSED', name);
  for (const server of servers.length > 0 ? servers : getServers()) {
    const reply = await exchangeDns({ server, name, type: type as RecordType, timeoutMs }).catch((error: unknown) => {
      last = dnsError(error instanceof Error && 'code' in error ? String(error.code) : 'EBADRESP', name);
      return null;
    });
    if (reply !== null) return readRecords(reply, name, type) as string[] | string[][];
  }
  throw last;
}

/** Response codes (RFC 1035 §4.1.1) as node:dns names them. */
const CODES: Readonly<Record<number, string>> = {
  1: 'EFORMERR',
  2: 'ESERVFAIL',
  3: 'ENOTFOUND',
  4: 'ENOTIMP',
  5: 'EREFUSED',
};

function readRecords(reply: DecodedPacket, name: string, type: string): unknown[] {
  const code = (reply.flags ?? 0) & 0xf;
  if (code !== 0) throw dnsError(CODES[code] ?? 'EBADRESP', name);
  const records = (reply.answers ?? []).filter((record) => record.type === type).map(readData);
  if (records.length === 0) throw dnsError('ENODATA', name);
  return records;
}

function readData(each: Answer): unknown {
  if (each.type === 'MX') return { priority: each.data.preference ?? 0, exchange: each.data.exchange };
  if (each.type === 'TXT') return [each.data].flat().map(String);
  return 'data' in each ? each.data : null;
}
