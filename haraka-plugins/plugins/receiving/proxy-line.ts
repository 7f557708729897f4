import { BlockList, isIP } from 'node:net';
import type { Connection } from 'haraka/connection.js';
import netUtils from 'haraka-net-utils';

/** Longest line of version 1 of the PROXY protocol with its line end; bytes (haproxy.org, The PROXY protocol §2.1). */
const MAX_LINE_BYTES = 107;

/**
 * From now on connections from these addresses and networks begin with a PROXY line, and no others do. Haraka gives such a connection
 * 30 s for it, and starts the session behind it.
 */
export function expectProxyLines(proxies: readonly string[]): void {
  const list = new BlockList();
  for (const each of proxies) {
    const [address = '', length] = each.split('/');
    const family = familyOf(address);
    if (length === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(length), family);
  }
  netUtils.is_haproxy_allowed = (address) => {
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
    return isIP(plain) !== 0 && list.check(plain, familyOf(plain));
  };
}

/** Uses what a proxy says first: with its line the session begins, as if the client had come by itself. Anything else ends the connection. */
export function readProxyLine(connection: Connection): void {
  const data = connection.current_data;
  if (data === null || !connection.proxy.allowed || connection.proxy.type !== null) return;
  const end = data.subarray(0, MAX_LINE_BYTES).indexOf('\r\n');
  if (end === -1 && data.length < MAX_LINE_BYTES) return;
  const line = data.toString('latin1', 0, Math.max(end, 0));
  // A proxy that speaks for itself, to see whether we live.
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

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
