import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Actor } from '../../../actors/actor.ts';
import { startReceivingActor } from '../../../actors/receiving/actor.ts';
import { startThreadingActor } from '../../../actors/threading/actor.ts';
import type { Database } from '../../../db/connection/database.ts';
import type { Bus } from '../../../schema/messages.ts';
import { createTestDatabase } from '../cluster/database.ts';
import { offerMessage } from '../rows/offer-message.ts';
import { createMailbox, type MailboxOptions, type TestMailbox } from '../rows/routing-rows.ts';
import { listRecipients, type SentMail, testSecretKey } from '../rows/sent-mail.ts';
import { testActorContext } from '../stages/actor-context.ts';

/** Running actors that receive and thread, over a database of their own. */
export interface ReportActors {
  /** role postroom_actor */
  database: Database;
  /** the database's owner */
  owner: Database;
  bus: Bus;
  /** a new account with a domain of its own */
  mailbox(options?: Partial<MailboxOptions>): Promise<TestMailbox>;
  /**
   * Offers a message as SMTP does, and awaits that it is parsed. Returns the identifier that its email bears if it makes one, or the
   * reply code when the recipient is refused.
   */
  deliver(bytes: Buffer, recipient: string, reversePath?: string): Promise<string | number>;
  suppressions(workspaceId: string): Promise<Record<string, unknown>[]>;
  /** the events that reports make */
  events(workspaceId: string): Promise<Record<string, unknown>[]>;
  /** undefined when there is none */
  email(emailId: string | number): Promise<Record<string, unknown> | undefined>;
  /** all that a report may change */
  state(workspaceId: string, sent: SentMail): Promise<unknown>;
  close(): Promise<void>;
}

export async function openReportActors(): Promise<ReportActors> {
  const testDatabase = await createTestDatabase();
  const database = testDatabase.open('postroom_actor');
  const owner = testDatabase.open(null);
  const context = testActorContext(database);
  const { bus } = context;
  const receiving = await startReceivingActor(context, {
    workers: 1,
    // a closed port: every look-up fails at once
    dnsServers: ['127.0.0.1:1'],
    dataDirectory: null,
    mailHostname: 'mx.test',
    secretKey: testSecretKey,
  });
  const actors: Actor[] = [receiving, await startThreadingActor(context)];

  async function suppressions(workspaceId: string): Promise<Record<string, unknown>[]> {
    const { rows } = await database.pool.query(
      'select address, reason, detail, email_id from suppression where workspace_id = $1 order by address',
      [workspaceId],
    );
    return rows;
  }

  async function events(workspaceId: string): Promise<Record<string, unknown>[]> {
    const { rows } = await database.pool.query(
      `select kind, email_id, data from event
       where workspace_id = $1 and kind in ('email.bounced', 'email.delayed', 'email.complained') order by seq`,
      [workspaceId],
    );
    return rows;
  }

  async function email(emailId: string | number): Promise<Record<string, unknown> | undefined> {
    const { rows } = await database.pool.query(
      'select type, status, failure_reason, own_address, address_id, domain_id, recipient, thread_id from email where id = $1',
      [emailId],
    );
    return rows[0];
  }

  return {
    database,
    owner,
    bus,
    suppressions,
    events,
    email,
    mailbox(options = {}) {
      const domain = options.domain ?? `${randomBytes(4).toString('hex')}.test`;
      return createMailbox(database, { address: `hello@${domain}`, ...options, domain });
    },
    async deliver(bytes, recipient, reversePath = '') {
      const offered = await offerMessage(bus, bytes, { recipient, reversePath });
      if ('verdict' in offered) return offered.code;
      const { workspaceId, emailId: receptionId } = offered;
      await eventually(async () => {
        const { rows } = await database.pool.query(
          'select parsed_at from reception where workspace_id = $1 and email_id = $2',
          [workspaceId, receptionId],
        );
        return rows[0]?.parsed_at != null;
      });
      return receptionId;
    },
    async state(workspaceId, sent) {
      return [
        await listRecipients(database, sent.emailId),
        { ...(await email(sent.emailId)), thread_id: null },
        await suppressions(workspaceId),
        await events(workspaceId),
      ];
    },
    async close() {
      await Promise.all(actors.map((actor) => actor.stop()));
      await bus.close();
      await testDatabase.drop();
    },
  };
}

/** Resolves when the condition holds. */
export async function eventually(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(20);
}
