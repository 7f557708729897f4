import type { Logger } from 'pino';
import { prometheusContentType } from 'prom-client';
import type { Config } from '../../config.ts';
import { type MetricsSnapshot, takeSnapshot, writeMetrics } from './process-metrics.ts';

/** What a process reports at METRICS_HOST and METRICS_PORT, which must not be public. */
export interface Monitoring {
  close(): Promise<void>;
}

export interface MonitoringOptions {
  config: Config;
  log: Logger;
  /** names of the missing parts that the process needs; empty when it is ready */
  missing: () => Promise<string[]>;
  /** metrics of child processes, which have no page of their own */
  others?: () => Promise<MetricsSnapshot[]>;
}

/**
 * Serves `GET /health` (the process runs), `GET /ready` (it can work; otherwise 503 with the missing parts) and `GET /metrics` (Prometheus'
 * text format). Throws if a configured port is taken; if the default port is taken, logs a warning and serves nothing.
 */
export async function openMonitoring({ config, log, missing, others }: MonitoringOptions): Promise<Monitoring> {
  const { monitoring } = config;
  const nothing = { close: () => Promise.resolve() };
  if (monitoring === null) return nothing;
  // Where nothing is served, nothing is loaded.
  const { default: Fastify } = await import('fastify');
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
