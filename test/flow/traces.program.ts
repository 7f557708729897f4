import { createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { isQuick } from '../support/chaos-figures.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../support/servers/otlp-receiver.ts';
import { type ServiceMode, until } from '../support/servers/service.ts';
import { sendOne } from '../support/servers/smtp-load.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { SendingStage } from '../support/stages/sending-stage.ts';

/** Stands in every part of the tests' mail, addresses, endpoint and request: nothing of that may be in a trace. */
const CANARY = 'canary7f3a';
const COLLECTOR_KEY = 'key-of-the-collector';
const CLIENT_TRACE = '0af7651916cd43dd8448eb211c80319c';
const CLIENT_SPAN = 'b7ad6b7169203331';

const INTERNAL = 1;
const SERVER = 2;
const CLIENT = 3;

/** The stage with an address that leads to a webhook. */
interface Site {
  stage: SendingStage;
  webhook: WebhookReceiver;
  address: string;
  close(): Promise<void>;
}

async function openSite(mode: ServiceMode, environment: Record<string, string>): Promise<Site> {
  const webhook = await startWebhookReceiver();
  const stage = await SendingStage.start(mode, environment);
  const { account } = stage;
  const url = `${webhook.url}?${CANARY}`;
  const endpoint = await account.call('POST', '/endpoints', { name: CANARY, type: 'webhook', config: { url } });
  expect(endpoint.status).toBe(201);
  const address = `${CANARY}@${account.domain}`;
  const of = { address, domainId: account.domainId, endpointId: endpoint.body.id };
  expect((await account.call('POST', '/email-addresses', of)).status).toBe(201);
  return {
    stage,
    webhook,
    address,
    async close() {
      await stage.stop();
      await webhook.stop();
    },
  };
}

let mails = 0;

/** Hands a new mail in over SMTP; returns the id of its email. */
async function receive({ stage, address }: Site): Promise<string> {
  const result = await sendOne({
    port: stage.service.smtpPort,
    reversePath: `${CANARY}@elsewhere.test`,
    recipients: [address],
    bytes: Buffer.from(
      `From: ${CANARY} <${CANARY}@elsewhere.test>\r\nSubject: ${CANARY} ${mails++}\r\n\r\n${CANARY} in the body\r\n`,
    ),
  });
  expect(result.code).toBe(250);
  return /em_[0-9a-f]{32}/.exec(result.reply ?? '')?.[0] ?? '';
}

/** The one span of that name in the trace; throws otherwise. */
function one(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = spans.filter((span) => span.name === name);
  const [span] = found;
  if (span === undefined || found.length > 1)
    throw new Error(`${found.length} spans are named ${name}, of ${spans.map((each) => each.name).join(', ')}`);
  return span;
}

/** All spans of the trace in which something was done to the email. */
function readTrace(spans: readonly ReceivedSpan[], emailId: string): ReceivedSpan[] {
  const traceIds = new Set(
    spans.flatMap((span) => (JSON.stringify(span.attributes).includes(emailId) ? [span.traceId] : [])),
  );
  expect(traceIds.size).toBe(1);
  return spans.filter((span) => traceIds.has(span.traceId));
}

const rows = (stage: SendingStage) =>
  stage.query<{ email_id: string; trace_parent: string }>('select email_id, trace_parent from email_trace');

/** The process of one machine that has that process of the split mode. */
const namePart = (name: string) => (['gateway', 'sending', 'scheduling'].includes(name) ? 'gateway' : 'mail');

describe.each<ServiceMode>(isQuick ? ['split'] : ['split', 'single'])('traces (%s)', (mode) => {
  let receiver: OtlpReceiver;
  let site: Site;
  const nameService = (name: string) => `postroom-${mode === 'split' ? name : namePart(name)}`;

  beforeAll(async () => {
    receiver = await startOtlpReceiver();
    site = await openSite(mode, {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${COLLECTOR_KEY}`,
    });
  }, 300_000);
  afterAll(async () => {
    await site?.close();
    await receiver?.close();
  });

  /** Resolves with the trace of the email when it has those spans. */
  async function traceWith(emailId: string, names: string[]): Promise<ReceivedSpan[]> {
    await receiver.until((spans) => {
      const trace = readTrace(spans, emailId);
      for (const name of names) one(trace, name);
    });
    return readTrace(receiver.spans, emailId);
  }

  test('one mail from SMTP to a webhook is one trace over all processes, each span below its cause', async () => {
    const emailId = await receive(site);
    const names = ['smtp transaction', 'accept', 'parse', 'thread', 'route', 'webhook attempt'];
    const trace = await traceWith(emailId, names);

    const smtp = one(trace, 'smtp transaction');
    const asked = one(trace, 'ask receiving.message.accept');
    const responded = one(trace, 'answer receiving.message.accept');
    const accept = one(trace, 'accept');
    expect(smtp).toMatchObject({ service: nameService('smtp'), parentSpanId: '', kind: SERVER, isFailed: false });
    expect(smtp.attributes).toMatchObject({ 'postroom.smtp.reply_code': 250, 'session.id': expect.any(String) });
    expect(asked).toMatchObject({ service: nameService('smtp'), parentSpanId: smtp.spanId, kind: CLIENT });
    expect(responded).toMatchObject({ service: nameService('receiving'), parentSpanId: asked.spanId, kind: SERVER });
    expect(accept).toMatchObject({ service: nameService('receiving'), parentSpanId: responded.spanId, kind: INTERNAL });
    for (const [name, process] of [
      ['parse', 'receiving'],
      ['thread', 'receiving'],
      ['route', 'delivery'],
      ['webhook attempt', 'delivery'],
    ] as const) {
      const span = one(trace, name);
      expect(span).toMatchObject({ service: nameService(process), parentSpanId: accept.spanId, isFailed: false });
      expect(span.attributes['postroom.email.id']).toBe(emailId);
      expect(span.endedAtNs).toBeGreaterThanOrEqual(span.startedAtNs);
    }
    expect(one(trace, 'webhook attempt')).toMatchObject({
      kind: CLIENT,
      attributes: { 'http.response.status_code': 200, 'postroom.attempt': 1 },
    });
    expect(new Set(trace.map(({ instance }) => instance)).size).toBe(mode === 'split' ? 3 : 2);
    expect(await rows(site.stage)).toContainEqual({
      email_id: emailId,
      trace_parent: `00-${accept.traceId}-${accept.spanId}-01`,
    });
    expect(receiver.headers[0]?.['x-collector-key']).toBe(COLLECTOR_KEY);
  });

  test('are not sent to endpoints of users', async () => {
    const emailId = await receive(site);
    await traceWith(emailId, ['webhook attempt']);
    expect(site.webhook.requests.length).toBeGreaterThan(0);
    for (const { headers } of site.webhook.requests) expect(headers).not.toHaveProperty('traceparent');
  });

  test('of two mails are two traces', async () => {
    const ids = [await receive(site), await receive(site)];
    const traces = await Promise.all(ids.map((id) => traceWith(id, ['smtp transaction', 'webhook attempt'])));
    expect(new Set(traces.map((trace) => trace[0]?.traceId)).size).toBe(2);
  });

  if (mode === 'split')
    test('continue where a process was stopped and no wake arrived', async () => {
      await site.stage.service.end('delivery', 'SIGKILL');
      const emailId = await receive(site);
      await traceWith(emailId, ['parse', 'thread']);
      site.stage.service.startProcess('delivery');
      const trace = await traceWith(emailId, ['route', 'webhook attempt']);
      expect(one(trace, 'route').parentSpanId).toBe(one(trace, 'accept').spanId);
    });

  test('of a posted email are one trace, which its client began, up to the other server', async () => {
    const { account, service } = site.stage;
    const response = await fetch(`${service.url}/api/e2/emails`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${account.apiKey}`,
        'content-type': 'application/json',
        traceparent: `00-${CLIENT_TRACE}-${CLIENT_SPAN}-01`,
      },
      body: JSON.stringify({
        from: site.address,
        to: [`${CANARY}@elsewhere.test`],
        subject: CANARY,
        text: `${CANARY} in the body`,
      }),
    });
    expect(response.status).toBe(200);
    const { id } = (await response.json()) as { id: string };
    const trace = await traceWith(id, ['smtp attempt']);
    await receiver.until((spans) => one(spans, 'POST /api/e2/emails'));
    const request = one(receiver.spans, 'POST /api/e2/emails');
    expect(request).toMatchObject({
      service: nameService('gateway'),
      traceId: CLIENT_TRACE,
      parentSpanId: CLIENT_SPAN,
      kind: SERVER,
      attributes: { 'http.route': '/api/e2/emails', 'http.response.status_code': 200, 'user.id': account.workspaceId },
    });
    expect(one(trace, 'smtp attempt')).toMatchObject({
      service: nameService('sending'),
      traceId: CLIENT_TRACE,
      parentSpanId: request.spanId,
      kind: CLIENT,
      isFailed: false,
      attributes: { 'postroom.smtp.reply_code': 250, 'postroom.recipients.delivered': 1 },
    });
  });

  test('of an email that is scheduled over GraphQL are one trace, its release included', async () => {
    const { account, instantIn } = { account: site.stage.account, instantIn: () => site.stage.instantIn(3_600) };
    const response = await account.graphql(
      `mutation ${CANARY}($input: SendEmailInput!) { ${CANARY}: sendEmail(input: $input) { __typename ... on SendEmailPayload { email { id } } } }`,
      {
        input: {
          from: site.address,
          to: [`${CANARY}@elsewhere.test`],
          subject: CANARY,
          text: CANARY,
          scheduledAt: await instantIn(),
        },
      },
    );
    const id = response.body.data?.[CANARY]?.email?.id;
    expect(id, JSON.stringify(response.body)).toMatch(/^em_/);
    await site.stage.passSeconds(3_700);
    const trace = await traceWith(id, ['release', 'thread', 'smtp attempt']);
    const operation = one(trace, 'graphql mutation sendEmail');
    const request = one(trace, 'POST /graphql');
    expect(request).toMatchObject({ parentSpanId: '', isFailed: false });
    expect(operation).toMatchObject({ parentSpanId: request.spanId, isFailed: false });
    expect(one(trace, 'release')).toMatchObject({ service: nameService('scheduling'), parentSpanId: operation.spanId });
    expect(one(trace, 'smtp attempt').parentSpanId).toBe(operation.spanId);
  });

  test('contain no text of a user and no key', async () => {
    await traceWith(await receive(site), ['webhook attempt']);
    const text = receiver.text();
    for (const secret of [
      CANARY,
      site.stage.account.apiKey,
      site.stage.account.domain,
      'elsewhere.test',
      COLLECTOR_KEY,
    ])
      expect(text).not.toContain(secret);
  });
});

