import { sql, type Transaction } from 'kysely';
import type pg from 'pg';
import type { Tables } from '../../entities/tables.ts';

/*
 * What send policies ask about stored mail. Only transactions in which a policy with such a rule applies run these statements.
 */

/** Locks the budgets of the workspace's send policies for this transaction; what it counts afterwards includes all that earlier holders stored. */
export async function lockBudgets(client: pg.ClientBase, workspaceId: string): Promise<void> {
  await client.query({
    name: 'policy-lock',
    text: `select pg_advisory_xact_lock(hashtextextended('send budget ' || $1, 0))`,
    values: [workspaceId],
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
  workspaceId: string,
  questions: readonly BudgetQuestion[],
): Promise<Date[][]> {
  const { rows } = await client.query<{ place: number; times: Date[] }>({
    name: 'policy-budgets',
    text: `
      select q.place, array(
        select e.created_at from email e
        where q.of = 'key' and e.workspace_id = $1 and e.api_key_id = q.owner
          and e.created_at > (select postroom_now()) - q."spanSeconds" * interval '1 second'
        order by e.created_at desc offset q."offset" limit q."limit"
      ) || array(
        select e.created_at from email e
        where q.of = 'address' and e.workspace_id = $1 and e.policy_address = q.owner
          and e.created_at > (select postroom_now()) - q."spanSeconds" * interval '1 second'
        order by e.created_at desc offset q."offset" limit q."limit"
      ) as times
      from json_to_recordset($2) as q (place integer, "of" text, owner text, "spanSeconds" integer, "offset" integer, "limit" integer)`,
    values: [workspaceId, JSON.stringify(questions.map((question, place) => ({ ...question, place })))],
  });
  const byIndex = new Map(rows.map(({ place, times }) => [place, times]));
  return questions.map((_, place) => byIndex.get(place) ?? []);
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
  workspaceId: string,
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
          select k.created_at from email k where q.of = 'key' and k.workspace_id = ${workspaceId} and k.api_key_id = q.owner
            and k.created_at > (select postroom_now()) - q."spanSeconds" * interval '1 second'
          union all
          select a.created_at from email a where q.of = 'address' and a.workspace_id = ${workspaceId} and a.policy_address = q.owner
            and a.created_at > (select postroom_now()) - q."spanSeconds" * interval '1 second') e) c) u`.execute(
    transaction,
  );
  const byIndex = new Map(rows.map(({ place, used, next_at: nextAt }) => [place, { used, nextAt }]));
  return budgets.map((_, place) => byIndex.get(place) ?? { used: 0, nextAt: null });
}

/** Returns those of the addresses (lower case) that mail of the workspace has been sent to. */
export async function readKnownRecipients(
  client: pg.ClientBase,
  workspaceId: string,
  addresses: readonly string[],
): Promise<string[]> {
  const { rows } = await client.query<{ address: string }>({
    name: 'policy-known-recipients',
    text: 'select address from written_addresses($1, $2::text[])',
    values: [workspaceId, addresses],
  });
  return rows.map(({ address }) => address);
}

/** What outgoing emails name that may lead to mail which a person should look at. */
interface ReviewQuestion {
  /** of the messages that they reply to, see core/threads/threading.ts */
  keys: readonly string[];
  /** that they forward */
  emailIds: readonly string[];
  /** lower case */
  recipients: readonly string[];
  /** base subjects */
  subjects: readonly string[];
}

/** Those of a ReviewQuestion that lead to such mail. */
export interface ReviewedMail {
  keys: ReadonlySet<string>;
  emailIds: ReadonlySet<string>;
  recipients: ReadonlySet<string>;
  subjects: ReadonlySet<string>;
  /** whether such mail came within the last 7 days, and whether more of it than was compared */
  isRecent: boolean;
  isFlood: boolean;
}

/** Finds mail with the verdict `review`, and received mail without a verdict: in whole threads, and of the last 7 days. */
export async function findReviewedMail(
  client: pg.ClientBase,
  workspaceId: string,
  { keys, emailIds, recipients, subjects }: ReviewQuestion,
): Promise<ReviewedMail> {
  const { rows } = await client.query<{ kind: string; value: string }>({
    name: 'policy-reviewed-mail',
    text: 'select kind, value from reviewed_mail($1, $2::text[], $3::text[], $4::text[], $5::text[])',
    values: [workspaceId, keys, emailIds, recipients, subjects],
  });
  const found = (kind: string) => new Set(rows.flatMap((row) => (row.kind === kind ? [row.value] : [])));
  return {
    keys: found('key'),
    emailIds: found('email'),
    recipients: found('recipient'),
    subjects: found('subject'),
    isRecent: found('recent').size > 0,
    isFlood: found('flood').size > 0,
  };
}

/** The emails that programs sent within the last hour into a thread, with an API key or from an address. */
export interface AutomaticQuestion {
  of: 'key' | 'address';
  owner: string;
  threadId: string;
}

/** Counts them; scheduled ones have no thread yet, and are found by what they reply to. */
export async function countAutomatic(
  client: pg.ClientBase,
  workspaceId: string,
  questions: readonly AutomaticQuestion[],
): Promise<number[]> {
  const ofThread = `(e.thread_id = q."threadId" or e.thread_id is null and exists (
    select from email_content c join thread_message_id k on k.workspace_id = $1 and k.message_id = any (c.in_reply_to || c.reference_ids)
    where c.workspace_id = $1 and c.email_id = e.id and k.thread_id = q."threadId"))`;
  const ofHour = `e.created_at > (select postroom_now()) - interval '1 hour'`;
  const { rows } = await client.query<{ place: number; total: number }>({
    name: 'policy-automatic',
    text: `
      select q.place, (
        (select count(*) from email e where q.of = 'key' and e.workspace_id = $1 and e.api_key_id = q.owner and ${ofHour} and ${ofThread})
        + (select count(*) from email e where q.of = 'address' and e.workspace_id = $1 and e.policy_address = q.owner
             and (e.api_key_id is not null or e.automatic_reply_to is not null) and ${ofHour} and ${ofThread}))::integer as total
      from json_to_recordset($2) as q (place integer, "of" text, owner text, "threadId" text)`,
    values: [workspaceId, JSON.stringify(questions.map((question, place) => ({ ...question, place })))],
  });
  const byIndex = new Map(rows.map(({ place, total }) => [place, total]));
  return questions.map((_, place) => byIndex.get(place) ?? 0);
}
