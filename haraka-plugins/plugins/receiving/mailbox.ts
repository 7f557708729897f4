import type { EnvelopeAddress } from 'haraka/connection.js';

/** Returns the address as written, quotes included, with its domain in lower case; empty for the null reverse-path. */
export function mailbox(address: EnvelopeAddress | null): string {
  if (address === null) return '';
  return address.host === '' ? address.user : `${address.user}@${address.host}`;
}
