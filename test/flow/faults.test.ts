import { readFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { awaitDrained, checkLedger, type Offer } from '../support/ledger.ts';
import { processTree } from '../support/process-tree.ts';
import { greets, Service, type ServiceMode, type TestAccount, until } from '../support/service.ts';
import { type SmtpLoadResult, smtpLoad, toWireForm } from '../support/smtp-load.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

/** A service with one mailbox, and the book of everything that was offered to it. */
class FaultBench {
  readonly offers: Offer[] = [];
  readonly service: Service;
  readonly receiver: WebhookReceiver;
  readonly account: TestAccount & { domain: string };
  readonly address: string;
  #count = 0;

  private constructor(service: Service, receiver: WebhookReceiver, account: TestAccount & { domain: string }) {
    this.service = service;
    this.receiver = receiver;
    this.account = account;
    this.address = `box@${account.domain}`;
  }

  static async start(mode: ServiceMode): Promise<FaultBench> {
    const receiver = await startWebhookReceiver();
    const service = await Service.start(mode);
    const account = await service.createAccount();
    const endpoint = await account.call('POST', '/endpoints', {
      name: 'hook',
      type: 'webhook',
      config: { url: receiver.url },
    });
    const bench = new FaultBench(service, receiver, account);
    await account.call('POST', '/email-addresses', {
      address: bench.address,
      domainId: account.domainId,
      endpointId: endpoint.body.id,
    });
    return bench;
  }

  async stop(): Promise<void> {
    await this.service.stop();
    await this.receiver.stop();
  }

  /** Offers new messages and writes them into the book; answers what was said to each. */
  async offer(count: number, options: { sessions?: number; perSecond?: number } = {}): Promise<SmtpLoadResult[]> {
    const first = this.#count;
    this.#count += count;
    const octets = Array.from({ length: count }, (_, n) => this.#compose(first + n));
    const results = await this.#send(octets, options);
    for (const result of results)
      this.offers.push({ octets: octets[result.n] ?? Buffer.alloc(0), recipients: [this.address], result });
    return results;
  }

  /** Awaits that recipients are judged again: an unknown one gets 550 from the receiving actor, and 451 while there is none. */
  async awaitVerdicts(): Promise<void> {
    const nobody = `nobody@${this.account.domain}`;
    await until(
      'the receiving actor judges recipients',
      () => this.service.output.slice(-2000),
      async () => (await this.#send([Buffer.from('\r\n')], { recipient: nobody }))[0]?.code === 550,
    );
  }

  /** Offers again, as a sending MTA would, all that did not get 250, until each has it. */
  async offerAgain(): Promise<void> {
    for (let round = 0; round < 10; round++) {
      const open = this.offers.filter((offer) => offer.result.code !== 250);
      if (open.length === 0) return;
      const results = await this.#send(
        open.map((offer) => Buffer.from(offer.octets)),
        {},
      );
      for (const result of results) {
        const offer = open[result.n];
        if (offer !== undefined && result.code !== null) offer.result = result;
      }
    }
    throw new Error(`refused for good: ${this.offers.find((offer) => offer.result.code !== 250)?.result.reply}`);
  }

  /** Awaits that everything is delivered, then that I1 to I3 hold. */
  async settle(): Promise<void> {
    const databaseUrl = await this.service.databaseUrl();
    await passLeases(databaseUrl);
    await awaitDrained(databaseUrl, 90_000);
    const report = await checkLedger({
      databaseUrl,
      offers: this.offers,
      webhooks: this.receiver.requests.map((request) => ({
        webhookId: String(request.headers['webhook-id']),
        body: request.body,
      })),
    });
    expect(report.violations).toEqual([]);
    expect(report.accepted).toBe(this.offers.length);
    expect(report.webhooks).toBe(this.offers.length);
  }

  #send(
    octets: Buffer[],
    options: { sessions?: number; perSecond?: number; recipient?: string },
  ): Promise<SmtpLoadResult[]> {
    return smtpLoad({
      host: '127.0.0.1',
      port: this.service.smtpPort,
      count: octets.length,
      sessions: options.sessions ?? 10,
      isReusingConnections: true,
      reversePath: 'sender@elsewhere.test',
      recipients: () => [options.recipient ?? this.address],
      message: (n) => toWireForm(octets[n] ?? Buffer.alloc(0)),
      ...(options.perSecond === undefined ? {} : { perSecond: options.perSecond }),
    });
  }

  #compose(n: number): Buffer {
    const lines = [
      `Message-ID: <${n}@ledger.test>`,
      'From: ledger@elsewhere.test',
      `To: ${this.address}`,
      `Subject: Ledger ${n}`,
      '',
      `Body ${n}`,
      '',
    ];
    return Buffer.from(lines.join('\r\n'));
  }
}

/** Lets the leases of killed processes run out at once, by the clock that decides of them. */
async function passLeases(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`update clock set shift = shift + interval '31 seconds'`);
  await client.end();
}

async function signalPostgres(databaseUrl: string, signal: NodeJS.Signals): Promise<() => void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ setting: string }>(
    `select setting from pg_settings where name = 'data_directory'`,
  );
  await client.end();
  const postmaster = Number(
    (await readFile(path.join(rows[0]?.setting ?? '', 'postmaster.pid'), 'utf8')).split('\n')[0],
  );
  const pids = () => processTree(postmaster).map((each) => each.pid);
  const stopped = pids();
  for (const pid of stopped) process.kill(pid, signal);
  return () => {
    for (const pid of new Set([...stopped, ...pids()])) process.kill(pid, 'SIGCONT');
  };
}

