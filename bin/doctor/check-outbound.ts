import type { Config } from '../config.ts';
import { openResolver } from './check-dns.ts';
import { describeError, type Finding, toFindings } from './finding.ts';
import { speakSmtp } from './smtp-dialogue.ts';

const { ok, fail } = toFindings('SMTP');

/** Default port of a relay whose URL names none (RFC 8314 §7.3, RFC 5321 §4.5.4.2). */
const RELAY_PORTS: Record<string, number> = { 'smtps:': 465, 'smtp:': 25 };

/**
 * Checks whether outgoing mail can leave this machine: greets the relay or, for a given host or domain, its mail server. The dialogue ends
 * before MAIL, so nothing is sent.
 */
export async function checkOutbound(config: Config, target: string | null): Promise<Finding[]> {
  if (config.outboundRelayUrl !== null) {
    const { protocol, hostname, port } = new URL(config.outboundRelayUrl);
    // The dialogue does not speak implicit TLS, so this checks only whether the port is open.
    if (protocol === 'smtps:') return [];
    return [
      await greet(
        'relay',
        hostname,
        Number(port) || (RELAY_PORTS[protocol] ?? 25),
        'Check OUTBOUND_RELAY_URL and the relay',
      ),
    ];
  }
  if (target === null) return [];
  const exchanges = await openResolver(config)
    .resolveMx(target)
    .catch(() => []);
  const [best] = exchanges.toSorted((a, b) => a.priority - b.priority);
  const host = best?.exchange ?? target;
  const address = await findAddress(config, host);
  const fix = `Many hosting providers block outgoing port ${config.outboundPort}. Ask yours to open it, or set OUTBOUND_RELAY_URL to a relay`;
  if (address === null)
    return [
      fail(
        'outbound',
        `${host} has no address`,
        'Name a host that accepts mail, such as the domain of a large provider',
      ),
    ];
  return [await greet('outbound', address, config.outboundPort, fix, host)];
}

async function greet(name: string, address: string, port: number, fix: string, host = address): Promise<Finding> {
  try {
    const { banner } = await speakSmtp({ host: address, port, serverName: host, recipient: null });
    return ok(name, `${host}:${port} greets: ${banner.slice(4, 64)}`);
  } catch (error) {
    return fail(name, `${host}:${port}: ${describeError(error)}`, fix);
  }
}

async function findAddress(config: Config, host: string): Promise<string | null> {
  const resolver = openResolver(config);
  const [first] = [
    ...(await resolver.resolve4(host).catch(() => [])),
    ...(await resolver.resolve6(host).catch(() => [])),
  ];
  return first ?? null;
}
