import type pg from 'pg';
import { expect } from 'vitest';
import { writeFigure } from '../chaos-figures.ts';
import { databaseUrl, queryOnce } from '../cluster/cluster.ts';
import { createTrafficAccount, MailTraffic, type TrafficAccount } from '../mail/mail-traffic.ts';
import type { DomainAccount } from '../servers/service.ts';
import { type SinkMta, startSinkMta } from '../servers/sink-mta.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../servers/webhook-receiver.ts';
import { ComposeStage } from './compose-stage.ts';
import { awaitDrained, checkLedger } from './ledger.ts';
import { awaitSettled, checkSendingLedger } from './sending-ledger.ts';
import { type TwoHosts, twoHosts } from './stage-ground.ts';

/** What an experiment came to, in numbers that are its own. */
export interface Figures {
  accepted: number;
  sent: number;
  /** what clients heard beside 250 and 2xx, and how often */
  smtpTrouble: Record<string, number>;
  httpTrouble: Record<string, number>;
  /** requests to the webhook receiver beyond one for each delivery; copies at the sink beyond one for each email */
  repeatedWebhooks: number;
  doubledSends: number;
  /** attempts at webhooks to which our rows know no response: each may have brought one more request */
  unansweredWebhooks: number;
}

/** A lease of 30 s, a sweep of 10 s, and a machine that has other work. Milliseconds. */
const SETTLE_LIMIT_MS = 240_000;

/**
 * docker-compose.yml on two hosts with two PostgreSQL servers, two accounts with mail in and out, the world's mail server and webhook
 * receiver, and the book of all that was said.
 */
