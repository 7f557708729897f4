import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import type { Config } from '../config.ts';
import { isNetwork, isWithin } from '../runner/environment-values.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, fail } = findingsOf('configuration');

/** The addresses that Docker gives to networks by itself, which change from one start to the next. */
const DOCKER_DEFAULTS = ['172.16.0.0/12', '192.168.0.0/16'];

/**
 * Compares a container with the networks that docker-compose.yml fixes: its own addresses must lie in them, and so must every address of
 * 172.16.0.0/12 or 192.168.0.0/16 that a setting names. `networks` is a comma list such as `172.31.253.0/24,172.31.254.0/24`; null: the
 * doctor was not asked to look, and the result is empty.
 */
export function checkNetworks(config: Config, networks: string | null): Finding[] {
  if (networks === null) return [];
  const expected = networks.split(',');
  const wrong = expected.filter((network) => !isNetwork(network));
  if (wrong.length > 0)
    return [
      fail('networks', `--networks ${wrong.join(', ')} is not a network`, 'Use a comma list such as 172.31.253.0/24'),
    ];
  const own = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
    .map(({ address }) => address);
  const findings = own
    .filter((address) => !isWithin(expected, address))
    .map((address) =>
      fail(
        'networks',
        `this container has the address ${address}, outside ${expected.join(' and ')}`,
        'Run `docker compose down` and `docker compose up --detach --wait` once, so that the networks are created as docker-compose.yml says',
      ),
    );
  const settings: Record<string, readonly string[]> = {
    TRUSTED_PROXIES: config.trustedProxies,
    DNS_SERVERS: config.dnsServers.map((server) => server.replace(/:\d+$/, '')),
    ALLOWED_PRIVATE_NETWORKS: config.allowedPrivateNetworks,
  };
  for (const [name, values] of Object.entries(settings))
    for (const value of values) {
      const [address = ''] = value.split('/');
      if (!ipaddr.IPv4.isValid(address) || !isWithin(DOCKER_DEFAULTS, address) || isWithin(expected, address)) continue;
      findings.push(
        fail(
          name,
          `${value} is outside ${expected.join(' and ')}, the networks of the containers`,
          `Name an address of those networks in ${name}, or set INSIDE_NETWORK and OUTSIDE_NETWORK to what it means; remove \`doctor --networks\` if it is another network of yours`,
        ),
      );
    }
  return findings.length > 0 ? findings : [ok('networks', `as docker-compose.yml fixes them: ${expected.join(', ')}`)];
}