describe('on one machine', () => {
  let bench: FaultBench;
  beforeAll(async () => {
    bench = await FaultBench.start('single');
  }, 120_000);
  afterAll(() => bench?.stop(), 60_000);

  test('kill -9 of Haraka under load loses no mail and doubles no row', async () => {
    const load = bench.offer(400, { perSecond: 100 });
    for (let kill = 0; kill < 3; kill++) {
      await new Promise((resolve) => setTimeout(resolve, 800));
      const haraka = processTree(bench.service.processes.get('runner')?.pid ?? 0).find((each) =>
        each.command.includes('bin/smtp.ts'),
      );
      expect(haraka).toBeDefined();
      process.kill(haraka?.pid ?? 0, 'SIGKILL');
      await until(
        'the runner starts Haraka again',
        () => bench.service.output.slice(-2000),
        () => greets(bench.service.smtpPort),
      );
    }
    const results = await load;
    expect(
      results.some((result) => result.code !== 250),
      'a kill met an open transaction',
    ).toBe(true);
    await bench.offerAgain();
    await bench.settle();
  }, 120_000);

  test('kill -9 of the whole service while 500 messages arrive loses nothing', async () => {
    const load = bench.offer(500, { perSecond: 200 });
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    await bench.service.end('runner', 'SIGKILL');
    const results = await load;
    expect(
      results.filter((result) => result.code === 250).length,
      'some were accepted before the kill',
    ).toBeGreaterThan(0);
    expect(results.filter((result) => result.code !== 250).length, 'the kill met the load').toBeGreaterThan(0);
    await bench.service.start();
    await bench.offerAgain();
    await bench.settle();
  }, 150_000);

  test('PostgreSQL paused 20 s: 451 at SMTP, 503 with Retry-After at HTTP, and no hand is needed after', async () => {
    await bench.offer(20);
    const resume = await signalPostgres(await bench.service.databaseUrl(), 'SIGSTOP');
    try {
      const smtp = bench.offer(4, { sessions: 4 });
      const startedAt = Date.now();
      const list = await bench.account.call('GET', '/emails');
      expect(list.status).toBe(503);
      expect(list.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(Date.now() - startedAt).toBeLessThan(13_000);
      for (const result of await smtp) expect(result.reply).toMatch(/^451 4\.3\.0/);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, 20_000 - (Date.now() - startedAt))));
    } finally {
      resume();
    }
    await bench.offerAgain();
    await bench.settle();
  }, 150_000);
});

describe('as separate processes', () => {
  let bench: FaultBench;
  beforeAll(async () => {
    bench = await FaultBench.start('split');
  }, 120_000);
  afterAll(() => bench?.stop(), 60_000);

  const points: [string, string][] = [
    ['smtp', 'smtp.before-ask'],
    ['smtp', 'smtp.after-answer'],
    ['receiving', 'receiving.before-commit'],
    ['receiving', 'receiving.after-commit'],
    ['receiving', 'receiving.parse-claimed'],
    ['receiving', 'receiving.parse-done'],
    ['threading', 'threading.claimed'],
    ['threading', 'threading.before-commit'],
    ['threading', 'threading.after-commit'],
    ['delivery', 'delivery.claimed'],
    ['delivery', 'delivery.posted'],
    ['delivery', 'delivery.recorded'],
  ];

  test.each(points)(
    '%s killed at %s, 3 times: no mail is lost, no row doubled',
    async (name, point) => {
      // What was under way at a kill is answered when its time is over; the next kill does not wait for that.
      const loads: Promise<unknown>[] = [];
      for (let kill = 0; kill < 3; kill++) {
        if (kill === 0) await bench.service.end(name, 'SIGTERM');
        const child = bench.service.startProcess(name, { FAULT: point });
        const died = new Promise<number | null>((resolve) => void child.once('exit', (code) => resolve(code)));
        // A receiving actor that finds mail to parse may reach its point before it judges anybody.
        if (name === 'receiving') await Promise.race([died, bench.awaitVerdicts().catch(() => undefined)]);
        if (name === 'smtp')
          await until(
            'SMTP greets',
            () => bench.service.output.slice(-2000),
            () => greets(bench.service.smtpPort),
          );
        loads.push(bench.offer(8, { sessions: 4 }));
        expect(await died, `${point} was reached`).toBe(137);
      }
      bench.service.startProcess(name);
      await Promise.all(loads);
      await bench.service.awaitReady();
      await bench.awaitVerdicts();
      await bench.offerAgain();
      await bench.settle();
    },
    200_000,
  );

  test('NATS stopped 30 s: 451 while it is away, stored mail goes on, 250 again within 5 s of its return', async () => {
    await bench.offer(20);
    await bench.service.end('nats', 'SIGKILL');
    const stoppedAt = Date.now();
    for (const result of await bench.offer(4, { sessions: 4 })) expect(result.reply).toMatch(/^451 4\.3\.0/);
    await awaitDrained(await bench.service.databaseUrl(), 60_000);
    const ready = await fetch(`${bench.service.url}/ready`);
    expect(ready.status, 'the gateway stays ready without the bus').toBe(200);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, 30_000 - (Date.now() - stoppedAt))));
    bench.service.startProcess('nats');
    const startedAt = Date.now();
    await until(
      'a message is accepted',
      () => bench.service.output.slice(-2000),
      async () => {
        const [result] = await bench.offer(1);
        return result?.code === 250;
      },
    );
    expect(Date.now() - startedAt).toBeLessThan(5_000);
    await bench.offerAgain();
    await bench.settle();
  }, 200_000);
});
