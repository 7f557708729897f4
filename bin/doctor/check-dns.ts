import { getServers, Resolver } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import { isPublicAddress } from '../../core/shared/network-address.ts';
import type { Config } from '../config.ts';
import { isTrial } from './check-configuration.ts';
import { describeError, type Finding, toFindings } from './finding.ts';

const { ok, warn, fail, skip } = toFindings('DNS');

const QUERY_MS = 2_500;
/** Error codes of responses, which prove that the server works. */
const TOLD = new Set(['ENOTFOUND', 'ENODATA']);

/** Returns a resolver like the service's: for DNS_SERVERS, or the system's. */
export function openResolver(config: Config, servers = config.dnsServers): Resolver {
  const resolver = new Resolver({ timeout: QUERY_MS, tries: 2 });
  if (servers.length > 0) resolver.setServers(servers);
  return resolver;
}

/** Checks each DNS server, and the public records of MAIL_HOSTNAME: its addresses and their names (FCrDNS, RFC 8601 §3). */
export async function checkDns(config: Config): Promise<Finding[]> {
  const servers = config.dnsServers.length > 0 ? config.dnsServers : getServers();
  const findings = await Promise.all(servers.map((server) => checkServer(config, server)));
  if (findings.length === 0)
    findings.push(fail('servers', 'the system has no DNS servers', 'Set DNS_SERVERS, or correct /etc/resolv.conf'));
  if (isTrial(config)) {
    const detail = 'MAIL_HOSTNAME is localhost, so other servers cannot send mail to it';
    return [...findings, skip('MAIL_HOSTNAME', detail)];
  }
  if (!findings.some(({ state }) => state === 'ok')) return findings;
  return [...findings, ...(await checkOwnName(config))];
}

async function checkServer(config: Config, server: string): Promise<Finding> {
  try {
    await readRecords(openResolver(config, [server]).resolveMx(config.mailHostname));
    return ok('server', `${server} responds`);
  } catch (error) {
    return fail(
      'server',
      `${server} does not respond: ${describeError(error)}`,
      'Set DNS_SERVERS to resolvers that this machine can reach (UDP and TCP)',
    );
  }
}

async function checkOwnName(config: Config): Promise<Finding[]> {
  const name = config.mailHostname;
  const resolver = openResolver(config);
  try {
    const found = await Promise.all([readRecords(resolver.resolve4(name)), readRecords(resolver.resolve6(name))]);
    const addresses = found.flat();
    if (addresses.length === 0)
      return [
        fail(
          'MAIL_HOSTNAME',
          `${name} has no address`,
          `Publish an A record (and AAAA) for ${name} with the public address of this machine`,
        ),
      ];
    const findings = [ok('MAIL_HOSTNAME', `${name} is ${addresses.join(', ')}`)];
    for (const address of addresses) findings.push(await checkPointer(resolver, name, address));
    const inner = addresses.filter((address) => !isPublicAddress(address));
    if (inner.length > 0)
      findings.push(
        warn(
          'address',
          `${inner.join(', ')} cannot be reached from the internet`,
          `Publish the public address of this machine for ${name}`,
        ),
      );
    return findings;
  } catch (error) {
    return [
      fail(
        'MAIL_HOSTNAME',
        `DNS lookup of ${name} failed: ${describeError(error)}`,
        'Check the name servers of that domain',
      ),
    ];
  }
}

async function checkPointer(resolver: Resolver, name: string, address: string): Promise<Finding> {
  const fix = `Ask your hosting provider to set the reverse name of ${address} to ${name}. Large providers refuse mail without it`;
  const pointers = await readRecords(resolver.resolvePtr(reverseName(address))).catch(() => null);
  if (pointers === null) return warn('PTR', `reverse DNS lookup of ${address} failed`, 'Run this again later');
  if (pointers.length === 0) return fail('PTR', `${address} has no reverse name`, fix);
  const names = pointers.map((pointer) => pointer.toLowerCase().replace(/\.$/, ''));
  if (names.includes(name)) return ok('PTR', `${address} is ${name}`);
  // Most receivers accept any name that leads back to the address; the name in EHLO is better.
  for (const pointer of names) {
    const forward = [
      ...(await readRecords(resolver.resolve4(pointer)).catch(() => [])),
      ...(await readRecords(resolver.resolve6(pointer)).catch(() => [])),
    ];
    if (forward.includes(address)) return warn('PTR', `${address} is ${pointer}, and not ${name}`, fix);
  }
  return fail('PTR', `${address} is ${names.join(', ')}, which does not lead back to it`, fix);
}

/** Returns the name of an address's PTR record (RFC 1035 §3.5, RFC 3596 §2.5). Resolver.reverse() would read /etc/hosts first. */
function reverseName(address: string): string {
  const parsed = ipaddr.parse(address);
  const bytes = parsed.toByteArray();
  if (parsed.kind() === 'ipv4') return `${bytes.toReversed().join('.')}.in-addr.arpa`;
  const digits = bytes.flatMap((byte) => [byte >> 4, byte & 15]);
  return `${digits
    .toReversed()
    .map((digit) => digit.toString(16))
    .join('.')}.ip6.arpa`;
}

/** Returns an empty list if the name or the record does not exist. */
async function readRecords<T>(asked: Promise<T[]>): Promise<T[]> {
  try {
    return await asked;
  } catch (error) {
    if (TOLD.has((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}
