import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DomainAccount } from '../servers/service.ts';
import { sendOne } from '../servers/smtp-load.ts';
import type { Offer } from '../stages/ledger.ts';
import type { ApiSend } from '../stages/sending-ledger.ts';

/** One of those whose mail comes and goes. */
export interface TrafficAccount {
  apiKey: string;
  domain: string;
  /** takes mail */
  address: string;
}

export interface TrafficOrder {
  /** where the world delivers: servers of one MX record, tried in turn */
  smtp: readonly { host: string; port: number }[];
  /** the gateways' base URLs, tried in turn */
  urls: readonly string[];
  /** whether HTTP connections are kept; true unless told: where connections are balanced, not requests, a gateway that comes later gets none of these */
  isReusingConnections?: boolean;
  accounts: readonly TrafficAccount[];
}

export interface TrafficRate {
  inPerSecond: number;
  outPerSecond: number;
}

/** Between two tries of a message; an MTA would take minutes. Milliseconds. */
const RETRY_MS = 1_000;
/** After so long of tries a message or a request is given up. Milliseconds. */
const PATIENCE_MS = 240_000;
/** Mail that is under way at once, in seconds of its pace. */
const MAX_OPEN_SECONDS = 8;
/** Of an MTA for one reply; longer than any question of the service takes. Milliseconds. */
const REPLY_LIMIT_MS = 45_000;
/** Of a client for one response. Milliseconds. */
const RESPONSE_LIMIT_MS = 30_000;

/**
 * Mail in and out at a steady pace, sent as an MTA and an API client send it: what is answered with 4xx, or not at all, is offered again,
 * to the next server, until it is taken; a request that found no response is repeated with its Idempotency-Key. What was said meanwhile is counted.
 */
export class MailTraffic {
  readonly offers: Offer[] = [];
  readonly sends: ApiSend[] = [];
  /** how often each word was heard beside 250 and 2xx: `451 4.3.0`, `503`, `ECONNRESET` */
  readonly smtpTrouble = new Map<string, number>();
  readonly httpTrouble = new Map<string, number>();
  /** by account, the ids of what was sent */
  readonly sentIds = new Map<string, string[]>();
  readonly #order: TrafficOrder;
  readonly #open = new Set<Promise<void>>();
  #count = 0;

  constructor(order: TrafficOrder) {
    this.#order = order;
  }

