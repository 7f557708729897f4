import type { Database } from '../../../db/connection/database.ts';
import { createTestDatabase } from '../../support/cluster/database.ts';
import { createSender, type QueuedMail, queueMail, type TestSender } from '../../support/rows/queued-mail.ts';
import { type DnsServer, startDnsServer } from '../../support/servers/dns.ts';
import { type SinkMta, type SinkOptions, startSinkMta } from '../../support/servers/sink-mta.ts';
import { moveClock, SECRET_KEY, startSending, type TestSending } from './sending.ts';

/** All that a test of sending needs; one per file. */
export interface SendingStage {
  /** under the actors' role */
  database: Database;
  /** the database's owner */
  owner: Database;
  dns: DnsServer;
  /** of `box.test`, with a key */
  sender: TestSender;
  startSink(options?: SinkOptions): Promise<SinkMta>;
  /** Starts an actor that asks the stage's DNS server. */
  start(options: Parameters<typeof startSending>[1]): Promise<TestSending>;
  /** Publishes mail servers of that domain at these addresses, the first one preferred. */
  publish(domain: string, ...addresses: string[]): void;
  /** Queues an email and tells the last actor that was started. */
  send(mail: QueuedMail, sender?: TestSender): Promise<string>;
  /** Moves the clock by which rows fall due, and tells the last actor that was started. */
  moveClock(seconds: number): Promise<void>;
  /** Stops actors and sinks; after each test. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

export async function createStage(): Promise<SendingStage> {
  const testDatabase = await createTestDatabase();
  const owner = testDatabase.open(null);
  const dns = await startDnsServer();
  const sender = await createSender(owner, 'box.test', SECRET_KEY);
  const sinks: SinkMta[] = [];
  const actors: TestSending[] = [];
  const database = testDatabase.open('postroom_actor');
  return {
    database,
    owner,
    dns,
    sender,
    async startSink(options = {}) {
      const sink = await startSinkMta(options);
      sinks.push(sink);
      return sink;
    },
    async start(options) {
      const actor = await startSending(database, { dnsServers: [dns.address], ...options });
      actors.push(actor);
      return actor;
    },
    publish(domain, ...addresses) {
      const records = addresses.map((_, n) => ({ preference: 10 * (n + 1), exchange: `mx${n + 1}.${domain}` }));
      dns.set(domain, 'MX', records);
      for (const [n, address] of addresses.entries())
        dns.set(`mx${n + 1}.${domain}`, address.includes(':') ? 'AAAA' : 'A', [address]);
    },
    async send(mail, from = sender) {
      const emailId = await queueMail(owner, from, mail);
      actors.at(-1)?.wake(from.workspaceId, emailId);
      return emailId;
    },
    async moveClock(seconds) {
      await moveClock(owner, seconds);
      const { rows } = await owner.pool.query<{ workspace_id: string; email_id: string }>(
        `select distinct workspace_id, email_id from recipient where status = 'pending' and next_attempt_at <= postroom_now()`,
      );
      for (const row of rows) actors.at(-1)?.wake(row.workspace_id, row.email_id);
    },
    async clear() {
      // Sinks first: attempts that hang end with them.
      await Promise.all(sinks.splice(0).map((sink) => sink.stop()));
      await Promise.all(actors.splice(0).map((actor) => actor.stop()));
      // What a test left undone shall not be the next one's.
      await owner.pool.query(`update recipient set status = 'failed', next_attempt_at = null where status = 'pending'`);
      await owner.pool.query(`delete from suppression`);
    },
    async close() {
      await dns.stop();
      await testDatabase.drop();
    },
  };
}
