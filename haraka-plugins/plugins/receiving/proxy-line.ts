import { BlockList, isIP } from 'node:net';
import type { Connection } from 'haraka/connection.js';
import netUtils from 'haraka-net-utils';

/** Longest PROXY protocol version 1 line, with its line end; bytes (haproxy.org, The PROXY protocol §2.1). */
const MAX_LINE_BYTES = 107;

/**
 * From now on, connections from these addresses and networks, and no others, begin with a PROXY line. Haraka waits 30 s for it and starts
 * the session after it.
 */
export function expectProxyLines(proxies: readonly string[]): void {
  const list = new BlockList();
  for (const each of proxies) {
    const [address = '', length] = each.split('/');
    const family = readFamily(address);
    if (length === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(length), family);
  }
  netUtils.is_haproxy_allowed = (address) => {
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
    return isIP(plain) !== 0 && list.check(plain, readFamily(plain));
  };
}

/**
 * Processes the first line of a proxy. A valid one starts the session as if the client had connected directly. Anything else ends the
 * connection.
 */
export function readProxyLine(connection: Connection): void {
  const data = connection.current_data;
  if (data === null || !connection.proxy.allowed || connection.proxy.type !== null) return;
  const end = data.subarray(0, MAX_LINE_BYTES).indexOf('\r\n');
  if (end === -1 && data.length < MAX_LINE_BYTES) return;
  const line = data.toString('latin1', 0, Math.max(end, 0));
  // A health check of the proxy itself.
  const told = line.startsWith('PROXY UNKNOWN') ? ownWords(connection) : netUtils.parse_proxy_line(line);
  if (end === -1 || told === null || !line.startsWith('PROXY ')) {
    connection.client.destroy();
    return;
  }
  connection.current_data = data.length === end + 2 ? null : data.subarray(end + 2);
  connection.apply_proxy(told);
}

function ownWords({ remote }: Connection) {
  return { proto: 'UNKNOWN', src_ip: remote.ip, src_port: '0', dst_ip: remote.ip, dst_port: '0' };
}

function readFamily(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
