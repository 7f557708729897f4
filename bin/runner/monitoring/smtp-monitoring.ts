import type { Logger } from 'pino';
import type { Haraka } from '../../../haraka-plugins/start.ts';
import type { Workers } from '../../../haraka-plugins/workers.ts';
import type { Config } from '../../config.ts';
import { measureConnection } from './measure-connections.ts';
import { openMonitoring } from './monitoring.ts';
import { addUp, type MetricsSnapshot, measureProcess, takeSnapshot } from './process-metrics.ts';
import { askProcess, NESTED_REPLY_LIMIT_MS, respondProcess } from './process-questions.ts';
import { createReadiness, type Readiness } from './readiness.ts';

export interface SmtpMonitoringOptions {
  config: Config;
  log: Logger;
  /** Haraka in this process, or its worker processes */
  server: Haraka | Workers;
  /** whether a parent process collects our metrics; otherwise this process serves its own page */
  isShownByParent: boolean;
}

/** Makes the state of SMTP visible: on a page of its own, or to the parent process. */
export async function openSmtpMonitoring(options: SmtpMonitoringOptions): Promise<Readiness> {
  const { config, log, server, isShownByParent } = options;
  const workers = 'channels' in server ? server : null;
  if ('isConnected' in server) measureConnection(server, config.busSocket === null ? 'nats' : 'socket');
  measureProcess('smtp');
  const readiness = createReadiness('isConnected' in server ? { bus: server } : { more: () => listMissing(server) });
  const metrics = async (): Promise<MetricsSnapshot> =>
    addUp([await takeSnapshot(), ...(workers === null ? [] : await listSnapshots(workers))]);
  if (isShownByParent) respondProcess({ metrics, missing: readiness.missing });
  else
    await openMonitoring({
      config,
      log,
      missing: readiness.missing,
      ...(workers === null ? {} : { others: () => listSnapshots(workers) }),
    });
  return readiness;
}

async function listSnapshots(workers: Workers): Promise<MetricsSnapshot[]> {
  const replies = await Promise.all(
    workers.channels().map((channel) => askProcess(channel, 'metrics', NESTED_REPLY_LIMIT_MS)),
  );
  // They come from our own program.
  return replies.filter((reply) => reply !== null) as MetricsSnapshot[];
}

/** One ready worker is enough. */
async function listMissing(workers: Workers): Promise<string[]> {
  const replies = await Promise.all(
    workers.channels().map((channel) => askProcess(channel, 'missing', NESTED_REPLY_LIMIT_MS)),
  );
  const missing = replies.filter((reply) => reply !== null) as string[][];
  if (missing.some((away) => away.length === 0)) return [];
  return missing[0] ?? ['smtp'];
}
