import { sql, type Transaction } from 'kysely';
import type pg from 'pg';
import type { Tables } from '../../entities/tables.ts';

/*
 * What send policies ask about stored mail. Only transactions in which a policy with such a rule applies run these statements.
 */

/** Locks the budgets of the user's send policies for this transaction; what it counts afterwards includes all that earlier holders stored. */
export async function lockBudgets(client: pg.ClientBase, userId: string): Promise<void> {
  await client.query({
    name: 'policy-lock',
    text: `select pg_advisory_xact_lock(hashtextextended('send budget ' || $1, 0))`,
    values: [userId],
  });
}

/** The emails that an API key, or an address, sent under a policy within the last seconds. */
export interface BudgetQuestion {
  of: 'key' | 'address';
  owner: string;
  spanSeconds: number;
  /** of the newest ones, how many are passed over, and how many are wanted after those */
  offset: number;
  limit: number;
}

/** Returns for each question the times when those emails were stored, newest first. */
export async function readBudgets(
  client: pg.ClientBase,
  userId: string,
  questions: readonly BudgetQuestion[],
): Promise<Date[][]> {
  const { rows } = await client.query<{ place: number; times: Date[] }>({
    name: 'policy-budgets',
    text: `
      select q.place, array(
        select e.created_at from email e
        where q.of = 'key' and e.user_id = $1 and e.api_key_id = q.owner
          and e.created_at > (select postroom_now()) - q."spanSeconds" * interval '1 second'
        order by e.created_at desc offset q."offset" limit q."limit"
      ) || array(
        select e.created_at from email e
        where q.of = 'address' and e.user_id = $1 and e.policy_address = q.owner
          and e.created_at > (select postroom_now()) - q."spanSeconds" * interval '1 second'
        order by e.created_at desc offset q."offset" limit q."limit"
      ) as times
      from json_to_recordset($2) as q (place integer, "of" text, owner text, "spanSeconds" integer, "offset" integer, "limit" integer)`,
    values: [userId, JSON.stringify(questions.map((question, place) => ({ ...question, place })))],
  });
  const byPlace = new Map(rows.map(({ place, times }) => [place, times]));
  return questions.map((_, place) => byPlace.get(place) ?? []);
}

/** How much of a budget is used. */
export interface BudgetUse {
  used: number;
  /** when the next email may be sent; null: now */
  nextAt: Date | null;
}

/** Returns for each budget how many emails count against it now. */
export async function readBudgetUse(
  transaction: Transaction<Tables>,
  userId: string,
  budgets: readonly { of: 'key' | 'address'; owner: string; spanSeconds: number; most: number }[],
): Promise<BudgetUse[]> {
  const asked = JSON.stringify(budgets.map((budget, place) => ({ ...budget, place })));
  const { rows } = await sql<{ place: number; used: number; next_at: Date | null }>`
    select q.place, u.used, u.in_the_way + q."spanSeconds" * interval '1 second' as next_at
    from json_to_recordset(${asked}) as q (place integer, "of" text, owner text, "spanSeconds" integer, most integer)
    cross join lateral (
      select count(*)::integer as used, max(c.created_at) filter (where c.number = q.most) as in_the_way
      from (
        select e.created_at, row_number() over (order by e.created_at desc) as number from (
          select k.created_at from email k where q.of = 'key' and k.user_id = ${userId} and k.api_key_id = q.owner
            and k.created_at > (select postroom_now()) - q."spanSeconds" * interval '1 second'
          union all
          select a.created_at from email a where q.of = 'address' and a.user_id = ${userId} and a.policy_address = q.owner
            and a.created_at > (select postroom_now()) - q."spanSeconds" * interval '1 second') e) c) u`.execute(
    transaction,
  );
  const byPlace = new Map(rows.map(({ place, used, next_at: nextAt }) => [place, { used, nextAt }]));
  return budgets.map((_, place) => byPlace.get(place) ?? { used: 0, nextAt: null });
}

/** A reply, as far as the participants of its thread matter. */
export interface ParticipantsQuestion {
  /** null: the message that it answers has no thread yet */
  threadId: string | null;
  /** Message-ID of the message that it answers */
  messageId: string;
}

