import ipaddr from 'ipaddr.js';

/** What a DNS list says about an address. `refused`: it does not serve this resolver, or it is out of order. */
export type ListReply = 'listed' | 'not_listed' | 'refused';

/** Returns the name under which a list has an address (RFC 5782 §2.1, §2.4): `7.2.0.192.list.example`; null if it is none. */
export function makeListName(address: string, list: string): string | null {
  if (!ipaddr.isValid(address)) return null;
  const parsed = ipaddr.process(address);
  const parts =
    parsed instanceof ipaddr.IPv4
      ? parsed.octets
      : parsed.parts.flatMap((part) => part.toString(16).padStart(4, '0').split(''));
  return `${parts.toReversed().join('.')}.${list}`;
}

/** The address that no list has (RFC 5782 §5): a list that has it has everything. */
export const UNLISTED_ADDRESS = '127.0.0.1';

/**
 * Reads the A records of a list. Listings are in 127.0.0.0/8 (RFC 5782 §2.1); lists reply 127.255.255.x to queries that they refuse, such as
 * those of public resolvers, and 127.0.0.1 is none. Other addresses are of a domain that is no list any more.
 */
export function readListReply(records: readonly string[]): ListReply {
  if (records.length === 0) return 'not_listed';
  const isListed = (record: string) =>
    record.startsWith('127.') && !record.startsWith('127.255.255.') && record !== UNLISTED_ADDRESS;
  return records.every(isListed) ? 'listed' : 'refused';
}

/** Characters of a first label that make it a customer's key, as in `KEY.zen.dq.example`. */
const KEY_LENGTH = 16;

/** Returns the name of a list without the key of a customer, for people. */
export function showListName(list: string): string {
  const [first = '', ...rest] = list.split('.');
  return first.length >= KEY_LENGTH && rest.length > 1 ? rest.join('.') : list;
}
