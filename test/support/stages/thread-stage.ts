import { randomBytes } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { ActorContext } from '../../../actors/actor.ts';
import { assignThreads } from '../../../actors/threading/assign-thread.ts';
import type { Database } from '../../../db/connection/database.ts';
import type { Row } from '../../../db/entities/tables.ts';
import { countEmailsSql } from '../../../db/queries/emails/email-counter.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { createTestDatabase } from '../cluster/database.ts';
import { insertEmails, type StoredMail } from '../rows/email-rows.ts';
import { testActorContext } from './actor-context.ts';

/** Threads of users over a database of their own: mail comes in without a thread and gets one; operations change them. */
export interface ThreadStage {
  /** role postroom_actor */
  actor: Database;
  /** no policies, no roles */
  owner: Database;
  threading: ActorContext;
  /** opens another connection pool of that role */
  open(role: 'postroom_actor' | 'postroom_gateway'): Database;
  /** what an operation of that user is given; `database`: instead of the first gateway's */
  makeContext(workspaceId: string, database?: Database): OperationContext;
  /** Stores mails as the receiving actor does, without threads. */
  insert(workspaceId: string, mails: readonly StoredMail[]): Promise<void>;
  /** Stores mails and gives them threads. */
  arrive(workspaceId: string, mails: readonly StoredMail[]): Promise<void>;
  /** in the order of their threads and places */
  listEmails(workspaceId: string): Promise<Row<'email'>[]>;
  listThreads(workspaceId: string): Promise<Selectable<Row<'thread'>>[]>;
  /** the thread of an email */
  findThread(workspaceId: string, emailId: string): Promise<string>;
  /** kind, thread, data of the feed behind the first `skipped` entries */
  listEvents(
    workspaceId: string,
    skipped?: number,
  ): Promise<{ kind: string; thread_id: string; email_id: string; data: object }[]>;
  /** Where threads, emails and counters of the user do not agree; empty when all is well. */
  findFaults(workspaceId: string): Promise<string[]>;
  close(): Promise<void>;
}

export async function openThreadStage(): Promise<ThreadStage> {
  const testDatabase = await createTestDatabase();
  const actor = testDatabase.open('postroom_actor');
  const gateway = testDatabase.open('postroom_gateway');
  const owner = testDatabase.open(null);
  const threading = testActorContext(actor);

  async function insert(workspaceId: string, mails: readonly StoredMail[]): Promise<void> {
    await insertEmails(actor, workspaceId, mails);
    const source = `(select e.*, 1 as delta from email e where e.workspace_id = $1 and e.id = any ($2::text[])) x`;
    const ids = mails.map((mail) => mail.emailId);
    await actor.pool.query(countEmailsSql(source), [workspaceId, ids]);
  }

  return {
    actor,
    owner,
    threading,
    open: (role) => testDatabase.open(role),
    makeContext: (workspaceId, database = gateway) =>
      ({
        workspaceId,
        database,
        bus: threading.bus,
        now: () => new Date(),
        random: randomBytes,
        respondBy: performance.now() + 60_000,
      }) as unknown as OperationContext,
    insert,
    async arrive(workspaceId, mails) {
      await insert(workspaceId, mails);
      const ids = mails.map((mail) => mail.emailId);
      await assignThreads(threading, workspaceId, ids);
    },
    listEmails: (workspaceId) => listEmails(actor, workspaceId),
    listThreads: (workspaceId) => listThreads(actor, workspaceId),
    async findThread(workspaceId, emailId) {
      const { rows } = await actor.pool.query<{ thread_id: string }>(
        'select thread_id from email where workspace_id = $1 and id = $2',
        [workspaceId, emailId],
      );
      return rows[0]?.thread_id ?? '';
    },
    async listEvents(workspaceId, skipped = 0) {
      const { rows } = await actor.pool.query(
        'select kind, thread_id, email_id, data from event where workspace_id = $1 order by seq offset $2',
        [workspaceId, skipped],
      );
      return rows;
    },
    findFaults: (workspaceId) => findThreadFaults(actor, workspaceId),
    close: () => testDatabase.drop(),
  };
}

