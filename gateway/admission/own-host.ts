import { isIPv4, isIPv6 } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { sendMisdirected } from '../http/error-response.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** of a route that probes ask under names of their own, or that looks at the host itself */
    isForAnyHost?: boolean;
  }
}

/**
 * Refuses requests whose Host header field names another host (421, RFC 9110 §15.5.20). A page of another site whose name its owner points
 * at this machine (DNS rebinding) sends that name, so that it reaches nothing here.
 */
export function refuseOtherHosts(app: FastifyInstance, publicUrl: string): void {
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.isForAnyHost === true || isOwnHost(request.headers.host, publicUrl)) return;
    return sendMisdirected(reply, publicUrl);
  });
}

/**
 * Returns whether a Host header field names this gateway: the host of PUBLIC_URL, `localhost`, or an IP address, which DNS cannot point
 * elsewhere. Ports do not count, as proxies pass them on or leave them out.
 */
export function isOwnHost(host: string | undefined, publicUrl: string): boolean {
  const name = hostNameOf(host ?? '');
  if (name === null) return false;
  return name === 'localhost' || name === hostNameOf(new URL(publicUrl).host) || isIPv4(name) || isBracketedIPv6(name);
}

/** The host of a Host header field (RFC 9110 §7.2) without its port, in lower case; null when it is malformed. */
function hostNameOf(host: string): string | null {
  const name = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d*)?$/i.exec(host)?.[1];
  return name === undefined ? null : name.toLowerCase().replace(/\.$/, '');
}

function isBracketedIPv6(name: string): boolean {
  return name.startsWith('[') && isIPv6(name.slice(1, -1));
}
