import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

/*
 * What Postroom knows about traces. A *trace* begins with an SMTP transaction or a gateway request. Spans are created only inside a trace,
 * so sweeps and timers create none. Attributes hold ids, counts and codes: no user text, address or subject (docs/tracing.md).
 */

const tracer = trace.getTracer('postroom');
let isOn = false;

/** Whether this process exports spans. Until tracing is switched on, everything here does nothing. */
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
  /** milliseconds since performance.timeOrigin; set when the span began before now */
  startTime?: number;
}

/** Runs the work in a new span below the active one; without an active span it just runs it. A failure marks the span as failed. */
export function traced<T>(name: string, options: SpanOptions, work: (span: Span | null) => Promise<T>): Promise<T> {
  if (!isOn || !isRecording()) return work(null);
  return spanning(tracer.startSpan(name, options), work);
}

/** Begins a span below the one that a W3C traceparent names, or as the first of a trace. Null while tracing is off. */
export function beginSpan(name: string, options: SpanOptions, traceParent: string | null = null): Span | null {
  if (!isOn) return null;
  return tracer.startSpan(name, options, makeContext(traceParent) ?? ROOT_CONTEXT);
}

/** Runs the work with that span as the active one, and leaves the span open. */
export function inSpan<T>(span: Span | null, work: () => T): T {
  return span === null ? work() : context.with(trace.setSpan(ROOT_CONTEXT, span), work);
}

/** Runs the work outside any trace: work done for many must not appear as part of whichever came first. */
export function apart<T>(work: () => T): T {
  return isOn ? context.with(ROOT_CONTEXT, work) : work();
}

/** Runs the work below the span that a W3C traceparent names; outside any trace when there is none. */
export function below<T>(traceParent: string | null | undefined, work: () => T): T {
  if (!isOn) return work();
  return context.with(makeContext(traceParent) ?? ROOT_CONTEXT, work);
}

/** Returns the W3C traceparent of the active span, sampled or not; null when there is none. */
export function activeTraceParent(): string | null {
  const active = isOn ? trace.getSpanContext(context.active()) : undefined;
  return active === undefined ? null : formatTraceParent(active);
}

/** Returns the traceparent to store with mail: that of the active span if it is recorded, else null. */
export function traceParentToKeep(): string | null {
  return isOn && isRecording() ? activeTraceParent() : null;
}

/** Marks the span as failed, with the code or class of the error. Its message is left out, as it may contain user text. */
export function failSpan(span: Span | null, error: unknown): void {
  span?.setStatus({ code: SpanStatusCode.ERROR });
  span?.setAttribute('error.type', typeof error === 'string' ? error : errorType(error));
}

/**
 * Asks a question in a client span, and passes the traceparent to send with it (null: none). A process that only forwards a question
 * records no span.
 */
export function asking<T>(subject: string, ask: (traceParent: string | null) => Promise<T>): Promise<T> {
  if (!isOn) return ask(null);
  if (!isRecording()) return ask(activeTraceParent());
  const span = tracer.startSpan(`ask ${subject}`, { kind: SpanKind.CLIENT, attributes: ofSubject(subject) });
  return spanning(span, () => ask(activeTraceParent()));
}

/** Runs the handler of a question in a server span below the asker's span; without a span when the asker is not in a trace. */
export function traceReply<T>(
  subject: string,
  traceParent: string | null | undefined,
  handle: () => Promise<T>,
): Promise<T> {
  if (!isOn) return handle();
  const parent = makeContext(traceParent);
  if (parent === null) return context.with(ROOT_CONTEXT, handle);
  const options = { kind: SpanKind.SERVER, attributes: ofSubject(subject) };
  return spanning(tracer.startSpan(`answer ${subject}`, options, parent), handle);
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

function makeContext(traceParent: string | null | undefined): Context | null {
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

/** The HTTP header, NATS header and column that holds it (W3C Trace Context §3.2). */
export const TRACE_PARENT = 'traceparent';

/** Length in bytes of the longest form that we write. */
export const TRACE_PARENT_BYTES = 55;

/** W3C Trace Context §3.2.2: the form of version 00, and of later versions if they keep it. */
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const VERSION = '00';
const NO_VERSION = 'ff';
const MAX_LENGTH = 256;

/**
 * Returns the span that a traceparent names; null when it is malformed. `tracestate` is not passed on, because no part of Postroom reads
 * it.
 */
export function parseTraceParent(text: string): SpanContext | null {
  const [, version, traceId = '', spanId = '', flags = '', rest] = (text.length <= MAX_LENGTH && FORM.exec(text)) || [];
  if (version === undefined || version === NO_VERSION || (version === VERSION && rest !== undefined)) return null;
  const parsed = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
  return isSpanContextValid(parsed) ? parsed : null;
}

/** Returns the traceparent of a span; null when the span is invalid. */
export function formatTraceParent({ traceId, spanId, traceFlags }: SpanContext): string | null {
  if (!isSpanContextValid({ traceId, spanId, traceFlags })) return null;
  return `${VERSION}-${traceId}-${spanId}-0${traceFlags & 1}`;
}
