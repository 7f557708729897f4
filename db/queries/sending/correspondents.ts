import type pg from 'pg';

/** Whose correspondents are asked for: those of a thread, of the emails with a Message-ID that are in no thread yet, or of one email. */
export type CorrespondentsQuestion = { threadId: string } | { messageId: string } | { emailId: string };

/** What a stored email proves about who takes part in a conversation. Addresses are as stored. */
export interface Correspondence {
  /** domains of the From field of received mail, lower case; null: mail that the user sent, whose recipients are those of its envelope */
  authorDomains: string[] | null;
  addresses: string[];
}

/**
 * Returns for each question what its emails prove, and which domains the workspace has. Simulated and imported mail proves nothing, because the
 * account writes it; nor do the fields of sent mail, which may name people that it was not sent to. Whether received mail comes from the
 * user's own domains is for the caller to decide.
 * Mail that the user sent and that comes back, such as from a list that writes another author into it, proves as little. Neither does mail
 * that guard rules hold, unless it is the email that is asked for, or a recipient whom the mail did not reach.
 */
export async function readCorrespondence(
  client: pg.ClientBase,
  workspaceId: string,
  questions: readonly CorrespondentsQuestion[],
): Promise<{ found: Correspondence[][]; ownDomains: Set<string> }> {
  const { rows } = await client.query<{
    place: number | null;
    found: Correspondence[] | null;
    domains: string[] | null;
  }>({
    name: 'correspondents',
    text: `
      with asked as materialized (
        select * from json_to_recordset($2) as q (place integer, "threadId" text, "messageId" text, "emailId" text)
      ), emails as materialized (
        select q.place, e.id, e.type, e.is_test, e.message_id, false as is_named
        from asked q join email e on e.workspace_id = $1 and e.thread_id = q."threadId"
        union all
        select q.place, e.id, e.type, e.is_test, e.message_id, false from asked q join email e on e.workspace_id = $1 and e.message_id = q."messageId"
        union all
        select q.place, e.id, e.type, e.is_test, e.message_id, true from asked q join email e on e.workspace_id = $1 and e.id = q."emailId"
      ), named as (
        select m.place, array(
            select distinct lower(substring(f->>'address' from '[^@]*$')) from jsonb_array_elements(
              case when jsonb_typeof(c.addresses->'from'->'addresses') = 'array' then c.addresses->'from'->'addresses' else '[]' end) f
            where f->>'address' is not null order by 1) as authors, a->>'address' as address
        from emails m join email_content c on c.workspace_id = $1 and c.email_id = m.id
        cross join lateral jsonb_each(c.addresses) f
        cross join lateral jsonb_array_elements(
          case when jsonb_typeof(f.value->'addresses') = 'array' then f.value->'addresses' else '[]' end) a
        where m.type = 'received' and not m.is_test and f.key in ('from', 'to', 'cc', 'replyTo') and a->>'address' is not null
          and not exists (
            select from reception o where o.workspace_id = $1 and o.email_id = m.id and (o.imported is not null or o.is_test))
          and not exists (select from email w where w.workspace_id = $1 and w.message_id = m.message_id and w.type <> 'received')
          and not exists (
            select from relayed_message_id y where y.workspace_id = $1 and y.local_part = substring(m.message_id from '^<?([^@>]*)'))
          and (m.is_named or not exists (
            select from route h where h.workspace_id = $1 and h.email_id = m.id and h.outcome in ('blocked', 'review', 'asking')
              and h.released_at is null))
        union all
        select m.place, null, r.address from emails m join recipient r on r.workspace_id = $1 and r.email_id = m.id
        where m.type = 'sent' and r.status in ('pending', 'delivered')
      ), grouped as (
        select n.place, n.authors, array_agg(distinct n.address) as addresses from named n group by 1, 2
      )
      select g.place, json_agg(json_build_object('authorDomains', g.authors, 'addresses', g.addresses)) as found, null::text[] as domains
      from grouped g group by g.place
      union all
      select null, null, array(select d.name from domain d where d.workspace_id = $1)`,
    values: [workspaceId, JSON.stringify(questions.map((question, place) => ({ ...question, place })))],
  });
  const byIndex = new Map(rows.map((row) => [row.place, row]));
  return {
    found: questions.map((_, place) => byIndex.get(place)?.found ?? []),
    ownDomains: new Set(byIndex.get(null)?.domains ?? []),
  };
}

/** Returns those of the addresses (lower case) that are addresses of the workspace. */
export async function readOwnAddresses(
  client: pg.ClientBase,
  workspaceId: string,
  addresses: readonly string[],
): Promise<Set<string>> {
  const { rows } = await client.query<{ address: string }>({
    name: 'own-addresses',
    text: 'select n.address from email_address_name n where n.workspace_id = $1 and n.address = any ($2::text[])',
    values: [workspaceId, addresses],
  });
  return new Set(rows.map(({ address }) => address));
}