/**
 * Returns for each question addresses of the thread's messages, as stored, and which of `own` are the user's. A thread's row lists the first
 * ones of From, To and Cc; `isWhole` reads From, To, Cc and Reply-To of all its messages instead.
 */
export async function readParticipants(
  client: pg.ClientBase,
  userId: string,
  questions: readonly ParticipantsQuestion[],
  { own, isWhole }: { own: readonly string[]; isWhole: boolean },
): Promise<{ participants: string[][]; own: string[] }> {
  const { rows } = await client.query<{ place: number | null; addresses: string[] }>({
    name: 'policy-participants',
    text: `
      select q.place, array(
        select unnest(t.participant_emails) from thread t where not $4 and t.user_id = $1 and t.id = q."threadId"
        union
        select a->>'address' from (
          select e.id from email e where $4 and e.user_id = $1 and e.thread_id = q."threadId"
          union all
          select e.id from email e
          where q."threadId" is null and e.user_id = $1 and e.message_id = q."messageId" and e.type <> 'scheduled'
        ) m
        join email_content c on c.user_id = $1 and c.email_id = m.id
        cross join lateral jsonb_each(c.addresses) f
        cross join lateral jsonb_array_elements(
          case when jsonb_typeof(f.value->'addresses') = 'array' then f.value->'addresses' else '[]' end) a
        where f.key in ('from', 'to', 'cc', 'replyTo') and a->>'address' is not null
      ) as addresses
      from json_to_recordset($2) as q (place integer, "threadId" text, "messageId" text)
      union all
      select null, array(
        select n.address from email_address_name n where n.user_id = $1 and n.address = any ($3::text[]))`,
    values: [userId, JSON.stringify(questions.map((question, place) => ({ ...question, place }))), own, isWhole],
  });
  const byPlace = new Map(rows.map((row) => [row.place, row.addresses]));
  return { participants: questions.map((_, place) => byPlace.get(place) ?? []), own: byPlace.get(null) ?? [] };
}

/** Returns those of the addresses (lower case) that mail of the user has been sent to. */
export async function readKnownRecipients(
  client: pg.ClientBase,
  userId: string,
  addresses: readonly string[],
): Promise<string[]> {
  const { rows } = await client.query<{ address: string }>({
    name: 'policy-known-recipients',
    text: 'select address from written_addresses($1, $2::text[])',
    values: [userId, addresses],
  });
  return rows.map(({ address }) => address);
}

/** The emails that programs sent within the last hour into a thread, with an API key or from an address. */
export interface AutomaticQuestion {
  of: 'key' | 'address';
  owner: string;
  threadId: string;
}

/** Counts them; those that wait for their time have no thread yet, and are found by what they answer. */
export async function countAutomatic(
  client: pg.ClientBase,
  userId: string,
  questions: readonly AutomaticQuestion[],
): Promise<number[]> {
  const ofThread = `(e.thread_id = q."threadId" or e.thread_id is null and exists (
    select from email_content c join thread_message_id k on k.user_id = $1 and k.message_id = any (c.in_reply_to || c.reference_ids)
    where c.user_id = $1 and c.email_id = e.id and k.thread_id = q."threadId"))`;
  const ofHour = `e.created_at > (select postroom_now()) - interval '1 hour'`;
  const { rows } = await client.query<{ place: number; total: number }>({
    name: 'policy-automatic',
    text: `
      select q.place, (
        (select count(*) from email e where q.of = 'key' and e.user_id = $1 and e.api_key_id = q.owner and ${ofHour} and ${ofThread})
        + (select count(*) from email e where q.of = 'address' and e.user_id = $1 and e.policy_address = q.owner
             and (e.api_key_id is not null or e.automatic_reply_to is not null) and ${ofHour} and ${ofThread}))::integer as total
      from json_to_recordset($2) as q (place integer, "of" text, owner text, "threadId" text)`,
    values: [userId, JSON.stringify(questions.map((question, place) => ({ ...question, place })))],
  });
  const byPlace = new Map(rows.map(({ place, total }) => [place, total]));
  return questions.map((_, place) => byPlace.get(place) ?? 0);
}
