import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { isFullLength } from '../chaos-figures.ts';
import { queryOnce } from '../cluster/cluster.ts';
import { type DomainAccount, Service, type ServiceMode, type ServiceOptions, until } from '../servers/service.ts';
import { type SmtpLoadResult, smtpLoad, toWireForm } from '../servers/smtp-load.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../servers/webhook-receiver.ts';
import { awaitDrained, checkLedger, checkRefused, type Offer } from './ledger.ts';
import { sweepService } from './service-sweep.ts';
import { seenByStranger } from './stranger.ts';

export interface ContinuousLoad {
  /** the replies so far */
  results: readonly SmtpLoadResult[];
  stop(): Promise<SmtpLoadResult[]>;
}

/** A service with one mailbox, and the book of everything that was offered to it. */
export class FaultBench {
  readonly offers: Offer[] = [];
  readonly service: Service;
  readonly receiver: WebhookReceiver;
  readonly account: DomainAccount;
  readonly address: string;
  #addressId = '';
  #endpointId = '';
  #count = 0;
  #stranger: DomainAccount | null = null;

  private constructor(service: Service, receiver: WebhookReceiver, account: DomainAccount) {
    this.service = service;
    this.receiver = receiver;
    this.account = account;
    this.address = `box@${account.domain}`;
  }

  static async start(mode: ServiceMode, options: ServiceOptions = {}): Promise<FaultBench> {
    const receiver = await startWebhookReceiver();
    const service = await Service.start(mode, options);
    const account = await service.createAccount();
    const endpoint = await account.call('POST', '/endpoints', {
      name: 'hook',
      type: 'webhook',
      config: { url: receiver.url },
    });
    const bench = new FaultBench(service, receiver, account);
    const address = await account.call('POST', '/email-addresses', {
      address: bench.address,
      domainId: account.domainId,
      endpointId: endpoint.body.id,
    });
    bench.#endpointId = endpoint.body.id;
    bench.#addressId = address.body.id;
    return bench;
  }

  async stop(): Promise<void> {
    await this.service.stop();
    await this.receiver.stop();
  }

  /** Offers new messages, padded to that size, and adds them to the ledger; returns the reply to each. `limitMs`: of silence, after which a client leaves. */
  async offer(
    count: number,
    options: { sessions?: number; perSecond?: number; sizeBytes?: number; recipient?: string; limitMs?: number } = {},
  ): Promise<SmtpLoadResult[]> {
    const first = this.#count;
    this.#count += count;
    const bytes = Array.from({ length: count }, (_, n) => this.#compose(first + n, options.sizeBytes ?? 0));
    const results = await this.#send(bytes, options);
    for (const result of results)
      this.offers.push({
        bytes: bytes[result.n] ?? Buffer.alloc(0),
        recipients: [options.recipient ?? this.address],
        result,
      });
    return results;
  }

  /** Creates a reply address of the mailbox that accepts so many messages. */
  async replyAddress(maxMessages: number): Promise<{ id: string; address: string }> {
    const input = { domain: this.account.domain, deliver_to: this.address, max_messages: maxMessages };
    const made = await this.account.call('POST', '/reply-addresses', input);
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    return made.body as { id: string; address: string };
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

  /** Offers again, as an MTA would, all that did not get 250, until each has it. What was refused may not be stored by then (I2). */
  async offerAgain(): Promise<void> {
    for (let round = 0; round < 10; round++) {
      expect(await checkRefused(await this.service.databaseUrl(), this.offers)).toEqual([]);
      const open = this.offers.filter((offer) => offer.result.code !== 250);
      if (open.length === 0) return;
      for (const [recipient, group] of Map.groupBy(open, ({ recipients }) => recipients[0] ?? this.address)) {
        const bytes = group.map((offer) => Buffer.from(offer.bytes));
        for (const result of await this.#send(bytes, { recipient })) {
          const offer = group[result.n];
          if (offer !== undefined && result.code !== null) offer.result = result;
        }
      }
    }
    throw new Error(`refused for good: ${this.offers.find((offer) => offer.result.code !== 250)?.result.reply}`);
  }

  /** Awaits that everything is delivered, then that I1 to I3 and I5 hold. */
  async settle(): Promise<void> {
    const databaseUrl = await this.service.databaseUrl();
    await passLeases(databaseUrl);
    await awaitDrained(databaseUrl, 180_000);
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
    this.#stranger ??= await this.service.createAccount();
    expect(await seenByStranger(this.#stranger, this.account.workspaceId, databaseUrl)).toEqual([]);
  }

  /** Asks for the account and its mail by every route and field, as a stranger; see sweepService. Comes last: what it leaves is in no book. */
  sweep(): ReturnType<typeof sweepService> {
    const { workspaceId, apiKey, domainId } = this.account;
    const mailbox = {
      workspaceId,
      apiKey,
      domainId,
      address: this.address,
      addressId: this.#addressId,
      endpointId: this.#endpointId,
    };
    return sweepService(this.service, mailbox, isFullLength ? 'some' : 'few');
  }

  /** Offers messages, so many a second, until it is stopped; then returns the reply to each. */
  offerContinuously(perSecond: number): ContinuousLoad {
    const results: SmtpLoadResult[] = [];
    let isStopping = false;
    const run = async () => {
      while (!isStopping) results.push(...(await this.offer(Math.ceil(perSecond / 5), { sessions: 4, perSecond })));
    };
    const done = run();
    return {
      results,
      async stop() {
        isStopping = true;
        await done;
        return results;
      },
    };
  }

  #send(
    bytes: Buffer[],
    options: { sessions?: number; perSecond?: number; recipient?: string; limitMs?: number },
  ): Promise<SmtpLoadResult[]> {
    return smtpLoad({
      host: '127.0.0.1',
      port: this.service.smtpPort,
      count: bytes.length,
      sessions: options.sessions ?? 10,
      isReusingConnections: true,
      reversePath: 'sender@elsewhere.test',
      recipients: () => [options.recipient ?? this.address],
      message: (n) => toWireForm(bytes[n] ?? Buffer.alloc(0)),
      ...(options.perSecond === undefined ? {} : { perSecond: options.perSecond }),
      ...(options.limitMs === undefined ? {} : { limitMs: options.limitMs }),
    });
  }

  #compose(n: number, sizeBytes: number): Buffer {
    const lines = [
      `Message-ID: <${n}@ledger.test>`,
      // Without it, a repetition is recognized for ten minutes only (core/smtp/repeated-mail.ts): passLeases moves the clock further.
      'Date: Sun, 22 Nov 2026 12:00:00 +0000',
      'From: ledger@elsewhere.test',
      `To: ${this.address}`,
      `Subject: Ledger ${n}`,
      // Text of that size takes its readers long, and hundreds wait after the kills.
      ...(sizeBytes > 0 ? ['Content-Type: application/octet-stream', 'Content-Transfer-Encoding: base64'] : []),
      '',
      `Body ${n}`,
      ...Array.from({ length: Math.floor(sizeBytes / FILLER_LINE_BYTES) }, fillerLine),
      '',
    ];
    return Buffer.from(lines.join('\r\n'));
  }
}

const FILLER_LINE_BYTES = 74;

/** Random: PostgreSQL compresses what repeats. */
function fillerLine(): string {
  return randomBytes(54).toString('base64');
}

/** Lets the leases of killed processes run out at once, by the clock that decides of them. */
export async function passLeases(databaseUrl: string): Promise<void> {
  await queryOnce(databaseUrl, `update clock set shift = shift + interval '31 seconds'`);
}