// When traces are off, none is kept either: inbound.program.ts.
if (!isQuick)
  describe('mail is delivered without a stored trace', () => {
    let site: Site | null = null;
    let receiver: OtlpReceiver | null = null;
    let hanging: Server | null = null;
    afterEach(async () => {
      await site?.close();
      await receiver?.close();
      await new Promise((resolve) => (hanging === null ? resolve(null) : hanging.close(resolve)));
      site = receiver = hanging = null;
    });

    async function deliver(of: Site): Promise<void> {
      await receive(of);
      const told = () => Promise.resolve(of.webhook.requests.length > 0);
      await until('a webhook', () => of.stage.service.output.slice(-3_000), told);
    }

    test('when the share of traces is 0, which sends nothing', async () => {
      receiver = await startOtlpReceiver();
      site = await openSite('single', { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_TRACES_SAMPLER_ARG: '0' });
      await deliver(site);
      expect(await rows(site.stage)).toEqual([]);
      await site.close();
      site = null;
      expect(receiver.text()).toBe('');
    }, 300_000);
  });

const describeAtLength = isQuick ? null : describe;
describeAtLength?.('a collector that does not respond harms nothing', () => {
  test.each(['refuses', 'hangs'])(
    'and each process logs it once when it %s',
    async (manner) => {
      const held = new Set<{ destroy(): void }>();
      const collector = createServer((socket) => {
        held.add(socket);
        socket.on('error', () => undefined);
      });
      await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', () => resolve()));
      const { port } = collector.address() as { port: number };
      if (manner === 'refuses') await new Promise((resolve) => collector.close(resolve));
      const site = await openSite('single', { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
      try {
        const { service } = site.stage;
        const told = () => service.output.split('\n').filter((line) => line.includes('traces.away')).length;
        await until(
          'the collector is missed, and mail flows',
          () => service.output.slice(-3_000),
          async () => {
            await receive(site);
            return told() === 2;
          },
          120_000,
        );
        const count = site.webhook.requests.length;
        for (let n = 0; n < 5; n++) await receive(site);
        await until(
          'webhooks',
          () => '',
          async () => site.webhook.requests.length >= count + 5,
        );
        expect(told()).toBe(2);
      } finally {
        await site.close();
        for (const socket of held) socket.destroy();
        await new Promise((resolve) => collector.close(resolve));
      }
    },
    300_000,
  );
});