  /** Offers new mail at that pace until told to stop; the stop resolves when all of it is taken or given up. */
  start(rate: TrafficRate): { stop: () => Promise<void> } {
    const ends = [
      this.#pace(rate.inPerSecond, (n) => this.#offer(n)),
      this.#pace(rate.outPerSecond, (n) => this.#send(n)),
    ];
    return {
      stop: async () => {
        for (const end of ends) end();
        await Promise.all(this.#open);
      },
    };
  }

  /** Offers mail at that pace for so long, and awaits that it is taken. */
  async run(rate: TrafficRate, seconds: number): Promise<void> {
    const traffic = this.start(rate);
    await sleep(seconds * 1_000);
    await traffic.stop();
  }

  #pace(perSecond: number, begin: (n: number) => Promise<void>): () => void {
    if (perSecond === 0) return () => undefined;
    const startedAt = performance.now();
    let begun = 0;
    // Whatever the timer misses on a busy machine is made up for.
    const timer = setInterval(() => {
      for (; begun < ((performance.now() - startedAt) / 1_000) * perSecond; begun++) {
        // Whoever waits for this many responses has no further mail: what a machine that is busy cannot take shall not pile up.
        if (this.#open.size >= perSecond * MAX_OPEN_SECONDS) continue;
        const work = begin(this.#count++).finally(() => this.#open.delete(work));
        this.#open.add(work);
      }
    }, 1_000 / perSecond);
    return () => clearInterval(timer);
  }

  async #offer(n: number): Promise<void> {
    const { address } = this.#account(n);
    const bytes = compose(n, address);
    const offer: Offer = { bytes, recipients: [address], result: { code: null, reply: 'never', isDataSent: false } };
    this.offers.push(offer);
    const deadline = performance.now() + PATIENCE_MS;
    for (let attempt = 0; performance.now() < deadline; attempt++) {
      const { host, port } = pick(this.#order.smtp, n + attempt);
      const result = await sendOne({
        host,
        port,
        reversePath: 'sender@elsewhere.test',
        recipients: [address],
        bytes: bytes,
        limitMs: REPLY_LIMIT_MS,
      });
      const isDataSent = offer.result.isDataSent || result.isDataSent === true;
      offer.result = { code: result.code ?? null, reply: result.reply ?? '', isDataSent };
      if (offer.result.code === 250) return;
      // A banner of 4xx ends the try, too: the code is in what is thrown.
      const heard = /\b[245]\d\d \d\.\d\.\d|\b[45]\d\d\b|E[A-Z]{4,}|connection closed|no reply/.exec(
        offer.result.reply,
      );
      count(this.smtpTrouble, heard?.[0] ?? offer.result.reply);
      if ((offer.result.code ?? 0) >= 500) return;
      await sleep(RETRY_MS);
    }
  }

  async #send(n: number): Promise<void> {
    const { apiKey, domain } = this.#account(n);
    const recipients = [`r${n}@elsewhere.test`];
    const send: ApiSend = { status: null, id: null, messageId: null, recipients };
    this.sends.push(send);
    const request: RequestInit = {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
        ...(this.#order.isReusingConnections === false ? { connection: 'close' } : {}),
      },
      body: JSON.stringify({ from: `hello@${domain}`, to: recipients, subject: `Out ${n}`, text: `Body ${n}` }),
    };
    const deadline = performance.now() + PATIENCE_MS;
    for (let attempt = 0; performance.now() < deadline; attempt++) {
      const response = await post(`${pick(this.#order.urls, n + attempt)}/api/e2/emails`, request);
      send.status = typeof response === 'string' ? null : response.status;
      if (typeof response !== 'string' && response.status < 300) {
        send.id = response.body.id;
        send.messageId = response.body.message_id;
        this.sentIds.set(domain, [...(this.sentIds.get(domain) ?? []), response.body.id]);
        return;
      }
      count(this.httpTrouble, typeof response === 'string' ? response : String(response.status));
      // 409: an earlier try of the same key is still under way.
      if (typeof response !== 'string' && ![409, 502, 503, 504].includes(response.status)) return;
      await sleep(RETRY_MS);
    }
  }

  #account(n: number): TrafficAccount {
    return pick(this.#order.accounts, n);
  }
}

/** A new account on that stage with an address that takes mail and tells the webhook of it. */
export async function createTrafficAccount(
  stage: { createAccount(): Promise<DomainAccount> },
  url: string,
): Promise<DomainAccount & TrafficAccount> {
  const account = await stage.createAccount();
  const made = async (route: string, body: unknown) => {
    const response = await account.call('POST', route, body);
    if (response.status !== 201) throw new Error(`POST ${route}: ${response.status} ${JSON.stringify(response.body)}`);
    return response.body.id as string;
  };
  const endpointId = await made('/endpoints', { name: 'hook', type: 'webhook', config: { url } });
  const address = `box@${account.domain}`;
  await made('/email-addresses', { address, domainId: account.domainId, endpointId });
  return { ...account, address };
}

/** Every fifth message is a reply by its subject alone: what joins a thread so takes another way than the rest. */
function compose(n: number, address: string): Buffer {
  const lines = [
    `Message-ID: <${n}-${randomUUID()}@traffic.test>`,
    'Date: Sun, 22 Nov 2026 12:00:00 +0000',
    'From: traffic@elsewhere.test',
    `To: ${address}`,
    `Subject: ${n % 5 === 0 ? `Re: Conversation ${Math.floor(n / 100)}` : `In ${n}`}`,
    '',
    `Body ${n}`,
    '',
  ];
  return Buffer.from(lines.join('\r\n'));
}

/** The response, or the word for why there was none. */
async function post(
  url: string,
  request: RequestInit,
): Promise<string | { status: number; body: { id: string; message_id: string } }> {
  try {
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(RESPONSE_LIMIT_MS) });
    const isJson = (response.headers.get('content-type') ?? '').includes('json');
    const text = await response.text();
    return { status: response.status, body: isJson ? JSON.parse(text) : { id: '', message_id: '' } };
  } catch (error) {
    const { cause, name } = error as { cause?: { code?: string }; name: string };
    return cause?.code ?? name;
  }
}

function pick<T>(list: readonly T[], n: number): T {
  const item = list[n % list.length];
  if (item === undefined) throw new Error('there is nothing to choose from');
  return item;
}

function count(trouble: Map<string, number>, word: string): void {
  trouble.set(word, (trouble.get(word) ?? 0) + 1);
}
