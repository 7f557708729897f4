import { createServer } from 'node:http';
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
  // Node's own server: the supervisor of one machine loads no framework.
  const server = createServer((request, response) => {
    void respond(request.url ?? '').then(
      ({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body),
      (error: unknown) => {
        log.error({ err: error, event: 'metrics.failed' }, 'a request for metrics failed');
        response.writeHead(500).end();
      },
    );
  });
  const respond = async (url: string): Promise<{ status: number; type: string; body: string }> => {
    const [path = ''] = url.split('?');
    switch (path) {
      case '/health':
        return inJson(200, { status: 'ok' });
      case '/ready': {
        const away = await missing();
        return away.length > 0 ? inJson(503, { status: 'unavailable', missing: away }) : inJson(200, { status: 'ok' });
      }
      case '/metrics': {
        const [own, more] = await Promise.all([takeSnapshot(), others?.() ?? []]);
        return { status: 200, type: prometheusContentType, body: await writeMetrics([own, ...more]) };
      }
      default:
        return inJson(404, { status: 'not found' });
    }
  };
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host: monitoring.host, port: monitoring.port }, () => resolve());
    });
  } catch (error) {
    if (monitoring.isAskedFor) throw error;
    log.warn({ err: error, event: 'metrics.off' }, 'no /metrics: its port is taken; set METRICS_PORT');
    return nothing;
  }
  log.info({ event: 'metrics.listening', host: monitoring.host, port: monitoring.port }, 'monitoring');
  return {
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function inJson(status: number, body: object): { status: number; type: string; body: string } {
  return { status, type: 'application/json; charset=utf-8', body: JSON.stringify(body) };
}
