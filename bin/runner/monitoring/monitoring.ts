import Fastify from 'fastify';
import type { Logger } from 'pino';
import { prometheusContentType } from 'prom-client';
import type { Config } from '../../config.ts';
import { type MetricsSnapshot, takeSnapshot, writeMetrics } from './process-metrics.ts';

/** What a process tells of itself, at METRICS_HOST and METRICS_PORT: not for the world. */
export interface Monitoring {
  close(): Promise<void>;
}

export interface MonitoringOptions {
  config: Config;
  log: Logger;
  /** names of what is missing for the process to do its work; none when it is ready */
  missing: () => Promise<string[]>;
  /** the metrics of processes that this one started, which have no page of their own */
  others?: () => Promise<MetricsSnapshot[]>;
}

/**
 * Serves `GET /health` (the process lives), `GET /ready` (it does its work; else 503 with what is missing) and `GET /metrics`
 * (Prometheus' text format). Throws when it cannot listen at a port that was asked for; at the usual one it does without, and says so.
 */
export async function openMonitoring({ config, log, missing, others }: MonitoringOptions): Promise<Monitoring> {
  const { monitoring } = config;
  const nothing = { close: () => Promise.resolve() };
  if (monitoring === null) return nothing;
  const app = Fastify({ logger: false, forceCloseConnections: true });
  app.get('/health', () => ({ status: 'ok' }));
  app.get('/ready', async (_request, reply) => {
    const away = await missing();
    if (away.length > 0) return reply.code(503).send({ status: 'unavailable', missing: away });
    return { status: 'ok' };
  });
  app.get('/metrics', async (_request, reply) => {
    const [own, more] = await Promise.all([takeSnapshot(), others?.() ?? []]);
    return reply.type(prometheusContentType).send(await writeMetrics([own, ...more]));
  });
  try {
    await app.listen({ host: monitoring.host, port: monitoring.port });
  } catch (error) {
    await app.close();
    if (monitoring.isAskedFor) throw error;
    log.warn({ err: error, event: 'metrics.off' }, 'no /metrics: its port is taken; set METRICS_PORT');
    return nothing;
  }
  log.info({ event: 'metrics.listening', host: monitoring.host, port: monitoring.port }, 'monitoring');
  return { close: () => app.close() };
}
