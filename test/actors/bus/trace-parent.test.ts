import { expect, test } from 'vitest';
import { formatTraceParent, parseTraceParent, TRACE_PARENT_BYTES } from '../../../actors/bus/tracing.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

test.each([
  [`00-${traceId}-${spanId}-01`, 1],
  [`00-${traceId}-${spanId}-00`, 0],
  // flags of later levels
  [`00-${traceId}-${spanId}-03`, 1],
  [`00-${traceId}-${spanId}-02`, 0],
  // a later version, and what it has more
  [`01-${traceId}-${spanId}-01`, 1],
  [`cc-${traceId}-${spanId}-01-what-the-future-brings`, 1],
])('%s is read', (text, traceFlags) => {
  expect(parseTraceParent(text)).toEqual({ traceId, spanId, traceFlags });
});

test.each([
  '',
  'nonsense',
  `ff-${traceId}-${spanId}-01`,
  `00-${traceId}-${spanId}-01-more`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId.slice(1)}-${spanId}-01`,
  `00-${traceId}-${spanId}-1`,
  ` 00-${traceId}-${spanId}-01`,
  `00-${traceId}-${spanId}-01\r\nX-Evil: 1`,
  `01-${traceId}-${spanId}-01-${'x'.repeat(300)}`,
])('%j is ignored', (text) => {
  expect(parseTraceParent(text)).toBeNull();
});

test('a written traceparent is read again, in the form of version 00', () => {
  const text = formatTraceParent({ traceId, spanId, traceFlags: 1 });
  expect(text).toBe(`00-${traceId}-${spanId}-01`);
  expect(text).toHaveLength(TRACE_PARENT_BYTES);
  expect(formatTraceParent({ traceId: '0'.repeat(32), spanId, traceFlags: 1 })).toBeNull();
});
