import {
  type Attributes,
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { formatTraceParent, parseTraceParent } from './trace-parent.ts';

/*
 * What every part of the service knows of traces. A *trace* begins with an SMTP transaction or with a request of the gateway; spans are
 * made only where one has begun, so that sweeps and timers make none. Attributes hold ids, counts and codes: nothing that a user wrote,
 * no address, no subject (docs/tracing.md).
 */

const tracer = trace.getTracer('postroom');
let isOn = false;

/** Whether spans of this process go anywhere. Until it is switched on, everything here does nothing. */
export function isTracing(): boolean {
  return isOn;
}

/** Set by the code that registers an SDK with @opentelemetry/api in this process. */
export function switchTracing(on: boolean): void {
  isOn = on;
}

export interface SpanOptions {
  kind?: SpanKind;
  attributes?: Attributes;
  /** performance.timeOrigin-based milliseconds, when it began before now */
  startTime?: number;
}

/** Does the work in a span of its own below the active one; where none is active it is only done. A failure is the span's, too. */
export function traced<T>(name: string, options: SpanOptions, work: (span: Span | null) => Promise<T>): Promise<T> {
  if (!isOn || !isRecording()) return work(null);
  return spanning(tracer.startSpan(name, options), work);
}

/** Begins a span: below the one that a W3C traceparent names, or as the first of a trace. Null while tracing is off. */
export function beginSpan(name: string, options: SpanOptions, traceParent: string | null = null): Span | null {
  if (!isOn) return null;
  return tracer.startSpan(name, options, contextOf(traceParent) ?? ROOT_CONTEXT);
}

/** Does the work with that span as the active one, and leaves it open. */
export function inSpan<T>(span: Span | null, work: () => T): T {
  return span === null ? work() : context.with(trace.setSpan(ROOT_CONTEXT, span), work);
}

/** Does the work as part of no trace: what is done for many must not look like a part of whichever was first. */
export function apart<T>(work: () => T): T {
  return isOn ? context.with(ROOT_CONTEXT, work) : work();
}

/** Does the work below the span of a W3C traceparent that came from elsewhere; below none when there is none. */
export function below<T>(traceParent: string | null | undefined, work: () => T): T {
  if (!isOn) return work();
  return context.with(contextOf(traceParent) ?? ROOT_CONTEXT, work);
}

/** The W3C traceparent of the active span, sampled or not; null when there is none. */
export function activeTraceParent(): string | null {
  const active = isOn ? trace.getSpanContext(context.active()) : undefined;
  return active === undefined ? null : formatTraceParent(active);
}

/** The traceparent to be kept with mail: that of the active span when it is recorded, else null. */
export function traceParentToKeep(): string | null {
  return isOn && isRecording() ? activeTraceParent() : null;
}

/** Marks the span as failed. Of an error its code or class is told, never its message, which may hold what users wrote. */
export function failSpan(span: Span | null, error: unknown): void {
  span?.setStatus({ code: SpanStatusCode.ERROR });
  span?.setAttribute('error.type', typeof error === 'string' ? error : errorType(error));
}

/**
 * Asks a question in a client span, and gives the traceparent that is to travel with it (null: none). A process that only passes a
 * question on records no span for that.
 */
export function asking<T>(subject: string, ask: (traceParent: string | null) => Promise<T>): Promise<T> {
  if (!isOn) return ask(null);
  if (!isRecording()) return ask(activeTraceParent());
  const span = tracer.startSpan(`ask ${subject}`, { kind: SpanKind.CLIENT, attributes: ofSubject(subject) });
  return spanning(span, () => ask(activeTraceParent()));
}

/** Answers a question in a server span below the asker's; without one when the asker is part of no trace. */
export function answering<T>(
  subject: string,
  traceParent: string | null | undefined,
  answer: () => Promise<T>,
): Promise<T> {
  if (!isOn) return answer();
  const parent = contextOf(traceParent);
  if (parent === null) return context.with(ROOT_CONTEXT, answer);
  const options = { kind: SpanKind.SERVER, attributes: ofSubject(subject) };
  return spanning(tracer.startSpan(`answer ${subject}`, options, parent), answer);
}

async function spanning<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    return await context.with(trace.setSpan(context.active(), span), () => work(span));
  } catch (error) {
    failSpan(span, error);
    throw error;
  } finally {
    span.end();
  }
}

function isRecording(): boolean {
  return trace.getSpan(context.active())?.isRecording() === true;
}

function contextOf(traceParent: string | null | undefined): Context | null {
  const parsed = traceParent == null ? null : parseTraceParent(traceParent);
  return parsed === null ? null : trace.setSpanContext(ROOT_CONTEXT, { ...parsed, isRemote: true });
}

function ofSubject(subject: string): Attributes {
  return { 'rpc.system': 'postroom', 'rpc.method': subject };
}

function errorType(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string' && /^\w{1,40}$/.test(code)) return code;
  return error instanceof Error ? error.constructor.name : typeof error;
}
