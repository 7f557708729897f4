/** An MX record as node:dns gives it. */
export interface MailExchanger {
  exchange: string;
  priority: number;
}

/** Where a domain's mail goes by its MX records (RFC 5321 §5.1). */
export type ExchangerChoice =
  /** host names in lower case, to be tried in this order */
  | { kind: 'hosts'; names: string[] }
  /** the domain says that it takes no mail (RFC 7505) */
  | { kind: 'null-mx' }
  /** the most preferred host is this service, to which the domain does not belong: mail would go in circles */
  | { kind: 'loop' };

/**
 * Orders the hosts of MX records, of which there is one at least: by preference, in random order among equals. Hosts that are not
 * preferred to ourselves are left out. `draw` answers numbers in [0, 1).
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