export class ClusterBench {
  readonly stage: ComposeStage;
  readonly ground: TwoHosts;
  readonly sink: SinkMta;
  readonly receiver: WebhookReceiver;
  readonly accounts: readonly (DomainAccount & TrafficAccount)[];
  readonly traffic: MailTraffic;
  /** see SendingLedgerOrder */
  readonly #inHand: string[] = [];
  #before: Figures = {
    accepted: 0,
    sent: 0,
    smtpTrouble: {},
    httpTrouble: {},
    repeatedWebhooks: 0,
    doubledSends: 0,
    unansweredWebhooks: 0,
  };

  private constructor(parts: Pick<ClusterBench, 'stage' | 'ground' | 'sink' | 'receiver' | 'accounts'>) {
    this.stage = parts.stage;
    this.ground = parts.ground;
    this.sink = parts.sink;
    this.receiver = parts.receiver;
    this.accounts = parts.accounts;
    this.traffic = new MailTraffic({ smtp: [this.stage.smtp], urls: [this.stage.url], accounts: this.accounts });
  }

  static async start(env: Record<string, string> = {}): Promise<ClusterBench> {
    const made: { ground?: TwoHosts; sink?: SinkMta; receiver?: WebhookReceiver } = {};
    const stage = await ComposeStage.start({
      env,
      ground: async (directory) => {
        const ground = await twoHosts(directory);
        const sink = await startSinkMta({ host: ground.host.address(1), name: 'mx.elsewhere.test' });
        const receiver = await startWebhookReceiver({ host: '0.0.0.0' });
        await ground.host.forward(receiver.port);
        Object.assign(made, { ground, sink, receiver });
        return { ...ground, env: { ...ground.env, OUTBOUND_RELAY_URL: `smtp://${sink.host}:${sink.port}` } };
      },
    });
    const { ground, sink, receiver } = made;
    if (ground === undefined || sink === undefined || receiver === undefined) throw new Error('unreachable');
    const accounts: (DomainAccount & TrafficAccount)[] = [];
    const bench = new ClusterBench({ stage, ground, sink, receiver, accounts });
    try {
      // Plain HTTP goes to a loopback only.
      const url = `http://127.0.0.1:${receiver.port}`;
      for (let n = 0; n < 2; n++) accounts.push(await createTrafficAccount(stage, url));
    } catch (error) {
      await bench.stop();
      throw error;
    }
    return bench;
  }

  async stop(): Promise<void> {
    await this.stage.stop();
    await this.sink.stop();
    await this.receiver.stop();
  }

  /** Of the server that takes writes at present. */
  get databaseUrl(): string {
    return databaseUrl(this.ground.servers.primaryUrl, 'postroom');
  }

  async query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return queryOnce<Row>(this.databaseUrl, text, values);
  }

  /** Names of the services of our own that run for good, NATS and proxy left out. */
  get ownServices(): string[] {
    return this.stage.services
      .filter(({ image }) => image.startsWith('postroom'))
      .map(({ name }) => name)
      .filter((name) => name !== 'migrate');
  }

  /**
   * Awaits that everything has gone its way, then that I1 to I5 hold; returns the figures since the last time. `inHand`: Message-IDs of
   * emails that were in somebody's hand at a kill, which may have gone out once more. `experiment`: its id in docs/chaos.md.
   */
  async settle(experiment: string, inHand: readonly string[] = []): Promise<Figures> {
    this.#inHand.push(...inHand);
    const url = this.databaseUrl;
    const { offers, sends } = this.traffic;
    await awaitDrained(url, SETTLE_LIMIT_MS);
    await awaitSettled(url, SETTLE_LIMIT_MS);
    const webhooks = this.receiver.requests.map(({ webhookId, body }) => ({ webhookId, body }));
    const taken = await checkLedger({ databaseUrl: url, offers, webhooks });
    const sent = await checkSendingLedger({
      databaseUrl: url,
      sends,
      messages: this.sink.messages,
      inHand: this.#inHand,
    });
    const all: Figures = {
      accepted: taken.accepted,
      sent: sent.accepted,
      smtpTrouble: Object.fromEntries(this.traffic.smtpTrouble),
      httpTrouble: Object.fromEntries(this.traffic.httpTrouble),
      repeatedWebhooks: taken.repeatedWebhooks,
      doubledSends: sent.doubled,
      unansweredWebhooks: await this.#unanswered(),
    };
    const figures = difference(all, this.#before);
    this.#before = all;
    const faults = this.stage.output.split('\n').filter((line) => /"level":(?:50|60)\b/.test(line));
    const about = faults.slice(-10).join('\n');
    await writeFigure({ experiment, ...figures });
    expect(figures.httpTrouble['500'], about).toBeUndefined();
    expect([...taken.violations, ...sent.violations, ...(await this.#leaks())].slice(0, 20), about).toEqual([]);
    expect([taken.accepted, taken.webhooks], 'all that was offered was taken and told').toEqual([
      offers.length,
      offers.length,
    ]);
    expect(sent.accepted, `all that was to be sent was taken\n${about}`).toBe(sends.length);
    return figures;
  }

  /** The Message-IDs of emails that sending actors have claimed. */
  async claimed(): Promise<string[]> {
    const rows = await this.query<{ message_id: string }>(
      `select distinct e.message_id from recipient r join email e on e.workspace_id = r.workspace_id and e.id = r.email_id
       where r.status = 'pending' and r.claimed_by is not null`,
    );
    return rows.map((row) => row.message_id);
  }

  /** Attempts that ended without a response, and claims whose attempt was never written down because its process was killed. */
  async #unanswered(): Promise<number> {
    const [row] = await this.query<{ count: number }>(
      `select (select count(*) from delivery_attempt where status_code is null)::int as count`,
    );
    return row?.count ?? 0;
  }

  /** I5 as a client sees it: of what the one account has, the other learns as much as of what nobody has. */
  async #leaks(): Promise<string[]> {
    const [one, other] = this.accounts;
    if (one === undefined || other === undefined) throw new Error('unreachable');
    const leaks: string[] = [];
    const nobody = await other.call('GET', `/emails/em_${'0'.repeat(32)}`);
    const received = await one.call('GET', '/emails?limit=20');
    const listed = (received.body.data as { id: string }[]).map(({ id }) => id);
    for (const id of [...listed, ...(this.traffic.sentIds.get(one.domain) ?? []).slice(-10)]) {
      const response = await other.call('GET', `/emails/${id}`);
      if (response.status !== 404 || JSON.stringify(response.body) !== JSON.stringify(nobody.body))
        leaks.push(`I5 ${id} is seen by another: ${response.status} ${JSON.stringify(response.body)}`);
    }
    const foreign = JSON.stringify((await other.call('GET', '/emails?limit=100')).body).includes(one.domain);
    return foreign || listed.length === 0 ? [...leaks, 'I5 the list of the one shows mail of the other'] : leaks;
  }
}

function difference(all: Figures, before: Figures): Figures {
  const rest = (now: Record<string, number>, then: Record<string, number>) =>
    Object.fromEntries(
      Object.entries(now)
        .map(([word, times]): [string, number] => [word, times - (then[word] ?? 0)])
        .filter(([, times]) => times > 0),
    );
  return {
    accepted: all.accepted - before.accepted,
    sent: all.sent - before.sent,
    smtpTrouble: rest(all.smtpTrouble, before.smtpTrouble),
    httpTrouble: rest(all.httpTrouble, before.httpTrouble),
    repeatedWebhooks: all.repeatedWebhooks - before.repeatedWebhooks,
    doubledSends: all.doubledSends - before.doubledSends,
    unansweredWebhooks: all.unansweredWebhooks - before.unansweredWebhooks,
  };
}
