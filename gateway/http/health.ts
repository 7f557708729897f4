import type { FastifyInstance } from 'fastify';
import type { Database } from '../../db/connection/database.ts';
import type { Bus } from '../../schema/messages.ts';

/** How long PostgreSQL has to answer before it counts as away; milliseconds. */
const PROBE_TIMEOUT_MS = 2_000;

/**
 * `GET /health`: the process lives. `GET /ready`: it can serve; a bus that is away makes it `degraded` only. A process that is
 * about to end is not ready, though it still serves whoever comes.
 */
export function healthRoutes(
  app: FastifyInstance,
  { database, bus, isLeaving }: { database: Database; bus: Bus; isLeaving: () => boolean },
): void {
  // Probes ask an address, or a server by a name that only its own network knows.
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
  // The pool may wait longer for a connection than a probe should.
  const late = new Promise<boolean>((resolve) => setTimeout(resolve, PROBE_TIMEOUT_MS, false).unref());
  return Promise.race([probe, late]);
}
