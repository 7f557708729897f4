import { BlockList, isIPv6, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { UserError } from '../../core/shared/errors.ts';
import { clientNetwork } from '../../core/shared/network-address.ts';

export interface ConnectionLimit {
  /** connections of one IPv4 address or IPv6 /64; requests, of a client behind a trusted proxy */
  perAddress: number;
  /** addresses and CIDRs whose connections carry requests of many clients */
  trustedProxies: readonly string[];
  log: Logger;
}

/** Browsers open six connections, and an office behind one address has some dozens of them. */
export const MAX_CONNECTIONS_PER_ADDRESS = 256;
/** The reason of an error of a client with too many connections. */
const TOO_MANY_CONNECTIONS = 'TOO_MANY_CONNECTIONS';
/** Seconds. */
const RETRY_AFTER_SECONDS = 5;
/** Connections of one address beyond the limit that get a response. Those beyond them are closed at once. */
const MAX_REFUSED = 16;
/** Time in which a refused connection must send its request; milliseconds. */
const REFUSED_MS = 5_000;
/** Milliseconds between two lines of the log about connections that were refused. */
const LOG_INTERVAL_MS = 60_000;

/**
 * Limits the connections of one client address. A connection beyond the limit gets 503 for its request, and is closed. Connections from
 * 127.0.0.1 and ::1 are not counted, because a proxy or a load generator on this machine acts for many clients. Nor are those of trusted proxies;
 * their requests in progress are, by the client that the proxy names. Call it before the hooks of admission.
 */
export function limitConnections(app: FastifyInstance, { perAddress, trustedProxies, log }: ConnectionLimit): void {
  const connections = new Map<string, number>();
  const refusedOf = new Map<string, number>();
  const requests = new Map<string, number>();
  const refused = new WeakSet<Socket>();
  const proxies = blockListOf(trustedProxies);
  let loggedAt = Number.NEGATIVE_INFINITY;

  function warn(client: string): void {
    if (performance.now() - loggedAt < LOG_INTERVAL_MS) return;
    loggedAt = performance.now();
    log.warn(
      { client, limit: perAddress, event: 'gateway.connections-refused' },
      'gateway: refusing connections of an address that has too many (HTTP_MAX_CONNECTIONS_PER_ADDRESS)',
    );
  }

  app.server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || isLocal(remoteAddress) || isListed(proxies, remoteAddress)) return;
    const client = clientNetwork(remoteAddress);
    if (enter(connections, client, perAddress)) {
      socket.once('close', () => leave(connections, client));
      return;
    }
    warn(client);
    if (!enter(refusedOf, client, MAX_REFUSED)) {
      socket.destroy();
      return;
    }
    refused.add(socket);
    const timer = setTimeout(() => socket.destroy(), REFUSED_MS).unref();
    socket.once('close', () => {
      clearTimeout(timer);
      leave(refusedOf, client);
    });
  });

  app.addHook('onRequest', async (request, reply) => {
    const { socket } = request.raw;
    if (refused.has(socket)) {
      reply.header('connection', 'close');
      throw tooMany(perAddress);
    }
    if (trustedProxies.length === 0 || !isListed(proxies, socket.remoteAddress ?? '') || isLocal(request.ip)) return;
    const client = clientNetwork(request.ip);
    if (!enter(requests, client, perAddress)) {
      warn(client);
      throw tooMany(perAddress);
    }
    reply.raw.once('close', () => leave(requests, client));
  });
}

/** Counts one more of a client, unless it has as many as it may have. */
function enter(counts: Map<string, number>, client: string, most: number): boolean {
  const count = counts.get(client) ?? 0;
  if (count >= most) return false;
  counts.set(client, count + 1);
  return true;
}

function leave(counts: Map<string, number>, client: string): void {
  const left = (counts.get(client) ?? 1) - 1;
  if (left > 0) counts.set(client, left);
  else counts.delete(client);
}

function isLocal(address: string): boolean {
  return address === '127.0.0.1' || address === '::1' || address === '::ffff:127.0.0.1';
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', length] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (length === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(length), family);
  }
  return list;
}

/** A BlockList compares mapped IPv4 addresses (::ffff:0:0/96) with its IPv4 entries. */
function isListed(list: BlockList, address: string): boolean {
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

function tooMany(most: number): UserError {
  return new UserError(
    'unavailable',
    `Too many connections from this address. The limit is ${most}. Reuse connections, or close those that are idle.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS, reason: TOO_MANY_CONNECTIONS },
  );
}
