import { type ServiceMode, type ServiceOptions, until } from '../servers/service.ts';
import type { SinkMessage } from '../servers/sink-mta.ts';
import { SmtpClient, toData } from '../servers/smtp-client.ts';
import { type OwnGround, SendingStage, type SharedGround } from './sending-stage.ts';

/** A delivery of an endpoint that forwards, with its recipients. */
export interface ForwardSight {
  id: string;
  endpoint_id: string;
  status: string;
  attempts: number;
  is_null_sender: boolean | null;
  error: string | null;
  status_code: number | null;
  wait_seconds: number | null;
  recipients: { id: string; address: string; status: string; last_code: number | null; reported: boolean }[];
}

/** The whole service with a sink, and how mail is brought in and seen to leave as copies. */
export class ForwardingStage<Ground extends OwnGround | SharedGround = OwnGround> {
  readonly sending: SendingStage<Ground>;
  #addresses = 0;

  private constructor(sending: SendingStage<Ground>) {
    this.sending = sending;
  }

  static async start(
    mode: ServiceMode,
    environment: Record<string, string> = {},
    options: Pick<ServiceOptions, 'processes'> = {},
  ): Promise<ForwardingStage> {
    return new ForwardingStage(await SendingStage.start(mode, environment, options));
  }

  /** See SendingStage.share. */
  static async share(mode: ServiceMode, peer: string): Promise<ForwardingStage<SharedGround>> {
    return new ForwardingStage(await SendingStage.share(mode, peer));
  }

  stop(): Promise<void> {
    return this.sending.stop();
  }

  /** Makes an address whose mail goes to an endpoint of that config. */
  async forwarding(
    config: Record<string, unknown>,
    localPart = `box${this.#addresses++}`,
  ): Promise<{ address: string; endpointId: string }> {
    const { account } = this.sending;
    const type = 'emails' in config ? 'email_group' : 'email';
    const endpoint = await account.call('POST', '/endpoints', { name: localPart, type, config });
    if (endpoint.status !== 201) throw new Error(`POST /endpoints: ${JSON.stringify(endpoint.body)}`);
    const address = `${localPart}@${account.domain}`;
    const body = { address, domainId: account.domainId, endpointId: endpoint.body.id };
    const made = await account.call('POST', '/email-addresses', body);
    if (made.status !== 201) throw new Error(`POST /email-addresses: ${JSON.stringify(made.body)}`);
    return { address, endpointId: endpoint.body.id };
  }

  /** Offers a message by SMTP; returns the id of the email. Throws with the reply when it is refused. */
  async offer(to: string, bytes: Uint8Array | string, reversePath = 'ann@peer.test'): Promise<string> {
    const client = await SmtpClient.greet(this.sending.service.smtpPort);
    try {
      await client.say(`MAIL FROM:<${reversePath}>`);
      await client.say(`RCPT TO:<${to}>`);
      await client.say('DATA');
      client.send(toData(typeof bytes === 'string' ? Buffer.from(bytes) : bytes));
      const { text } = await client.reply();
      const id = /em_[0-9a-f]{32}/.exec(text)?.[0];
      if (id === undefined) throw new Error(text);
      return id;
    } finally {
      client.destroy();
    }
  }

  /** The deliveries of emails, oldest first. */
  listDeliveries(...emailIds: string[]): Promise<ForwardSight[]> {
    return this.sending.query<ForwardSight>(
      `select d.id, d.endpoint_id, d.status, d.attempts, d.is_null_sender, d.response_data->>'error' as error,
         (d.response_data->>'statusCode')::integer as status_code,
         extract(epoch from d.next_attempt_at - postroom_now())::float8 as wait_seconds, (
         select coalesce(json_agg(json_build_object('id', r.id, 'address', r.address, 'status', r.status, 'last_code', r.last_code,
           'reported', r.reported_at is not null) order by r.address), '[]')
         from recipient r where r.workspace_id = d.workspace_id and r.delivery_id = d.id) as recipients
       from delivery d where d.email_id = any($1) order by d.id`,
      [emailIds],
    );
  }

  /** Resolves with the only delivery of the email when it meets the condition. */
  async untilDelivery(emailId: string, isMet: (delivery: ForwardSight) => boolean): Promise<ForwardSight> {
    let found: ForwardSight | undefined;
    await until(
      `the delivery of ${emailId}`,
      () => `${JSON.stringify(found)}\n${this.sending.service.output.slice(-3000)}`,
      async () => {
        [found] = await this.listDeliveries(emailId);
        return found !== undefined && isMet(found);
      },
    );
    if (found === undefined) throw new Error('unreachable');
    return found;
  }

  settled(emailId: string): Promise<ForwardSight> {
    return this.untilDelivery(emailId, ({ status }) => status !== 'pending');
  }

  /** The messages that the sink took for that address, when there are so many. */
  async copiesTo(address: string, count = 1): Promise<SinkMessage[]> {
    const { sink, service } = this.sending;
    const found = () => sink.messages.filter(({ recipients }) => recipients.includes(address));
    await sink
      .until(() => found().length >= count)
      .catch((error: unknown) => {
        throw new Error(service.output.slice(-3000), { cause: error });
      });
    return found();
  }

  /** The only copy for that address. */
  async copyTo(address: string): Promise<SinkMessage> {
    const [copy, second] = await this.copiesTo(address);
    if (copy === undefined || second !== undefined) throw new Error(`not one copy to ${address}`);
    return copy;
  }

  /** The kinds of the events of a delivery, in order. */
  async listEvents(deliveryId: string): Promise<string[]> {
    const rows = await this.sending.query<{ kind: string }>(
      'select kind from event where delivery_id = $1 order by seq',
      [deliveryId],
    );
    return rows.map(({ kind }) => kind);
  }

  async readStats(endpointId: string): Promise<{ total: number; successful: number; failed: number } | undefined> {
    const [row] = await this.sending.query<{ total: number; successful: number; failed: number }>(
      'select total::int, successful::int, failed::int from endpoint_stat where endpoint_id = $1',
      [endpointId],
    );
    return row;
  }
}
