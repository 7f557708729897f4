import { randomInt } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { authenticate } from 'mailauth';
import type pg from 'pg';
import { queryOnce } from '../cluster/cluster.ts';
import { type DnsServer, startDnsServer } from '../servers/dns.ts';
import { Service, type ServiceMode, type ServiceOptions, type TestAccount, until } from '../servers/service.ts';
import { type SharedService, sharedService } from '../servers/shared-service.ts';
import { type SinkMessage, type SinkMta, startSinkMta } from '../servers/sink-mta.ts';

/** The service's name for itself in DNS and in EHLO; a shared one has it, too. */
const MAIL_HOSTNAME = 'mx.postroom.test';

export type StageAccount = TestAccount & { domain: string; domainId: string };

/** What the sink's own check of a message said (RFC 7208, RFC 6376, RFC 9989). */
export interface Verdict {
  spf: { result: string; domain: string };
  dkim: { result: string; domain: string; selector: string }[];
  dmarc: string;
  arc: string;
}

/** A service and a DNS server of the stage's own. */
export interface OwnGround {
  service: Service;
  dns: DnsServer;
}

/** The service and the DNS server that the test files of a run share. Files set records in the zones of their stage, and in those they open. */
export interface SharedGround {
  service: SharedService;
  dns: Pick<DnsServer, 'address' | 'set'>;
}

interface StageParts<Ground> {
  ground: Ground;
  peer: string;
  sink: SinkMta;
  account: StageAccount;
  end: () => Promise<void>;
}

/** The whole service with the rest of the world on loopback: a DNS server, and an SMTP server that is the MX of a domain. */
export class SendingStage<Ground extends OwnGround | SharedGround = OwnGround> {
  readonly service: Ground['service'];
  readonly dns: Ground['dns'];
  /** the domain whose MX the sink is */
  readonly peer: string;
  readonly sink: SinkMta;
  readonly account: StageAccount;
  readonly #end: () => Promise<void>;
  /** The first message of each Message-ID among as many of the sink's as were looked at. */
  readonly #messages = new Map<string | null, SinkMessage>();
  #lookedAt = 0;

  private constructor({ ground, peer, sink, account, end }: StageParts<Ground>) {
    this.service = ground.service;
    this.dns = ground.dns;
    this.peer = peer;
    this.sink = sink;
    this.account = account;
    this.#end = end;
  }

  /** Starts a service. The sink is the MX of `elsewhere.test`. */
  static async start(
    mode: ServiceMode,
    environment: Record<string, string> = {},
    options: Pick<ServiceOptions, 'hasMetrics' | 'processes'> = {},
  ): Promise<SendingStage> {
    const dns = await startDnsServer();
    const peer = 'elsewhere.test';
    const sink = await startSinkMta({ name: `mx.${peer}` });
    dns.set(MAIL_HOSTNAME, 'A', ['127.0.0.1']);
    pointTo(sink, peer, dns);
    try {
      const service = await Service.start(mode, {
        ...options,
        environment: {
          DNS_SERVERS: dns.address,
          MAIL_HOSTNAME,
          OUTBOUND_PORT: String(sink.port),
          ...environment,
        },
      });
      const account = await service.createAccount();
      const end = async () => {
        await service.stop();
        await sink.stop();
        await dns.stop();
      };
      const stage = new SendingStage<OwnGround>({ ground: { service, dns }, peer, sink, account, end });
      await stage.publish(account);
      return stage;
    } catch (error) {
      await sink.stop();
      await dns.stop();
      throw error;
    }
  }

