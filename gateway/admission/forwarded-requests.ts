import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';

/**
 * Settings that are open by default while only this machine reaches the service. A request that a proxy forwards shows that others do, so
 * they are closed for it.
 */
export type LocalSetting = 'SIGN_UP' | 'TRUSTED_DOMAINS' | 'ALLOWED_PRIVATE_NETWORKS';

/** Headers that proxies add, and clients do not. */
const FORWARDING_HEADERS = [
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-original-forwarded-for',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-envoy-external-address',
  'x-azure-clientip',
  'x-appengine-user-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'fastly-client-ip',
  'fly-client-ip',
  'via',
];

/** Returns the name of the first header by which a proxy shows itself; null when there is none. */
export function forwardingHeader({ headers }: Pick<FastifyRequest, 'headers'>): string | null {
  return FORWARDING_HEADERS.find((name) => headers[name] !== undefined) ?? null;
}

/** Returns whether a setting that is open for this machine is closed for a request. */
export function isClosedFor(
  request: Pick<FastifyRequest, 'headers'>,
  openForLocal: readonly LocalSetting[],
  setting: LocalSetting,
): boolean {
  return openForLocal.includes(setting) && forwardingHeader(request) !== null;
}

/** The first request that a proxy forwarded to a service that has settings for this machine only. */
export interface ForwardedRequest {
  /** by which the proxy showed itself, lower case */
  header: string;
  at: Date;
  /** the settings that are closed for such requests */
  closed: readonly LocalSetting[];
}

/**
 * Writes a warning at the first request that a proxy forwards to a service that has settings for this machine only. Returns the sign of
 * that request from then on, until the process ends: null before.
 */
export function warnOfForwardedRequests(
  app: FastifyInstance,
  { log, openForLocal, now }: { log: Logger; openForLocal: readonly LocalSetting[]; now: () => Date },
): () => ForwardedRequest | null {
  let first: ForwardedRequest | null = null;
  if (openForLocal.length === 0) return () => null;
  app.addHook('onRequest', (request, _reply, done) => {
    const header = first === null ? forwardingHeader(request) : null;
    if (header !== null) {
      first = { header, at: now(), closed: openForLocal };
      log.warn(
        { event: 'http.forwarded', header, closed: openForLocal },
        'a proxy forwards requests to this service, which is set up for this machine only: set PUBLIC_URL to the address that clients use, and TRUSTED_PROXIES to that of the proxy. Until then, sign-up, trusted domains and webhooks to this machine are closed for forwarded requests.',
      );
    }
    done();
  });
  return () => first;
}
