import { connect } from '@nats-io/transport-node';
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectNatsBus } from '../../../actors/bus/nats.ts';
import { activeTraceParent, beginSpan, below, inSpan, switchTracing } from '../../../actors/bus/tracing.ts';
import type { Bus } from '../../../schema/messages.ts';
import { type RecordedSpans, recordSpans } from '../../support/recorded-spans.ts';
import { startNatsServer } from '../../support/servers/nats.ts';
import { waitFor } from '../../support/wait-for.ts';
import { accepted, connected, question, type Site, settle, silent, transports } from './transports.ts';

let spans: RecordedSpans;
beforeAll(() => {
  spans = recordSpans();
});
afterAll(() => spans.close());
beforeEach(() => {
  switchTracing(true);
  spans.clear();
});

const NOT_SAMPLED = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';

describe.each(transports)('over the $transport bus', ({ open }) => {
  let site: Site;
  beforeEach(async () => {
    site = await open();
  });
  afterEach(() => site.close());

  /** What its server sees as the active span while it answers a question. */
  async function serving(): Promise<(string | null)[]> {
    const seen: (string | null)[] = [];
    site.servers[1].serve('receiving.message.accept', async () => {
      seen.push(activeTraceParent());
      await Promise.resolve();
      return accepted('em_1');
    });
    await settle(site.servers[1]);
    spans.clear();
    return seen;
  }

  async function askIn(name: string): Promise<void> {
    const span = beginSpan(name, {});
    await inSpan(span, () => site.asker.ask('receiving.message.accept', question, { bytes: Buffer.alloc(100) }));
    span?.end();
  }

  test('a question is served in a span below that of its caller', async () => {
    const seen = await serving();
    await askIn('work');
    await waitFor(() => expect(spans.all().map(({ name }) => name)).toContain('work'));
    const [work, client] = [spans.one('work'), spans.one('ask receiving.message.accept')];
    const servers = spans.all().filter(({ kind }) => kind === SpanKind.SERVER);
    const last = servers.find((span) => seen[0]?.includes(span.spanContext().spanId));
    expect(new Set(spans.all().map((span) => span.spanContext().traceId)).size).toBe(1);
    expect(client.kind).toBe(SpanKind.CLIENT);
    expect(client.parentSpanContext?.spanId).toBe(work.spanContext().spanId);
    expect(servers[0]?.name).toBe('answer receiving.message.accept');
    expect(servers.some((span) => span.parentSpanContext?.spanId === client.spanContext().spanId)).toBe(true);
    expect(last).toBeDefined();
    expect(client.attributes).toEqual({ 'rpc.system': 'postroom', 'rpc.method': 'receiving.message.accept' });
  });

  test('concurrent questions keep their traces apart', async () => {
    const seen: Record<string, string | null> = {};
    site.servers[1].serve('receiving.message.accept', async ({ helo }) => {
      await new Promise((resolve) => setTimeout(resolve, Number(helo) % 3));
      seen[helo] = activeTraceParent();
      return accepted(helo);
    });
    await settle(site.servers[1]);
    const traces = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        const span = beginSpan('work', {});
        await inSpan(span, () => site.asker.ask('receiving.message.accept', { ...question, helo: String(n) }));
        return [String(n), span?.spanContext().traceId];
      }),
    );
    for (const [helo, traceId] of traces) expect(seen[helo ?? '']).toContain(traceId);
  });

  test('a question outside of any span creates none', async () => {
    const seen = await serving();
    await site.asker.ask('receiving.message.accept', question);
    expect(seen).toEqual([null]);
    expect(spans.all()).toEqual([]);
  });

  test('an unsampled trace is passed on as unsampled, and records nothing', async () => {
    const seen = await serving();
    await below(NOT_SAMPLED, () => site.asker.ask('receiving.message.accept', question));
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/);
    expect(spans.all()).toEqual([]);
  });

  test('a failed reply marks both its spans, without its message', async () => {
    site.servers[1].serve('receiving.message.accept', async () => {
      throw new TypeError('for bob@inbox.test');
    });
    await settle(site.servers[1]);
    spans.clear();
    await expect(askIn('work')).rejects.toThrow('bob@inbox.test');
    const failed = spans.all().filter(({ status }) => status.code === SpanStatusCode.ERROR);
    expect(failed.map(({ attributes }) => attributes['error.type'])).toContain('TypeError');
    expect(failed.some(({ name }) => name.startsWith('ask '))).toBe(true);
    expect(
      JSON.stringify(spans.all().map(({ attributes, status, events }) => [attributes, status, events])),
    ).not.toMatch(/bob/);
  });

  test.each(['wake', 'broadcast'])('a %s carries the span in which it was sent', async (manner) => {
    const seen: (string | null)[] = [];
    const take = () => void seen.push(activeTraceParent());
    site.servers[1].onWake('receiving.parse.wake', take);
    site.servers[1].subscribe('routing.changed', take);
    await settle(site.servers[1]);
    const say = (bus: Bus) =>
      manner === 'wake'
        ? bus.wake('receiving.parse.wake', { workspaceId: 'usr_1', emailIds: [] })
        : bus.publish('routing.changed', { name: 'inbox.test' });
    const span = beginSpan('work', {});
    inSpan(span, () => say(site.asker));
    say(site.asker);
    await waitFor(() => expect(seen).toHaveLength(2));
    expect(seen[0]?.split('-')[1]).toBe(span?.spanContext().traceId);
    expect(seen[1]).toBeNull();
  });

  test('nothing is carried while tracing is off', async () => {
    const span = beginSpan('work', {});
    switchTracing(false);
    const seen: (string | undefined)[] = [];
    site.servers[1].serve('receiving.message.accept', async () => {
      seen.push(trace.getActiveSpan()?.spanContext().spanId);
      return accepted('em_1');
    });
    await settle(site.servers[1]);
    await inSpan(span, () => site.asker.ask('receiving.message.accept', question));
    expect(spans.all()).toEqual([]);
    expect(seen).toHaveLength(1);
  });
});

