import type pg from 'pg';
import { expect } from 'vitest';
import { freePort, queryOnce } from '../cluster/cluster.ts';
import { createTrafficAccount, MailTraffic, type TrafficAccount } from '../mail/mail-traffic.ts';
import { scrape } from '../metrics.ts';
import { awaitDrained, checkLedger } from '../stages/ledger.ts';
import { awaitSettled, checkSendingLedger } from '../stages/sending-ledger.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import { Service, until } from './service.ts';
import { type SinkMta, startSinkMta } from './sink-mta.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

/** The kinds of processes, and by what each counts the work that it did. */
const WORK = {
  gateway: ['postroom_http_requests_total', { method: 'POST', route: '/api/e2/emails', status: '2xx' }],
  smtp: ['postroom_smtp_replies_total', { stage: 'message', code: '250' }],
  receiving: ['postroom_receiving_accept_seconds_count', { outcome: 'accepted' }],
  threading: ['postroom_step_runs_total', { actor: 'threading' }],
  delivery: ['postroom_delivery_outcomes_total', { outcome: 'succeeded' }],
  sending: ['postroom_sending_outcomes_total', { outcome: 'delivered' }],
  scheduling: ['postroom_step_runs_total', { actor: 'scheduling' }],
} as const satisfies Record<string, [metric: string, labels: Record<string, string>]>;

type Kind = keyof typeof WORK;
const kinds = Object.keys(WORK) as Kind[];
export const firsts: readonly string[] = kinds;
export const seconds: readonly string[] = kinds.map((kind) => `${kind}-2`);
const everyone = [...firsts, ...seconds];

/** Whoever sends work learns within this time that a process is about to end; the balancers ask ten times as often. Seconds. */
const DRAIN_DELAY_SECONDS = 1;
/** A start, some mail on its way: seconds, or minutes on a machine that has other work. */
const LIMIT_MS = 120_000;

/**
 * Two processes of each kind behind balancers, with mail in and out, the world's mail server and webhook receiver, and the book of all that was
 * said. Each process may run from another folder, which has the code of another version.
 */
export class Fleet {
  readonly service: Service;
  readonly traffic: MailTraffic;
  readonly #parts: FleetParts;

  private constructor(parts: FleetParts) {
    this.#parts = parts;
    this.service = parts.service;
    this.traffic = new MailTraffic({
      smtp: [{ host: '127.0.0.1', port: parts.smtp.port }],
      urls: [`http://127.0.0.1:${parts.http.port}`],
      isReusingConnections: false,
      accounts: parts.accounts,
    });
  }

  static async start(): Promise<Fleet> {
    const sink = await startSinkMta();
    const receiver = await startWebhookReceiver();
    const service = await Service.start('split', {
      hasMetrics: true,
      environment: {
        DRAIN_DELAY_SECONDS: String(DRAIN_DELAY_SECONDS),
        OUTBOUND_RELAY_URL: `smtp://127.0.0.1:${sink.port}`,
      },
    });
    try {
      const ports = new Map<string, number>();
      for (const name of [...seconds, 'HTTP', 'SMTP']) ports.set(name, await freePort());
      const port = (name: string) => ports.get(name) ?? 0;
      const makePorts = (name: string): Record<string, string> => {
        if (!ports.has(name)) return {};
        return {
          METRICS_PORT: String(port(name)),
          HTTP_PORT: String(port('HTTP')),
          SMTP_PORT: String(port('SMTP')),
        };
      };
      for (const name of seconds) service.startProcess(name, makePorts(name));
      const monitoring = (name: string) =>
        ports.has(name) ? `http://127.0.0.1:${port(name)}` : service.metricsUrl(name);
      await Promise.all(seconds.map((name) => ready(service, name, monitoring(name))));
      const balance = (first: string, firstPort: number, secondPort: number) =>
        startBalancer([
          { port: firstPort, readyUrl: `${monitoring(first)}/ready` },
          { port: secondPort, readyUrl: `${monitoring(`${first}-2`)}/ready` },
        ]);
      const http = await balance('gateway', service.httpPort, port('HTTP'));
      const smtp = await balance('smtp', service.smtpPort, port('SMTP'));
      const accounts = [
        await createTrafficAccount(service, receiver.url),
        await createTrafficAccount(service, receiver.url),
      ];
      return new Fleet({ service, sink, receiver, accounts, http, smtp, monitoring, makePorts });
    } catch (error) {
      await service.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    const { http, smtp, sink, receiver } = this.#parts;
    await http.close();
    await smtp.close();
    await this.service.stop();
    await sink.stop();
    await receiver.stop();
  }

  async query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return queryOnce<Row>(await this.service.databaseUrl(), text, values);
  }

