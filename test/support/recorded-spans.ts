import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { switchTracing } from '../../actors/bus/tracing.ts';

/** The spans that ended in this process. */
export interface RecordedSpans {
  all(): ReadableSpan[];
  /** the only one of that name; throws when there is none, or more */
  one(name: string): ReadableSpan;
  clear(): void;
  close(): Promise<void>;
}

/** The SDK of this process, which keeps spans in memory: tracers keep the first one, so all test files of a worker have the same. */
let memory: InMemorySpanExporter | null = null;

function register(): InMemorySpanExporter {
  const exporter = new InMemorySpanExporter();
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  return exporter;
}

/** Records the spans of this process until `close`. */
export function recordSpans(): RecordedSpans {
  memory ??= register();
  const exporter = memory;
  exporter.reset();
  switchTracing(true);
  return {
    all: () => exporter.getFinishedSpans(),
    one(name) {
      const found = exporter.getFinishedSpans().filter((span) => span.name === name);
      const [span] = found;
      if (span === undefined || found.length > 1) throw new Error(`${found.length} spans are named ${name}`);
      return span;
    },
    clear: () => exporter.reset(),
    async close() {
      switchTracing(false);
      exporter.reset();
    },
  };
}
