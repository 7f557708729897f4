import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
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

/** Registers an SDK that keeps spans in memory. */
export function recordSpans(sampler?: Sampler): RecordedSpans {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
    ...(sampler === undefined ? {} : { sampler }),
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
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
      await provider.shutdown();
      trace.disable();
      context.disable();
    },
  };
}
