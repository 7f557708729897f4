import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../entities/tables.ts';

/** An address with the display names that it used; `isUser`: the user sends from it, `isKnown`: the user does, or has written to it. */
interface KnownAddress {
  /** lower case */
  address: string;
  names: string[];
  isUser: boolean;
  isKnown: boolean;
}

/** Whom and what a user knows, to compare a sender with. */
export interface KnownSenders {
  people: KnownAddress[];
  /** names of the workspace's verified domains */
  ownDomains: string[];
}

/** Newest emails that are read: written by the user, and received. */
const MAX_WRITTEN = 500;
const MAX_RECEIVED = 1_000;

/**
 * Returns for each email the people of the workspace's newest mail: the workspace's own sending addresses, those the workspace has written to, and
 * its
 * `sender`; and the workspace's verified domains. The email itself is left out. A key of one domain sees that domain and its mail only.
 */
export async function findKnownSenders(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emails: readonly { emailId: string; sender: string }[],
): Promise<Map<string, KnownSenders>> {
  const { rows } = await sql<KnownSenders & { email_id: string }>`
    with written as materialized (
      select e.id, e.from_address, e.from_name, e.to_addresses || e.cc_addresses as addresses from email e
      where e.workspace_id = ${workspaceId} and e.type <> 'received' order by e.created_at desc limit ${MAX_WRITTEN}
    ), known as materialized (
      select lower(w.from_address) as address, w.from_name as name, true as is_user from written w
      union all
      select lower(a), null, false from written w cross join lateral unnest(w.addresses) a
      union all
      select lower(b.address), b.name, false from written w join email_content c on c.workspace_id = ${workspaceId} and c.email_id = w.id
      cross join lateral jsonb_to_recordset(case when jsonb_typeof(c.addresses #> '{to,addresses}') = 'array'
        then c.addresses #> '{to,addresses}' else '[]' end) as b (name text, address text)
    ), received as materialized (
      -- one more than are used, because an email itself is left out
      select e.id, lower(e.from_address) as address, e.from_name as name, row_number() over (order by e.created_at desc) as n from email e
      where e.workspace_id = ${workspaceId} and e.type = 'received' and e.trashed_at is null order by e.created_at desc limit ${MAX_RECEIVED + 1}
    )
    select q.email_id, coalesce(p.people, '[]') as people,
      array(select d.name from domain d where d.workspace_id = ${workspaceId} and d.status = 'verified' order by d.name) as "ownDomains"
    from unnest(${emails.map(({ emailId }) => emailId)}::text[], ${emails.map(({ sender }) => sender)}::text[]) q(email_id, sender)
    cross join lateral (
      select jsonb_agg(x order by x.address) as people from (
        select p.address, array_remove(array_agg(distinct p.name), null) as names, bool_or(p.is_user) as "isUser",
          p.address in (select k.address from known k) as "isKnown"
        from (
          select * from known
          union all
          select r.address, r.name, false from (
            select * from received r where r.id <> q.email_id order by r.n limit ${MAX_RECEIVED}) r
          where r.address = lower(q.sender) or r.address in (select k.address from known k)) p
        where p.address is not null group by p.address) x) p`.execute(transaction);
  return new Map(rows.map(({ email_id: emailId, people, ownDomains }) => [emailId, { people, ownDomains }]));
}
