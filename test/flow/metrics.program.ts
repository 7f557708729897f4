import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isQuick } from '../support/chaos-figures.ts';
import { freePort } from '../support/cluster/cluster.ts';
import { type Sample, type Scrape, scrape } from '../support/metrics.ts';
import { alertExpressions, dashboardExpressions, readParts } from '../support/promql.ts';
import { hasPromtool, promtool } from '../support/promtool.ts';
import { repository } from '../support/runner.ts';
import { type DomainAccount, type Service, type ServiceMode, until } from '../support/servers/service.ts';
import { smtpLoad, toWireForm } from '../support/servers/smtp-load.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { SendingStage } from '../support/stages/sending-stage.ts';
import { describeNewcomer } from './newcomer.ts';

const guide = readFileSync(path.join(repository, 'docs/monitoring.md'), 'utf8');
const execute = promisify(execFile);

/** Stands in everything of the users' that traffic may bring along. */
const CANARY = 'canary7f3a';

const processesByMode: Record<ServiceMode, string[]> = {
  single: ['runner'],
  split: ['gateway', 'receiving', 'threading', 'delivery', 'sending', 'scheduling', 'smtp'],
};

describe.each<ServiceMode>(isQuick ? ['split'] : ['single', 'split'])('the metrics of the processes (%s)', (mode) => {
  let stage: SendingStage;
  let service: Service;
  let receiver: WebhookReceiver;
  let account: DomainAccount;
  /** ids and addresses of the user, none of which may be told */
  const secrets: string[] = [CANARY];
  /** of one mail to an endpoint that refuses connections */
  let stuck: { emailId: string; endpointId: string };
  let port: number;

  beforeAll(async () => {
    receiver = await startWebhookReceiver();
    // On one machine two processes take SMTP, behind the one that `npm start` starts.
    const environment: Record<string, string> = mode === 'single' ? { SMTP_PROCESSES: '2' } : {};
    stage = await SendingStage.start(mode, environment, { hasMetrics: true });
    ({ service, account } = stage);
    port = await freePort();
    secrets.push(account.workspaceId, account.apiKey, account.domain, account.domainId, 'elsewhere.test');
    await makeTraffic();
  }, 600_000);
  afterAll(async () => {
    await stage?.stop();
    await receiver?.stop();
  });

  async function address(name: string, url: string): Promise<{ address: string; endpointId: string }> {
    const made = await account.call('POST', '/endpoints', { name, type: 'webhook', config: { url } });
    expect(made.status).toBe(201);
    const whole = `${CANARY}-${name}@${account.domain}`;
    const { id: endpointId } = made.body;
    const stored = { address: whole, domainId: account.domainId, endpointId };
    expect((await account.call('POST', '/email-addresses', stored)).status).toBe(201);
    secrets.push(endpointId);
    return { address: whole, endpointId };
  }

  async function offer(recipient: string, count = 1): Promise<(number | null)[]> {
    const results = await smtpLoad({
      host: '127.0.0.1',
      port: service.smtpPort,
      count,
      sessions: 1,
      isReusingConnections: true,
      reversePath: `${CANARY}@elsewhere.test`,
      recipients: () => [recipient],
      message: (n) => {
        const lines = [`From: ${CANARY}@elsewhere.test`, `To: ${recipient}`, `Subject: ${CANARY} ${n}`, '', CANARY, ''];
        return toWireForm(Buffer.from(lines.join('\r\n')));
      },
    });
    return results.map(({ code }) => code);
  }

  async function makeTraffic(): Promise<void> {
    const well = await address('well', `${receiver.url}/${CANARY}`);
    const closed = await address('closed', `http://127.0.0.1:${port}/${CANARY}`);
    expect(await offer(well.address, 5)).toEqual([250, 250, 250, 250, 250]);
    expect(await offer(closed.address)).toEqual([250]);
    expect(await offer(`${CANARY}-nobody@${account.domain}`)).toEqual([550]);
    await receiver.until((requests) => requests.length >= 5, 120_000);
    // What a user sends comes back in, as its recipient is hosted here.
    const sent = await account.call('POST', '/emails', {
      from: well.address,
      to: [well.address],
      subject: CANARY,
      text: CANARY,
    });
    expect(sent.status).toBe(200);
    secrets.push(sent.body.id);
    await receiver.until((requests) => requests.length >= 6, 120_000);
    const { body } = await account.call('GET', `/emails?limit=10&search=${CANARY}`);
    const ids = (body.data as { id: string }[]).map(({ id }) => id);
    secrets.push(...ids);
    await account.call('GET', `/emails/${ids[0]}`);
    await account.call('GET', `/emails/${CANARY}`);
    await account.call('GET', `/${CANARY}`);
    await account.graphql('{ apiKeys(first: 1) { totalCount } }');
    await account.graphql(`{ apiKey(id: "${CANARY}") { id } }`);
    await account.graphql('mutation { nothing }');
    await until('the delivery to the closed port is tried', output, async () => {
      const { body: list } = await account.call('GET', `/endpoints/${closed.endpointId}/deliveries`);
      const [delivery] = list.data;
      stuck = { emailId: delivery.emailId, endpointId: closed.endpointId };
      return delivery.attemptLog.length > 0;
    });
    secrets.push(stuck.emailId);
  }

  const output = () => service.output.slice(-3_000);

  async function scrapeAll(): Promise<Scrape[]> {
    return Promise.all(processesByMode[mode].map((name) => scrape(service.metricsUrl(name))));
  }

  /** Of all processes together. */
  async function total(name: string, labels: Record<string, string> = {}): Promise<number> {
    return (await scrapeAll()).reduce((sum, page) => sum + (page.sum(name, labels) ?? 0), 0);
  }

  test('count the traffic where it happens', async () => {
    const expected: [name: string, labels: Record<string, string>, count: number][] = [
      ['postroom_smtp_replies_total', { stage: 'rcpt', code: '550' }, 1],
      // one more is the mail that came back in
      ['postroom_smtp_replies_total', { stage: 'message', code: '250' }, 7],
      ['postroom_smtp_message_seconds_count', { outcome: 'accepted' }, 7],
      ['postroom_receiving_accept_seconds_count', { outcome: 'accepted' }, 7],
      ['postroom_parse_seconds_count', { outcome: 'parsed' }, 7],
      ['postroom_since_accept_seconds_count', { stage: 'parsed' }, 7],
      ['postroom_since_accept_seconds_count', { stage: 'threaded' }, 7],
      ['postroom_since_accept_seconds_count', { stage: 'delivered' }, 6],
      ['postroom_routed_emails_total', { outcome: 'endpoint' }, 7],
      ['postroom_delivery_outcomes_total', { outcome: 'succeeded' }, 6],
      ['postroom_sending_outcomes_total', { outcome: 'delivered', response: '2xx' }, 1],
      ['postroom_sending_settled_seconds_count', { outcome: 'delivered' }, 1],
      ['postroom_http_requests_total', { route: '/api/e2/emails', method: 'POST', status: '2xx' }, 1],
      ['postroom_graphql_operations_total', { kind: 'query' }, 2],
    ];
    for (const [name, labels, count] of expected)
      await until(
        `${name} ${JSON.stringify(labels)} is ${count}`,
        output,
        async () => (await total(name, labels)) === count,
      );
    expect(
      await total('postroom_delivery_attempt_seconds_count', { outcome: 'failed', response: 'unanswered' }),
    ).toBeGreaterThan(0);
    expect(await total('postroom_http_requests_total', { route: 'none', status: '4xx' })).toBeGreaterThan(0);
    expect(await total('postroom_smtp_accepted_bytes_total')).toBeGreaterThan(7 * CANARY.length);
    expect(
      await total('postroom_bus_question_seconds_count', {
        process: mode === 'single' ? 'mail' : 'smtp',
        question: 'receiving.message.accept',
        outcome: 'answered',
      }),
    ).toBe(7);
  }, 300_000);

  test('name the process, its version and its event loop', async () => {
    const names: Record<ServiceMode, string[]> = { single: ['start', 'mail', 'gateway'], split: processesByMode.split };
    const pages = await scrapeAll();
    for (const metric of ['postroom_build_info', 'nodejs_eventloop_lag_p99_seconds', 'process_start_time_seconds']) {
      const told = pages.flatMap(({ samples }) =>
        samples.filter(({ name }) => name === metric).map(({ labels }) => labels['process'] ?? ''),
      );
      expect(told.toSorted(), metric).toEqual(names[mode].toSorted());
    }
    expect(await total('postroom_bus_connected')).toBe(mode === 'single' ? 2 : 7);
    expect(await total('postroom_database_connections_limit', { pool: 'actor' })).toBeGreaterThan(0);
    if (mode === 'single') expect(await total('postroom_disk_free_bytes')).toBeGreaterThan(0);
  });

  test('have every name in the dashboard and the alerts', async () => {
    const pages = await scrapeAll();
    const types = new Set(
      pages.flatMap(({ text }) => [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name)),
    );
    const samples = pages.flatMap((page) => page.samples);
    const bySeries = Map.groupBy(samples, ({ name }) => name);
    for (const { where, expression } of [...dashboardExpressions(), ...alertExpressions()])
      for (const { metric, labels } of readParts(expression).selectors) {
        if (metric === 'up') continue;
        const told = types.has(metric) || types.has(metric.replace(/_(bucket|sum|count)$/, ''));
        expect(told, `${where}: ${metric}`).toBe(true);
        // Of what has not happened yet there is no sample; its labels are compared with the code in test/schema.
        const series = bySeries.get(metric);
        for (const { name } of labels)
          if (series !== undefined && name !== 'job')
            expect(
              series.some((sample: Sample) => name in sample.labels),
              `${where}: ${metric} has ${name}`,
            ).toBe(true);
      }
  });

  test('contain nothing of a user', async () => {
    for (const { text, samples } of await scrapeAll()) {
      for (const secret of secrets) expect(text).not.toContain(secret);
      for (const { name, labels } of samples)
        for (const value of Object.values(labels)) {
          expect(value, name).not.toMatch(/@|\b(em|ep|usr|dlv|rcp|thr|dom|addr)_[0-9a-f]/);
          expect(value.length, name).toBeLessThan(90);
        }
    }
    expect(secrets.length).toBeGreaterThan(8);
  });

  test.skipIf(!hasPromtool)('are accepted by promtool', async () => {
    for (const { text } of await scrapeAll()) {
      // Names of Node.js' own metrics are prom-client's.
      const ours = text.split('\n').filter((line) => /^(# (HELP|TYPE) )?postroom_/.test(line));
      promtool(['check', 'metrics'], `${ours.join('\n')}\n`);
    }
  });

  test('explain a stuck delivery by the commands of the guide', async () => {
    const [, walk = ''] = /^## A delivery is stuck\n([\s\S]*?)^## /m.exec(guide) ?? [];
    const commands = [...walk.matchAll(/^curl .*$/gm)].map(([command]) => command);
    expect(commands).toHaveLength(6);
    const env = {
      ...process.env,
      METRICS: service.metricsUrl(mode === 'single' ? 'runner' : 'delivery'),
      BASE: service.url,
      KEY: account.apiKey,
      ENDPOINT: stuck.endpointId,
      EMAIL: stuck.emailId,
    };
    const run = async (n: number) => (await execute('sh', ['-c', commands[n] ?? ''], { env })).stdout;

    // It waits for its next try ...
    await until('the delivery waits', output, async () => /later_rows[^\n]*"deliver"[^\n]* 1$/m.test(await run(0)));
    // ... as nobody answered.
    expect(await run(1)).toMatch(/outcome="failed",response="unanswered"[^\n]* [1-9]/);
    const deliveries = JSON.parse(await run(3));
    expect(deliveries.data).toMatchObject([{ emailId: stuck.emailId, status: 'pending' }]);
    const timeline = JSON.parse(await run(4));
    const tries = timeline.entries.filter(({ kind }: { kind: string }) => kind === 'delivery-attempt');
    expect(tries[0]).toMatchObject({ is_failure: true, title: expect.stringContaining('no response') });
    expect(tries[0].detail).toMatch(/refused/i);

    const mended = await startWebhookReceiver({ port });
    try {
      expect(JSON.parse(await run(5))).toMatchObject({ success: true });
      await mended.until((requests) => requests.length === 1, 120_000);
      await until('nothing waits', output, async () => !/rows[^\n]*"deliver"[^\n]* [1-9]/.test(await run(0)));
    } finally {
      await mended.stop();
    }
  }, 300_000);

  if (mode === 'single')
    test('contain no webhook of a user', async () => {
      const make = async (url: string) =>
        (await account.call('POST', '/endpoints', { name: 'any', type: 'webhook', config: { url } })).status;
      expect(await make(`${service.metricsUrl('runner')}/metrics`)).toBe(400);
      expect(await make(`http://127.0.0.1:${port}/metrics`)).toBe(201);
    });

  // The traffic above is counted; what follows is not.
  describeNewcomer(() => stage);

  if (mode === 'split')
    test('come from a separate process for each actor, and mail crosses nats-server', async () => {
      const names = ['gateway', 'nats', 'smtp', 'receiving', 'threading', 'delivery', 'sending', 'scheduling'];
      expect([...service.processes.keys()].toSorted()).toEqual(names.toSorted());
      expect(new Set([...service.processes.values()].map(({ pid }) => pid)).size).toBe(names.length);
      const messages = async () => {
        const response = await fetch(`http://127.0.0.1:${service.natsMonitorPort}/varz`);
        return ((await response.json()) as { in_msgs: number }).in_msgs;
      };
      const well = await address('crossing', receiver.url);
      const requests = receiver.requests.length;
      const before = await messages();
      expect(await offer(well.address)).toEqual([250]);
      await receiver.received(requests + 1);
      const between = await messages();
      expect(between).toBeGreaterThanOrEqual(before + 3);
      const request = { from: well.address, to: 'bob@elsewhere.test', subject: 'Over NATS', text: 'Hello' };
      const sent = await account.call('POST', '/emails', request);
      await stage.awaitMessage(sent.body.message_id);
      // the wake of sending, and the event of the live feed
      expect(await messages()).toBeGreaterThanOrEqual(between + 2);
    });

  if (mode === 'split')
    test('report SMTP as ready while it has a bus and is not draining', async () => {
      const ready = async (url: string) => {
        const response = await fetch(`${url}/ready`);
        return { status: response.status, body: (await response.json()) as { missing?: string[] } };
      };
      const url = service.metricsUrl('smtp');
      expect((await fetch(`${url}/health`)).status).toBe(200);
      await until('SMTP is ready', output, async () => (await ready(url)).status === 200);

      // Two processes behind one port have one page.
      const own = { SMTP_PORT: String(await freePort()), METRICS_PORT: String(await freePort()) };
      const other = `http://127.0.0.1:${own.METRICS_PORT}`;
      service.startProcess('smtp-2', { ...own, SMTP_PROCESSES: '2', DRAIN_DELAY_SECONDS: '60' });
      await until('its workers are ready', output, async () => (await ready(other)).status === 200);
      const page = await scrape(other);
      expect(page.sum('postroom_smtp_sessions_total')).toBe(0);
      expect(page.samples.filter(({ name }) => name === 'postroom_build_info')).toHaveLength(1);

      const second = service.processes.get('smtp-2');
      second?.kill('SIGTERM');
      await until('it says that it drains', output, async () => {
        const { status, body } = await ready(other);
        return status === 503 && body.missing?.[0] === 'draining';
      });
      expect((await scrape(other)).sum('postroom_draining')).toBe(1);
      await service.end('smtp-2', 'SIGKILL');
      service.processes.delete('smtp-2');

      await service.end('nats', 'SIGKILL');
      await until('SMTP misses the bus', output, async () => {
        const { status, body } = await ready(url);
        return status === 503 && body.missing?.includes('bus') === true;
      });
      expect((await scrape(url)).sum('postroom_bus_connected')).toBe(0);
    }, 300_000);
});
