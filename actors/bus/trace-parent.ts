import { isSpanContextValid, type SpanContext } from '@opentelemetry/api';

/** The HTTP field, NATS header and column that bears it (W3C Trace Context §3.2). */
export const TRACE_PARENT = 'traceparent';

/** Bytes of its longest form that we write. */
export const TRACE_PARENT_BYTES = 55;

/** W3C Trace Context §3.2.2: the form of version 00, and of later ones as far as they keep it. */
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const VERSION = '00';
const NO_VERSION = 'ff';
const MAX_LENGTH = 256;

/** The span that a traceparent names; null when it is malformed. Its `tracestate`, which no part of ours reads, is not carried on. */
export function parseTraceParent(text: string): SpanContext | null {
  const [, version, traceId = '', spanId = '', flags = '', rest] = (text.length <= MAX_LENGTH && FORM.exec(text)) || [];
  if (version === undefined || version === NO_VERSION || (version === VERSION && rest !== undefined)) return null;
  const parsed = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
  return isSpanContextValid(parsed) ? parsed : null;
}

/** The traceparent of a span; null for one that is none. */
export function formatTraceParent({ traceId, spanId, traceFlags }: SpanContext): string | null {
  if (!isSpanContextValid({ traceId, spanId, traceFlags })) return null;
  return `${VERSION}-${traceId}-${spanId}-0${traceFlags & 1}`;
}