async function listEmails(actor: Database, workspaceId: string): Promise<Row<'email'>[]> {
  const { rows } = await actor.pool.query<Row<'email'>>(
    `select * from email where workspace_id = $1 order by thread_id, thread_at, id collate "C"`,
    [workspaceId],
  );
  return rows;
}

async function listThreads(actor: Database, workspaceId: string): Promise<Selectable<Row<'thread'>>[]> {
  const { rows } = await actor.pool.query<Selectable<Row<'thread'>>>(
    `select * from thread where workspace_id = $1 order by created_at, id collate "C"`,
    [workspaceId],
  );
  return rows;
}

/** Returns where threads, emails and counters of the user do not agree; `actor`: role postroom_actor. */
export async function findThreadFaults(actor: Database, workspaceId: string): Promise<string[]> {
  const emails = (await listEmails(actor, workspaceId)).filter((email) => email.thread_id !== null);
  return [
    ...faultsOfThreads(emails, await listThreads(actor, workspaceId)),
    ...(await faultsOfCounters(actor, workspaceId)),
    ...(await faultsOfPlaces(actor, workspaceId)),
    ...(await faultsOfTrash(actor, workspaceId)),
  ];
}

function faultsOfThreads(emails: readonly Row<'email'>[], threads: readonly Selectable<Row<'thread'>>[]): string[] {
  const byThread = Map.groupBy(emails, (email) => email.thread_id);
  const orphans = [...byThread.keys()].filter((id) => !threads.some((thread) => thread.id === id));
  return [
    ...orphans.map((id) => `emails of a thread ${id} that is none`),
    ...threads.flatMap((thread) => {
      const members = byThread.get(thread.id) ?? [];
      const received = members.filter((email) => email.type === 'received');
      const [first, last] = [members[0], members.at(-1)];
      const addresses = members.flatMap((email) => [email.from_address, ...email.to_addresses, email.own_address]);
      const shown = (row: object) => JSON.stringify(row);
      const is = shown({
        positions: members.map((email) => email.thread_position),
        ends: [
          thread.created_at,
          thread.root_message_id,
          thread.normalized_subject,
          thread.latest_email_id,
          thread.last_message_at,
        ],
        counts: [thread.message_count, thread.received_count, thread.unread_count, thread.archived_count],
        participants: thread.participant_emails.toSorted(),
        isSearched:
          thread.search_text === [thread.normalized_subject.toLowerCase(), ...thread.participant_emails].join('\n'),
        keys: thread.label_keys,
      });
      const expected = shown({
        positions: members.map((_, position) => position),
        ends: [first?.thread_at, first?.message_id, first?.base_subject, last?.id, last?.thread_at],
        counts: [
          members.length,
          received.length,
          received.filter((email) => !email.is_read).length,
          received.filter((email) => email.is_archived).length,
        ],
        participants: [...new Set(addresses.map((address) => address.toLowerCase()))].toSorted(),
        isSearched: true,
        keys: thread.labels.map((label) => label.toLowerCase()),
      });
      return is === expected ? [] : [`thread ${thread.id} is ${is}\n but should be ${expected}`];
    }),
  ];
}

/** A thread is in the trash with all its messages, and no search meets them. */
async function faultsOfTrash(actor: Database, workspaceId: string): Promise<string[]> {
  const { rows } = await actor.pool.query<{ id: string }>(
    `select e.id from email e left join thread t on t.workspace_id = e.workspace_id and t.id = e.thread_id
     left join trashed_email x on x.workspace_id = e.workspace_id and x.email_id = e.id
     where e.workspace_id = $1 and ((e.trashed_at is null) <> (t.trashed_at is null) or (e.trashed_at is null) <> (x.email_id is null)
       or (e.trashed_at is not null and exists (select from email_search s where s.workspace_id = $1 and s.email_id = e.id)))`,
    [workspaceId],
  );
  return rows.map(({ id }) => `the email ${id} is in the trash by some rows only`);
}