  /** Ends the process, which has to drain within its time, and starts it from that folder. */
  async replace(name: string, folder: string): Promise<void> {
    expect(await this.service.end(name, 'SIGTERM'), `${name} ended`).toBe(0);
    this.service.startProcess(name, this.#parts.makePorts(name), folder);
    await ready(this.service, name, this.#parts.monitoring(name));
  }

  /** By version, the processes that run it, as they say themselves. */
  async versions(): Promise<Record<string, string[]>> {
    const told = await Promise.all(
      everyone.map(async (name) => {
        const { samples } = await scrape(this.#parts.monitoring(name));
        const build = samples.find((sample) => sample.name === 'postroom_build_info');
        return { name, version: build?.labels['version'] ?? 'none' };
      }),
    );
    const grouped = Map.groupBy(told, ({ version }) => version);
    return Object.fromEntries([...grouped].map(([version, list]) => [version, list.map(({ name }) => name)]));
  }

  /** Resolves when each process did work that it began to count from now on. */
  async awaitWorkOfAll(): Promise<void> {
    const before = new Map(await this.#work(everyone));
    let idle: readonly string[] = everyone;
    const about = () => `idle: ${idle.join(', ')}\n${this.#faults()}`;
    await until(
      'each process does its work',
      about,
      async () => {
        const counted = await this.#work(idle);
        idle = counted.filter(([name, count]) => count <= (before.get(name) ?? 0)).map(([name]) => name);
        return idle.length === 0;
      },
      LIMIT_MS,
    );
  }

  until(what: string, holds: () => Promise<boolean>): Promise<void> {
    return until(what, () => this.#faults(), holds, LIMIT_MS);
  }

  /** Awaits that all mail has gone its way, then that I1 to I4 hold, and that clients heard of nothing but the end of SMTP sessions. */
  async settle(): Promise<void> {
    const { receiver, sink } = this.#parts;
    const { offers, sends, httpTrouble, smtpTrouble } = this.traffic;
    const databaseUrl = await this.service.databaseUrl();
    await awaitDrained(databaseUrl, LIMIT_MS);
    await awaitSettled(databaseUrl, LIMIT_MS);
    const webhooks = receiver.requests.map(({ webhookId, body }) => ({ webhookId, body }));
    const taken = await checkLedger({ databaseUrl, offers, webhooks });
    const sent = await checkSendingLedger({ databaseUrl, sends, messages: sink.messages, inHand: [] });
    const about = this.#faults();
    expect([...taken.violations, ...sent.violations].slice(0, 20), about).toEqual([]);
    expect([taken.accepted, taken.webhooks, taken.repeatedWebhooks], about).toEqual([offers.length, offers.length, 0]);
    expect([sent.accepted, sent.doubled], about).toEqual([sends.length, 0]);
    expect(Object.fromEntries(httpTrouble), about).toEqual({});
    expect(
      [...smtpTrouble.keys()].filter((word) => !word.startsWith('4')),
      about,
    ).toEqual([]);
  }

  async #work(names: readonly string[]): Promise<[name: string, count: number][]> {
    return Promise.all(
      names.map(async (name): Promise<[string, number]> => {
        const [metric, labels] = WORK[name.replace('-2', '') as Kind];
        return [name, (await scrape(this.#parts.monitoring(name))).sum(metric, labels) ?? 0];
      }),
    );
  }

  /** What processes complained of last. */
  #faults(): string {
    const lines = this.service.output.split('\n').filter((line) => /"level":(?:40|50|60)\b/.test(line));
    return lines.slice(-10).join('\n');
  }
}

interface FleetParts {
  service: Service;
  sink: SinkMta;
  receiver: WebhookReceiver;
  accounts: readonly TrafficAccount[];
  http: Balancer;
  smtp: Balancer;
  /** /ready and /metrics of one process */
  monitoring: (name: string) => string;
  makePorts: (name: string) => Record<string, string>;
}

async function ready(service: Service, name: string, url: string): Promise<void> {
  const isReady = async () => (await fetch(`${url}/ready`)).ok;
  await until(`${name} is ready`, () => service.output.slice(-3000), isReady, LIMIT_MS);
}
