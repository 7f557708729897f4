import { BlockList, isIPv6, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { doorNetwork } from '../../core/screening/door/door-network.ts';
import { type RateState, takeOfRate } from '../../core/screening/door/rate.ts';
import { UserError } from '../../core/shared/errors.ts';
import { clientNetwork } from '../../core/shared/network-address.ts';
import { createCountedCache } from '../../core/shared/sized-cache.ts';
import { gatewayMetrics } from '../../schema/metrics.ts';

export interface ConnectionLimit {
  /** connections of one IPv4 address or IPv6 /64; requests, of a client behind a trusted proxy */
  perAddress: number;
  /** new connections of one network, an IPv4 /24 or an IPv6 /64, in a minute; 0: no limit */
  perMinute: number;
  /** connections of all addresses, those of proxies and of this machine included */
  total: number;
  /** addresses and CIDRs whose connections carry requests of many clients */
  trustedProxies: readonly string[];
  log: Logger;
}

/** Browsers open six connections, and an office behind one address has some dozens of them. */
export const MAX_CONNECTIONS_PER_ADDRESS = 256;
/** An idle connection takes about 20 KB. */
export const MAX_CONNECTIONS = 5_000;
/** A hundred a second. Clients that reuse connections need a few. */
export const MAX_CONNECTIONS_PER_MINUTE = 6_000;
/** Networks whose rates are known. The longest absent are forgotten. */
const MAX_NETWORKS = 10_000;
/** Milliseconds between two times at which idle connections are closed to make room. */
const CLOSE_IDLE_MS = 1_000;
/** The reason of an error of a client with too many connections. */
const TOO_MANY_CONNECTIONS = 'TOO_MANY_CONNECTIONS';
/** Seconds. */
const RETRY_AFTER_SECONDS = 5;
/** Connections beyond the limit of one address, and of all, that get a response. Those beyond them are closed at once. */
const MAX_REFUSED = 16;
const ALL_ADDRESSES = 'all';
/** Time in which a refused connection must send its request; milliseconds. */
const REFUSED_MS = 5_000;
/** Milliseconds between two lines of the log about connections that were refused. */
const LOG_INTERVAL_MS = 60_000;

/**
 * Limits the connections of all clients and of each client address, and the new connections of each network in a minute. At the limit of all,
 * connections without a request are closed to make room. A connection beyond a limit gets 503 or 429 for its request, and is closed.
 * Connections from 127.0.0.1 and ::1 are not counted, because a proxy or a load generator on this machine acts for many clients. Nor are those
 * of trusted proxies; their requests in progress are, by the client that the proxy names. Call it before the hooks of admission.
 */
export function limitConnections(
  app: FastifyInstance,
  { perAddress, perMinute, total, trustedProxies, log }: ConnectionLimit,
): void {
  const connections = new Map<string, number>();
  const refusedOf = new Map<string, number>();
  const requests = new Map<string, number>();
  const refused = new WeakMap<Socket, UserError>();
  const rates = createCountedCache<RateState>(MAX_NETWORKS);
  let open = 0;
  let idleClosedAt = Number.NEGATIVE_INFINITY;
  const proxies = makeBlockList(trustedProxies);
  let loggedAt = Number.NEGATIVE_INFINITY;

  function warn(client: string, limit: number, setting: string): void {
    if (performance.now() - loggedAt < LOG_INTERVAL_MS) return;
    loggedAt = performance.now();
    log.warn(
      { client, limit, event: 'gateway.connections-refused' },
      `gateway: refusing connections of a client that has too many (${setting})`,
    );
  }

  /** Counts a new connection; returns whether its network had one left in this minute. */
  function takeConnection(network: string): boolean {
    if (perMinute === 0) return true;
    const { state, isTaken } = takeOfRate(rates.get(network), perMinute, performance.now());
    rates.set(network, state);
    return isTaken;
  }

  function makeRoom(): void {
    const now = performance.now();
    if (now - idleClosedAt < CLOSE_IDLE_MS) return;
    idleClosedAt = now;
    app.server.closeIdleConnections();
    log.warn(
      { limit: total, event: 'gateway.connections-full' },
      'gateway: closing idle connections, because there are too many connections (HTTP_MAX_CONNECTIONS)',
    );
  }

  app.server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    open++;
    socket.once('close', () => open--);
    if (open > total) {
      makeRoom();
      return refuse(socket, ALL_ADDRESSES, 'total', tooManyOfAll(total));
    }
    if (remoteAddress === undefined || isLocal(remoteAddress) || isListed(proxies, remoteAddress)) return;
    const network = doorNetwork(remoteAddress);
    if (!takeConnection(network)) {
      warn(network, perMinute, 'HTTP_CONNECTIONS_PER_MINUTE');
      return refuse(socket, network, 'rate', tooFast(perMinute));
    }
    const client = clientNetwork(remoteAddress);
    if (enter(connections, client, perAddress)) {
      socket.once('close', () => leave(connections, client));
      return;
    }
    warn(client, perAddress, 'HTTP_MAX_CONNECTIONS_PER_ADDRESS');
    refuse(socket, client, 'address', tooMany(perAddress));
  });

  /** Closes a connection, after a response to its first request unless many of the client wait for one. */
  function refuse(socket: Socket, client: string, reason: 'total' | 'address' | 'rate', error: UserError): void {
    gatewayMetrics.refusedConnections.inc({ reason });
    if (!enter(refusedOf, client, MAX_REFUSED)) {
      socket.destroy();
      return;
    }
    refused.set(socket, error);
    const timer = setTimeout(() => socket.destroy(), REFUSED_MS).unref();
    socket.once('close', () => {
      clearTimeout(timer);
      leave(refusedOf, client);
    });
  }

  app.addHook('onRequest', async (request, reply) => {
    const { socket } = request.raw;
    const refusal = refused.get(socket);
    if (refusal !== undefined) {
      reply.header('connection', 'close');
      throw refusal;
    }
    if (trustedProxies.length === 0 || !isListed(proxies, socket.remoteAddress ?? '') || isLocal(request.ip)) return;
    const client = clientNetwork(request.ip);
    if (!enter(requests, client, perAddress)) {
      warn(client, perAddress, 'HTTP_MAX_CONNECTIONS_PER_ADDRESS');
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

function makeBlockList(networks: readonly string[]): BlockList {
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

function tooManyOfAll(most: number): UserError {
  return new UserError(
    'unavailable',
    `This gateway has too many connections. The limit is ${most}. Please try again later.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS, reason: TOO_MANY_CONNECTIONS },
  );
}

function tooFast(most: number): UserError {
  return new UserError(
    'rate_limited',
    `Too many new connections from this network. The limit is ${most} per minute. Reuse connections.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS, reason: TOO_MANY_CONNECTIONS },
  );
}

function tooMany(most: number): UserError {
  return new UserError(
    'unavailable',
    `Too many connections from this address. The limit is ${most}. Reuse connections, or close idle ones.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS, reason: TOO_MANY_CONNECTIONS },
  );
}
