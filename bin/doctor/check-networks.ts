import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import type { Config } from '../config.ts';
import { isNetwork, isWithin } from '../runner/environment-values.ts';
import { type Finding, toFindings } from './finding.ts';

const { ok, fail } = toFindings('configuration');

/** Address ranges of Docker's automatic networks, which change from one start to the next. */
const DOCKER_DEFAULTS = ['172.16.0.0/12', '192.168.0.0/16'];

/**
 * Compares a container with the fixed networks of docker-compose.yml: its own addresses, and every address of 172.16.0.0/12 or
 * 192.168.0.0/16 in a setting, must belong to them. `networks` is a comma-separated list such as `172.31.253.0/24,172.31.254.0/24`; null
 * returns no findings.
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
          `Use an address of those networks in ${name}, or change INSIDE_NETWORK and OUTSIDE_NETWORK. If it belongs to another of your networks, remove \`doctor --networks\``,
        ),
      );
    }
  return findings.length > 0 ? findings : [ok('networks', `as docker-compose.yml fixes them: ${expected.join(', ')}`)];
}
