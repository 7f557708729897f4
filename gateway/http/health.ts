import type { FastifyInstance } from 'fastify';
import type { Database } from '../../db/connection/database.ts';
import type { Bus } from '../../schema/messages.ts';
import { type ForwardedRequest, forwardingHeader } from '../admission/forwarded-requests.ts';

/** Time after which PostgreSQL counts as unreachable; milliseconds. */
const PROBE_TIMEOUT_MS = 2_000;

export interface HealthOptions {
  database: Database;
  bus: Bus;
  isLeaving: () => boolean;
  /** see warnOfForwardedRequests */
  findForwarded: () => ForwardedRequest | null;
}

/**
 * `GET /health`: the process is alive. `GET /ready`: it can serve requests; without the bus it is `degraded`. A process that is shutting
 * down is not ready, although it still serves requests. `forwarded`: a proxy forwards requests to a service that is set up for its own machine
 * only; the doctor (bin/doctor/check-http.ts) asks for it, and requests that are forwarded do not get it.
 */
export function healthRoutes(app: FastifyInstance, { database, bus, isLeaving, findForwarded }: HealthOptions): void {
  // Probes connect by IP address or by an internal host name.
  const options = { schema: { hide: true }, config: { isForAnyHost: true } };
  app.get('/health', options, () => ({ status: 'ok' }));

  app.get('/ready', options, async (request, reply) => {
    if (isLeaving()) return reply.code(503).send({ status: 'unavailable', missing: ['draining'] });
    const isUp = await responds(database);
    if (!isUp) return reply.code(503).send({ status: 'unavailable', missing: ['postgresql'] });
    const forwarded = forwardingHeader(request) === null ? findForwarded() : null;
    const status = bus.isConnected() ? { status: 'ok' } : { status: 'degraded', missing: ['bus'] };
    return { ...status, ...(forwarded && { forwarded }) };
  });
}

async function responds(database: Database): Promise<boolean> {
  const probe = database.pool.query({ text: 'select 1', query_timeout: PROBE_TIMEOUT_MS }).then(
    () => true,
    () => false,
  );
  // The pool may wait longer for a connection than a probe may take.
  const late = new Promise<boolean>((resolve) => setTimeout(resolve, PROBE_TIMEOUT_MS, false).unref());
  return Promise.race([probe, late]);
}
