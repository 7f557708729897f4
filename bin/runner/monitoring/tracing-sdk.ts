import { hostname } from 'node:os';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import type { Logger } from 'pino';
import { switchTracing } from '../../../actors/bus/tracing.ts';
import type { Config } from '../../config.ts';
import { VERSION } from '../version.ts';

/** Where the spans of this process go. */
export interface Tracing {
  /** Sends what is left, and records nothing more. */
  close(): Promise<void>;
}

/** Spans that wait to be sent; beyond, they are dropped: a collector that is away costs this much memory and nothing else. */
const QUEUE_SPANS = 8_192;
const BATCH_SPANS = 512;
/** Milliseconds that a span waits for company, and that one sending may take. */
const SEND_EVERY_MS = 1_000;
const SEND_LIMIT_MS = 5_000;

/** Registers the SDK of OpenTelemetry in this process: once. */
export function startSdk(settings: NonNullable<Config['tracing']>, program: string, log: Logger): Tracing {
  const { endpoint, headers, ratio } = settings;
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers, timeoutMillis: SEND_LIMIT_MS });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': `postroom-${program}`,
      'service.version': VERSION,
      'service.instance.id': `${hostname()}-${process.pid}`,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [
      new BatchSpanProcessor(tellingOnce(exporter, log), {
        maxQueueSize: QUEUE_SPANS,
        maxExportBatchSize: BATCH_SPANS,
        scheduledDelayMillis: SEND_EVERY_MS,
        exportTimeoutMillis: 2 * SEND_LIMIT_MS,
      }),
    ],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  switchTracing(true);
  log.info({ event: 'traces.on', host: new URL(endpoint).host, ratio }, 'traces are sent');
  return {
    async close() {
      switchTracing(false);
      await provider.shutdown();
    },
  };
}

/** The exporter, with one line when the collector goes and one when it is back, however often it is tried meanwhile. */
function tellingOnce(exporter: SpanExporter, log: Logger): SpanExporter {
  let isAway = false;
  const note = ({ code, error }: ExportResult) => {
    const failed = code !== ExportResultCode.SUCCESS;
    if (failed === isAway) return;
    isAway = failed;
    if (failed) log.warn({ err: error, event: 'traces.away' }, 'traces cannot be sent, and are dropped');
    else log.info({ event: 'traces.back' }, 'traces are sent again');
  };
  return {
    export: (spans: ReadableSpan[], done: (result: ExportResult) => void) =>
      exporter.export(spans, (result) => {
        note(result);
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
