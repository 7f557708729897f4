import { randomBytes } from 'node:crypto';
import type { Actor, ActorContext } from '../../../actors/actor.ts';
import { type SendingActorOptions, startSendingActor } from '../../../actors/sending/actor.ts';
import type { Database } from '../../../db/connection/database.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

export const SECRET_KEY = randomBytes(32);

export interface TestSending extends Actor {
  context: ActorContext;
  /** Tells the actor of these emails, as a request would. */
  wake(workspaceId: string, ...emailIds: string[]): void;
}

/** Starts a sending actor that may reach loopback. */
export async function startSending(
  database: Database,
  options: Partial<SendingActorOptions> & Partial<Pick<ActorContext, 'name' | 'bytes' | 'log'>> = {},
): Promise<TestSending> {
  const { name, bytes, log, ...actorOptions } = options;
  const context = {
    ...testActorContext(database, name),
    ...(bytes === undefined ? {} : { bytes }),
    ...(log === undefined ? {} : { log }),
  };
  const actor = await startSendingActor(context, {
    mailHostname: 'out.postroom.test',
    relayUrl: null,
    port: 25,
    inboundSmtp: { host: '127.0.0.1', port: 1 },
    allowedPrivateNetworks: ['127.0.0.0/8', '::1/128'],
    refusedPorts: [],
    secretKey: SECRET_KEY,
    dnsServers: ['127.0.0.1:1'],
    ...actorOptions,
  });
  return {
    ...actor,
    context,
    wake: (workspaceId, ...emailIds) => context.bus.wake('sending.send.wake', { workspaceId, emailIds }),
  };
}

export interface RecipientSight {
  id: string;
  address: string;
  status: string;
  attempts: number;
  /** until the next try, at the time of asking */
  wait_seconds: number | null;
  last_code: number | null;
  last_status: string | null;
  last_text: string | null;
  return_id: string | null;
  claimed_by: string | null;
  /** of the claim, at the time of asking */
  lease_seconds: number | null;
}

/** The recipients of an email in the order of their addresses. */
export async function listRecipients(database: Database, emailId: string): Promise<RecipientSight[]> {
  const { rows } = await database.pool.query<RecipientSight>(
    `select id, address, status, attempts, extract(epoch from next_attempt_at - postroom_now())::float8 as wait_seconds,
            last_code, last_status, last_text, return_id, claimed_by,
            extract(epoch from claimed_until - postroom_now())::float8 as lease_seconds
     from recipient where email_id = $1 order by address`,
    [emailId],
  );
  return rows;
}

export interface AttemptSight {
  number: number;
  outcome: string | null;
  host: string | null;
  remote_address: string | null;
  is_tls: boolean | null;
  code: number | null;
  enhanced_status: string | null;
  text: string | null;
}

/** The attempts for the recipients of an email, in their order. */
export async function listAttempts(database: Database, emailId: string): Promise<AttemptSight[]> {
  const { rows } = await database.pool.query<AttemptSight>(
    `select a.number, a.outcome, a.host, a.remote_address, a.is_tls, a.code, a.enhanced_status, a.text
     from sending_attempt a join recipient r on r.workspace_id = a.workspace_id and r.id = a.recipient_id
     where r.email_id = $1 order by r.address, a.number`,
    [emailId],
  );
  return rows;
}

/** Resolves when the recipients of the email meet the condition; rejects with what they were after a while (120 s by default). */
export async function untilRecipients(
  database: Database,
  emailId: string,
  isMet: (recipients: RecipientSight[]) => boolean,
  limitMs = 120_000,
): Promise<RecipientSight[]> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const recipients = await listRecipients(database, emailId);
    if (recipients.length > 0 && isMet(recipients)) return recipients;
    if (Date.now() > deadline) throw new Error(`recipients did not come to that: ${JSON.stringify(recipients)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Resolves when every recipient of the email was tried and none is held. */
export function untilTried(database: Database, emailId: string, attempts = 1): Promise<RecipientSight[]> {
  return untilRecipients(database, emailId, (recipients) =>
    recipients.every((recipient) => recipient.attempts >= attempts && recipient.claimed_by === null),
  );
}

export interface EmailSight {
  status: string;
  failure_reason: string | null;
  sent_at: Date | null;
  events: { kind: string; data: unknown }[];
}

export async function readEmail(database: Database, emailId: string): Promise<EmailSight> {
  const { rows } = await database.pool.query<EmailSight>(
    `select status, failure_reason, sent_at,
       (select coalesce(json_agg(json_build_object('kind', v.kind, 'data', v.data) order by v.seq), '[]')
        from event v where v.workspace_id = e.workspace_id and v.email_id = e.id) as events
     from email e where id = $1`,
    [emailId],
  );
  const [email] = rows;
  if (email === undefined) throw new Error('no such email');
  return email;
}

/** Moves the clock by which rows fall due; `owner` is the database's owner. */
export async function moveClock(owner: Database, seconds: number): Promise<void> {
  await owner.pool.query(`update clock set shift = shift + $1 * interval '1 second'`, [seconds]);
}
