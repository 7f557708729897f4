import type { FastifyInstance } from 'fastify';
import type { Database } from '../../db/connection/database.ts';
import type { Bus } from '../../schema/messages.ts';

/** Time after which PostgreSQL counts as unreachable; milliseconds. */
const PROBE_TIMEOUT_MS = 2_000;

/**
 * `GET /health`: the process is alive. `GET /ready`: it can serve requests; without the bus it is `degraded`. A process that is shutting
 * down is not ready, although it still serves requests.
 */
export function healthRoutes(
  app: FastifyInstance,
  { database, bus, isLeaving }: { database: Database; bus: Bus; isLeaving: () => boolean },
): void {
  // Probes connect by IP address or by an internal host name.
  const options = { schema: { hide: true }, config: { isForAnyHost: true } };
  app.get('/health', options, () => ({ status: 'ok' }));

  app.get('/ready', options, async (_request, reply) => {
    if (isLeaving()) return reply.code(503).send({ status: 'unavailable', missing: ['draining'] });
    const isUp = await answers(database);
    if (!isUp) return reply.code(503).send({ status: 'unavailable', missing: ['postgresql'] });
    return bus.isConnected() ? { status: 'ok' } : { status: 'degraded', missing: ['bus'] };
  });
}

async function answers(database: Database): Promise<boolean> {
  const probe = database.pool.query({ text: 'select 1', query_timeout: PROBE_TIMEOUT_MS }).then(
    () => true,
    () => false,
  );
  // The pool may wait longer for a connection than a probe may take.
  const late = new Promise<boolean>((resolve) => setTimeout(resolve, PROBE_TIMEOUT_MS, false).unref());
  return Promise.race([probe, late]);
}
