import { hash } from 'node:crypto';

/** Returns the ID of a first contact: network, domain of the sender, and recipient. Senders change their local parts with each message. */
export function makeTriplet(network: string, sender: string, recipient: string): string {
  const domain = sender.slice(sender.lastIndexOf('@') + 1).toLowerCase();
  return `gry_${hash('sha256', JSON.stringify([network, domain, recipient.toLowerCase()]), 'hex').slice(0, 32)}`;
}

/** Returns the name of a pool of servers, in the place of a network: those for which SPF passes for a domain, or of one HELO domain. */
export function makePool(kind: 'spf' | 'helo', domain: string): string {
  return `${kind}:${domain}`;
}

/** Returns the ID of all first contacts of a network. */
export function makeNetworkTriplet(network: string): string {
  return `gry_${hash('sha256', JSON.stringify([network]), 'hex').slice(0, 32)}`;
}
