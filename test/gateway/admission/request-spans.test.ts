import type { AddressInfo } from 'node:net';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type RecordedSpans, recordSpans } from '../../support/recorded-spans.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { waitFor } from '../../support/wait-for.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const MUTATION =
  'mutation Secret7f3a($input: SendEmailInput!) { secret7f3a: sendEmail(input: $input) { __typename ... on SendEmailPayload { email { id } } } }';

describe('with tracing', () => {
  let spans: RecordedSpans;
  let gateway: TestGateway;
  let box: TestMailbox;
  let url: string;
  beforeAll(async () => {
    spans = recordSpans();
    gateway = await openTestGateway();
    box = await gateway.mailbox();
    await gateway.app.listen({ host: '127.0.0.1', port: 0 });
    url = `http://127.0.0.1:${(gateway.app.server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await gateway?.close();
    await spans.close();
  });
  beforeEach(() => spans.clear());

  /** Over a socket, as a body that comes in pieces leaves the context in which the request began. */
  async function request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${box.apiKey}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, id: response.headers.get('x-request-id'), text };
  }

  const awaitSpan = (name: string) => waitFor(() => spans.one(name));
  const email = () => ({ from: box.address, to: 'x@elsewhere.test', subject: 'secret7f3a', text: 'secret7f3a' });
  const readTrace = async (emailId: string) =>
    (
      await gateway.actor.pool.query<{ trace_parent: string }>(
        'select trace_parent from email_trace where workspace_id = $1 and email_id = $2',
        [box.workspaceId, emailId],
      )
    ).rows[0]?.trace_parent;

  test('a request is a span that is named after its route, not its path', async () => {
    const { id } = await request('GET', '/api/e2/emails/em_secret7f3a?search=secret7f3a');
    const span = await awaitSpan('GET /api/e2/emails/:id');
    expect(span.kind).toBe(SpanKind.SERVER);
    expect(span.parentSpanContext).toBeUndefined();
    expect(span.attributes).toEqual({
      'http.request.method': 'GET',
      'http.route': '/api/e2/emails/:id',
      'http.response.status_code': 404,
      'postroom.request.id': id,
      'user.id': box.workspaceId,
    });
    expect(span.status.code).toBe(SpanStatusCode.UNSET);
  });

  test('the trace of the client is continued, and stored with the mail that it sends', async () => {
    const traceparent = `00-${TRACE}-${PARENT}-01`;
    const { status, text } = await request('POST', '/api/e2/emails', email(), { traceparent });
    expect(status).toBe(200);
    const span = await awaitSpan('POST /api/e2/emails');
    expect(span.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: PARENT });
    expect(await readTrace(JSON.parse(text).id)).toBe(`00-${TRACE}-${span.spanContext().spanId}-01`);
  });

  test('a trace that the client does not record is not recorded or stored', async () => {
    const traceparent = `00-${TRACE}-${PARENT}-00`;
    const { text } = await request('POST', '/api/e2/emails', email(), { traceparent });
    expect(await readTrace(JSON.parse(text).id)).toBeUndefined();
    expect(spans.all()).toEqual([]);
  });

  test('a malformed traceparent starts a new trace', async () => {
    await request('GET', '/api/e2/emails', undefined, { traceparent: '00-secret7f3a' });
    expect((await awaitSpan('GET /api/e2/emails')).parentSpanContext).toBeUndefined();
  });

  test('an operation is a span below its request, named after the schema, and stored with its mail', async () => {
    const { text } = await request('POST', '/graphql', {
      query: MUTATION,
      variables: { input: { ...email(), to: ['x@elsewhere.test'] } },
    });
    const response = JSON.parse(text);
    const [operation, http] = [await awaitSpan('graphql mutation sendEmail'), await awaitSpan('POST /graphql')];
    expect(operation.parentSpanContext?.spanId).toBe(http.spanContext().spanId);
    expect(operation.attributes).toEqual({ 'graphql.operation.type': 'mutation' });
    expect(await readTrace(response.data.secret7f3a.email.id)).toContain(operation.spanContext().spanId);
    expect(JSON.stringify(spans.all().map(({ name, attributes }) => [name, attributes]))).not.toContain('7f3a');
  });

  test('a document that is refused creates no span of an operation', async () => {
    await request('POST', '/graphql', { query: '{ email(id: "em_secret7f3a") { nonsense7f3a } }' });
    await awaitSpan('POST /graphql');
    expect(spans.all().map(({ name }) => name)).toEqual(['POST /graphql']);
  });

  test('probes, pages and unknown paths create no span', async () => {
    for (const path of ['/health', '/ready', '/', '/nowhere', '/api/e2/secret7f3a']) await request('GET', path);
    await request('GET', '/api/e2/emails');
    await awaitSpan('GET /api/e2/emails');
    expect(
      spans
        .all()
        .map(({ name }) => name)
        .filter((name) => !name.endsWith('*')),
    ).toEqual(['GET /api/e2/emails']);
    expect(JSON.stringify(spans.all().map(({ name, attributes }) => [name, attributes]))).not.toContain('7f3a');
  });

  test('a request whose client disconnected ends as aborted', async () => {
    const leaving = new AbortController();
    const asked = fetch(`${url}/api/e2/emails/wait`, {
      method: 'POST',
      headers: { authorization: `Bearer ${box.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ timeout: 60 }),
      signal: leaving.signal,
    }).catch(() => undefined);
    setTimeout(() => leaving.abort(), 500);
    await asked;
    const span = await waitFor(() => spans.one('POST /api/e2/emails/wait'));
    expect(span.status.code).toBe(SpanStatusCode.ERROR);
    expect(span.attributes['error.type']).toBe('aborted');
    expect(span.attributes).not.toHaveProperty('http.response.status_code');
  });
});

test('a gateway has no tracing hooks without tracing, and stores no trace of a client', async () => {
  const gateway = await openTestGateway();
  try {
    const box = await gateway.mailbox();
    const response = await gateway.app.inject({
      method: 'POST',
      url: '/api/e2/emails',
      headers: { authorization: `Bearer ${box.apiKey}`, traceparent: `00-${TRACE}-${PARENT}-01` },
      payload: { from: box.address, to: 'x@elsewhere.test', subject: 's', text: 't' },
    });
    expect(response.statusCode).toBe(200);
    expect((await gateway.actor.pool.query('select * from email_trace')).rows).toEqual([]);
  } finally {
    await gateway.close();
  }
});