  /**
   * Returns a stage on the service that the test files of a run share; sharedService says what a file may not do. The sink is the MX of
   * `peer`, a domain that no other file uses.
   */
  static async share(mode: ServiceMode, peer: string): Promise<SendingStage<SharedGround>> {
    const service = await sharedService(mode);
    const account = await service.createAccount();
    const zones = [peer, account.domain].map((apex) => ({ apex, zone: service.openZone(apex) }));
    const dns: SharedGround['dns'] = {
      address: service.environment['DNS_SERVERS'] ?? '',
      set(name, type, records) {
        const found = zones.find(({ apex }) => `.${name}`.endsWith(`.${apex}`));
        if (found === undefined) throw new Error(`${name} is in no zone of the stage`);
        found.zone.set(name, type, records);
      },
    };
    // The sinks of all files share the port, so each is at an address of its own.
    const host = `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;
    const sink = await startSinkMta({ name: `mx.${peer}`, host, port: service.outboundPort });
    pointTo(sink, peer, dns);
    const stage = new SendingStage<SharedGround>({
      ground: { service, dns },
      peer,
      sink,
      account,
      end: () => sink.stop(),
    });
    await stage.publish(account);
    return stage;
  }

  /** Ends what is the stage's own. */
  stop(): Promise<void> {
    return this.#end();
  }

  /** Puts into DNS what GET /domains/:id tells the owner to publish, as it stands there; returns the records. */
  async publish(account: StageAccount): Promise<{ type: string; name: string; value: string }[]> {
    const response = await account.call('GET', `/domains/${account.domainId}`);
    const records: { type: string; name: string; value: string }[] = response.body.dnsRecords;
    for (const { type, name } of records) {
      const values = records.filter((each) => each.type === type && each.name === name).map(({ value }) => value);
      this.dns.set(name, type, type === 'MX' ? values.map(toMx) : values);
    }
    return records;
  }

  /** Makes an address of the account's domain that takes mail; returns it. */
  async createAddress(localPart: string, account: StageAccount = this.account): Promise<string> {
    const address = `${localPart}@${account.domain}`;
    const made = await account.call('POST', '/email-addresses', { address, domainId: account.domainId });
    if (made.status !== 201) throw new Error(`POST /email-addresses: ${made.status} ${JSON.stringify(made.body)}`);
    return address;
  }

  /** Runs one statement as the database's owner, on a connection of its own. */
  async query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return queryOnce<Row>(await this.service.databaseUrl(), text, values);
  }

  /** Moves the clock by which PostgreSQL decides what is due; not on a shared service. */
  async passSeconds(seconds: number): Promise<void> {
    await this.query(`update clock set shift = shift + $1 * interval '1 second'`, [seconds]);
  }

  /** Makes a scheduled email of the account due now. */
  async makeDue(id: string): Promise<void> {
    await this.query('update email set scheduled_at = postroom_now() where workspace_id = $1 and id = $2', [
      this.account.workspaceId,
      id,
    ]);
  }

  /** Makes the recipients of an email of the account so much older: what they wait for is due so much earlier. */
  async age(id: string, seconds: number): Promise<void> {
    await this.query(
      `update recipient set queued_at = queued_at - $3 * interval '1 second',
         next_attempt_at = next_attempt_at - $3 * interval '1 second' where workspace_id = $1 and email_id = $2`,
      [this.account.workspaceId, id, seconds],
    );
  }

  /** The instant so many seconds from now by that clock, as `scheduled_at` takes it. */
  async instantIn(seconds: number): Promise<string> {
    const [row] = await this.query<{ at: Date }>(`select postroom_now() + $1 * interval '1 second' as at`, [seconds]);
    return row?.at.toISOString() ?? '';
  }

  /** Resolves when the email shows that status in GET /emails/:id; returns its body. */
  async awaitStatus(id: string, status: string, limitMs?: number): Promise<StatusBody> {
    let body: StatusBody | null = null;
    await until(
      `${id} turns ${status}`,
      () => `${JSON.stringify(body)}\n${this.service.output.slice(-3000)}`,
      async () => {
        body = (await this.account.call('GET', `/emails/${id}`)).body as StatusBody;
        return body.status === status;
      },
      limitMs,
    );
    return body ?? {};
  }

  /** Resolves with the message that the sink took under that Message-ID. */
  async awaitMessage(messageId: string, limitMs?: number): Promise<SinkMessage> {
    await this.sink.until(() => this.#find(messageId) !== undefined, limitMs);
    const message = this.#find(messageId);
    if (message === undefined) throw new Error('unreachable');
    return message;
  }

  #find(messageId: string): SinkMessage | undefined {
    for (const message of this.sink.messages.slice(this.#lookedAt)) {
      const id = readMessageId(message);
      if (!this.#messages.has(id)) this.#messages.set(id, message);
    }
    this.#lookedAt = this.sink.messages.length;
    return this.#messages.get(messageId);
  }

  /** What a receiver that asks this DNS makes of a message. */
  async verify(message: SinkMessage): Promise<Verdict> {
    const resolver = new Resolver();
    resolver.setServers([this.dns.address]);
    const { spf, dkim, dmarc, arc } = await authenticate(message.bytes, {
      sender: message.from,
      ip: message.connection.remoteAddress,
      helo: message.connection.helo ?? '',
      mta: 'mx.test',
      resolver: (name, type) => resolver.resolve(name, type) as Promise<string[] | string[][]>,
      disableBimi: true,
    });
    return {
      spf: spf === false ? { result: 'none', domain: '' } : { result: spf.status.result, domain: spf.domain ?? '' },
      dkim: dkim.results.map(({ status, signingDomain, selector }) => ({
        result: status.result,
        domain: signingDomain ?? '',
        selector: selector ?? '',
      })),
      dmarc: dmarc === false ? 'none' : dmarc.status.result,
      arc: arc === false ? 'none' : arc.status.result,
    };
  }
}

/** As GET /emails/:id answers; tests read into it. */
// oxlint-disable-next-line typescript/no-explicit-any -- what is in it is under test
export type StatusBody = Record<string, any>;

/** The value of the only header field of that name, unfolded; null when it is absent. Throws when there are several. */
export function readField(bytes: Buffer, name: string): string | null {
  const values = listFields(bytes)
    .filter(([each]) => each.toLowerCase() === name.toLowerCase())
    .map(([, value]) => value);
  if (values.length > 1) throw new Error(`${name} stands there ${values.length} times`);
  return values[0] ?? null;
}

/** The header fields in their order, unfolded. */
export function listFields(bytes: Buffer): [name: string, value: string][] {
  const section = bytes.toString('latin1').split('\r\n\r\n', 1)[0] ?? '';
  return section
    .replace(/\r\n([ \t])/g, '$1')
    .split('\r\n')
    .map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
}

/** The Message-ID that a message bears. */
export function readMessageId(message: Pick<SinkMessage, 'bytes'>): string | null {
  return readField(message.bytes, 'Message-ID');
}

/** Makes the sink the MX of the domain. */
function pointTo(sink: SinkMta, domain: string, dns: Pick<DnsServer, 'set'>): void {
  dns.set(`mx.${domain}`, 'A', [sink.host]);
  dns.set(domain, 'MX', [{ preference: 10, exchange: `mx.${domain}` }]);
}

function toMx(value: string): { preference: number; exchange: string } {
  const [preference, exchange = ''] = value.split(' ');
  return { preference: Number(preference), exchange };
}
