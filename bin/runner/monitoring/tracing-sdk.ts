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

/** Destination of the spans of this process. */
export interface Tracing {
  /** Sends the remaining spans and stops recording. */
  close(): Promise<void>;
}

/** Maximum number of spans waiting to be sent. More are dropped, so an unreachable collector costs only this much memory. */
const QUEUE_SPANS = 8_192;
const BATCH_SPANS = 512;
/** Time that spans are collected before they are sent together, and the time limit of one request. Milliseconds. */
const SEND_EVERY_MS = 1_000;
const SEND_LIMIT_MS = 5_000;

/** Registers OpenTelemetry's SDK in this process. Call it once. */
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

/** An exporter that logs one line when the collector becomes unreachable and one when it is back, however many requests fail in between. */
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