test('over NATS a traced message has the W3C header, and one without a span has no headers', async () => {
  const server = await startNatsServer();
  const bus = connectNatsBus({ url: server.url, log: silent, name: 'asker' });
  const listener = await connect({ servers: server.url });
  try {
    await connected(bus);
    const seen: (string | null)[] = [];
    listener.subscribe('postroom.>', {
      callback: (_error, message) => {
        if (message.subject.startsWith('postroom.inbox.')) return;
        seen.push(message.headers === undefined ? null : message.headers.get('traceparent'));
      },
    });
    await listener.flush();
    const span = beginSpan('work', {});
    inSpan(span, () => bus.wake('receiving.parse.wake', { workspaceId: 'usr_1', emailIds: [] }));
    bus.wake('receiving.parse.wake', { workspaceId: 'usr_1', emailIds: [] });
    await inSpan(span, () => bus.ask('receiving.capacity.check', {}, { limitMs: 500 }).catch(() => undefined));
    await waitFor(() => expect(seen).toHaveLength(3));
    const { traceId = '', spanId = '' } = span?.spanContext() ?? {};
    expect(seen[0]).toBe(`00-${traceId}-${spanId}-01`);
    expect(seen[1]).toBeNull();
    expect(seen[2]).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  } finally {
    await listener.close();
    await bus.close();
    await server.close();
  }
});

test('over NATS the header section counts as payload: a question that just fits without it is streamed', async () => {
  const server = await startNatsServer({ maxPayload: '64KB' });
  const bus = connectNatsBus({ url: server.url, log: silent, name: 'both' });
  try {
    await connected(bus);
    bus.serve('receiving.message.accept', async (_request, bytes) => accepted(String(bytes.byteLength)));
    await settle(bus);
    for (let left = 0; left < 1_000; left += 10) {
      const bytes = Buffer.alloc(65_536 - left);
      const span = beginSpan('work', {});
      const reply = await inSpan(span, () => bus.ask('receiving.message.accept', question, { bytes }));
      expect(reply).toEqual(accepted(String(bytes.byteLength)));
    }
  } finally {
    await bus.close();
    await server.close();
  }
});
