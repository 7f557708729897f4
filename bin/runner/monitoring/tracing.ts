import type { Logger } from 'pino';
import type { Config } from '../../config.ts';
import type { Tracing } from './tracing-sdk.ts';

/** Maximum time that a stop waits for the last spans to be sent. Milliseconds. */
export const TRACES_FLUSH_LIMIT_MS = 1_500;

/**
 * Sends the traces of this process to the configured collector; `program` identifies the process. Without a collector only OpenTelemetry's
 * API is loaded.
 */
export async function openTracing(config: Config, program: string, log: Logger): Promise<Tracing> {
  if (config.tracing === null) return { close: () => Promise.resolve() };
  const { startSdk } = await import('./tracing-sdk.ts');
  return startSdk(config.tracing, program, log);
}
