import { isIPv4, isIPv6 } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { sendMisdirected } from '../http/error-response.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** whether the route serves all hosts: probes use internal names, and some routes check the host themselves */
    isForAnyHost?: boolean;
  }
}

/**
 * Rejects requests whose Host header names another host (421, RFC 9110 §15.5.20). This stops DNS rebinding: a page whose owner points its
 * name at this machine still sends that name.
 */
export function refuseOtherHosts(app: FastifyInstance, publicUrl: string): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.isForAnyHost === true || isOwnHost(request.headers.host, publicUrl)) done();
    else void sendMisdirected(reply, publicUrl);
  });
}

/**
 * Returns whether a Host header names this gateway: the host of PUBLIC_URL, `localhost`, or an IP address, which DNS cannot redirect. Ports are
 * ignored, because some proxies remove them.
 */
export function isOwnHost(host: string | undefined, publicUrl: string): boolean {
  const name = findHostName(host ?? '');
  if (name === null) return false;
  return (
    name === 'localhost' || isIPv4(name) || isBracketedIPv6(name) || name === findHostName(new URL(publicUrl).host)
  );
}

/** Returns the host of a Host header (RFC 9110 §7.2) without the port, in lower case; null if it is malformed. */
function findHostName(host: string): string | null {
  const name = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d*)?$/i.exec(host)?.[1];
  return name === undefined ? null : name.toLowerCase().replace(/\.$/, '');
}

function isBracketedIPv6(name: string): boolean {
  return name.startsWith('[') && isIPv6(name.slice(1, -1));
}