/** Totals of lists against a recount. */
async function faultsOfCounters(actor: Database, workspaceId: string): Promise<string[]> {
  const { rows } = await actor.pool.query(
    `with recounted as (
       select a.counted_address as own_address, g.grain, g.begins_at, own_domain, type, status, is_read, is_archived, count(*) as count
       from email
       cross join lateral (values (own_address), ('*')) as a(counted_address)
       cross join lateral (values ('all', '-infinity'::timestamptz), ('day', date_trunc('day', created_at, 'UTC')),
         ('hour', date_trunc('hour', created_at, 'UTC'))) as g(grain, begins_at)
       where workspace_id = $1 and trashed_at is null group by 1, 2, 3, 4, 5, 6, 7, 8),
     stored as (
       select own_address, grain, begins_at, own_domain, type, status, is_read, is_archived, count from email_counter
       where workspace_id = $1 and count <> 0)
     (select 'missing', r.* from recounted r except select 'missing', s.* from stored s)
     union all (select 'wrong', s.* from stored s except select 'wrong', r.* from recounted r)`,
    [workspaceId],
  );
  return rows.map((row) => `counter ${JSON.stringify(row)}`);
}

/** What leads to threads leads to living ones, and subject edges to the thread of their email. */
async function faultsOfPlaces(actor: Database, workspaceId: string): Promise<string[]> {
  const { rows } = await actor.pool.query<{ fault: string }>(
    `with living as (select id from thread where workspace_id = $1)
     select 'key ' || message_id as fault from thread_message_id where workspace_id = $1 and thread_id not in (select id from living)
     union all select 'alias ' || alias_id from thread_alias
       where workspace_id = $1 and (thread_id not in (select id from living) or alias_id in (select id from living))
     union all select 'apart ' || thread_id from thread_apart a where workspace_id = $1 and (thread_id not in (select id from living)
       or thread_id = other_id
       or not exists (select from thread_apart b where b.workspace_id = $1 and b.thread_id = a.other_id and b.other_id = a.thread_id))
     union all select 'anchor of ' || s.email_id from thread_subject s join email e on e.workspace_id = $1 and e.id = s.email_id
       where s.workspace_id = $1 and s.thread_id <> e.thread_id
     union all select 'borne ' || k.message_id from thread_message_id k where k.workspace_id = $1
       and exists (select from email e where e.workspace_id = $1 and e.message_id = k.message_id and e.thread_id is not null)
       and not exists (select from email e where e.workspace_id = $1 and e.message_id = k.message_id and e.thread_id = k.thread_id)`,
    [workspaceId],
  );
  return rows.map((row) => row.fault);
}

export function newWorkspace(): string {
  return `usr_${randomBytes(8).toString('hex')}`;
}

function day(days: number): Date {
  return new Date(Date.UTC(2026, 5, 1) + days * 24 * 60 * 60 * 1000);
}

/** A received mail from Ann, so many days after the first of June, that only its msg-ids join to others. */
export function makeMail(emailId: string, days: number, fields: Partial<StoredMail> = {}): StoredMail {
  return {
    emailId,
    messageId: `<${emailId}@mail.test>`,
    inReplyTo: [],
    references: [],
    subject: `about ${emailId}`,
    baseSubject: `about ${emailId}`,
    ownAddress: 'me@home.test',
    addresses: ['ann@a.test', 'me@home.test'],
    createdAt: day(days),
    date: day(days),
    ...fields,
  };
}

/** A reply to the last of the messages, as mailers write it: all of them are its references. */
export function makeReply(parents: readonly string[], emailId: string, days: number, fields: Partial<StoredMail> = {}) {
  const references = parents.map((parent) => `<${parent}@mail.test>`);
  return makeMail(emailId, days, { inReplyTo: references.slice(-1), references, ...fields });
}
