/** An MX record as node:dns returns it. */
export interface MailExchanger {
  exchange: string;
  priority: number;
}

/** The servers for a domain by its MX records (RFC 5321 §5.1). */
export type ExchangerChoice =
  /** host names in lower case, in the order to try them */
  | { kind: 'hosts'; names: string[] }
  /** the domain declares that it receives no mail (RFC 7505) */
  | { kind: 'null-mx' }
  /** the most preferred host is this service, but the domain is not hosted here: mail would loop */
  | { kind: 'loop' };

/**
 * Orders the hosts of MX records (at least one): by preference, randomly among equals. Hosts that are not preferred to this service are
 * left out. `draw` returns numbers in [0, 1).
 */
export function chooseExchangers(
  records: readonly MailExchanger[],
  ownName: string,
  draw: () => number,
): ExchangerChoice {
  const hosts = records
    .map(({ exchange, priority }) => ({ name: exchange.toLowerCase().replace(/\.$/, ''), priority, place: draw() }))
    .filter(({ name }) => name !== '');
  if (hosts.length === 0) return { kind: 'null-mx' };
  const own = Math.min(...hosts.filter(({ name }) => name === ownName).map(({ priority }) => priority));
  const preferred = hosts
    .filter(({ priority }) => priority < own)
    .toSorted((one, other) => one.priority - other.priority || one.place - other.place);
  if (preferred.length === 0) return { kind: 'loop' };
  return { kind: 'hosts', names: [...new Set(preferred.map(({ name }) => name))] };
}
