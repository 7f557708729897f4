/** What DNS says about the domain of a sender. `unclear`: DNS did not respond. */
export type SenderDomainState = 'receives' | 'missing' | 'no_server' | 'null_mx' | 'unclear';

/** Records of a domain; null: there is no such domain; absent records are empty. */
export interface SenderDomainRecords {
  mx: readonly { exchange: string }[] | null;
  a: readonly string[] | null;
  aaaa: readonly string[] | null;
}

/** Returns whether a domain can receive replies and bounces (RFC 5321 §5.1, RFC 7505 §3). */
export function readSenderDomain({ mx, a, aaaa }: SenderDomainRecords): SenderDomainState {
  if (mx === null || a === null || aaaa === null) return 'missing';
  if (mx.length > 0) return mx.every(({ exchange }) => exchange === '' || exchange === '.') ? 'null_mx' : 'receives';
  return a.length + aaaa.length > 0 ? 'receives' : 'no_server';
}
