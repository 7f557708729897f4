import { isSpanContextValid, type SpanContext } from '@opentelemetry/api';

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
