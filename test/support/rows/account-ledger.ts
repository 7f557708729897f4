import type { Database } from '../../../db/connection/database.ts';
import { type PlacedColumns, placedColumns, readPlaced } from '../../../db/queries/emails/bodies-in-message.ts';

/**
 * Everything that received mail leaves in an account, so that two accounts which got the same mail compare equal: without identifiers of
 * raw messages and of the account, and without times. Threads are named by their first email.
 */
export async function readAccountLedger(database: Database, workspaceId: string): Promise<Record<string, unknown[]>> {
  const ledger: Record<string, unknown[]> = {};
  for (const [name, sql] of Object.entries(PARTS)) {
    const { rows } = await database.pool.query<{ row: unknown }>(
      `with named as (select thread_id, min(id collate "C") as name from email where workspace_id = $1 group by 1)
       select to_jsonb(x) as row from (${sql}) x order by to_jsonb(x)::text collate "C"`,
      [workspaceId],
    );
    ledger[name] = rows.map(({ row }) => row);
  }
  ledger['bodies'] = await readBodies(database, workspaceId);
  return ledger;
}

/** Bodies that lie in the message compare equal to those beside it. */
async function readBodies(database: Database, workspaceId: string): Promise<unknown[]> {
  const { rows } = await database.pool.query<PlacedColumns>(
    `select c.email_id, c.text_body, c.html_body, c.cleaned_text, c.cleaned_html, ${placedColumns()} from email_content c
     where c.workspace_id = $1 order by c.email_id collate "C"`,
    [workspaceId],
  );
  return rows.map((row) => readPlaced(row));
}

const THREAD = 'join named n using (thread_id)';
const without = (table: string, ...columns: string[]) =>
  `to_jsonb(${table}) - array[${['workspace_id', ...columns].map((column) => `'${column}'`).join(', ')}]::text[]`;

const PARTS = {
  receptions: `select ${without('r', 'raw_id', 'address_id', 'domain_id', 'accepted_at', 'parsed_at')} as reception, parsed_at is not null as is_parsed,
    (select encode(m.packed, 'hex') from raw_message m where m.id = r.raw_id) as packed from reception r where workspace_id = $1`,
  offers: `select recipient, reverse_path, sha256, email_id from smtp_offer where workspace_id = $1`,
  emails: `select n.name, ${without('e', 'raw_id', 'address_id', 'domain_id', 'created_at', 'updated_at', 'thread_at', 'thread_id')} as email from email e
    ${THREAD} where e.workspace_id = $1`,
  contents: `select ${without('c', 'body_places', 'text_body', 'html_body', 'cleaned_text', 'cleaned_html')} as content from email_content c where workspace_id = $1`,
  searches: `select ${without('s', 'created_at')} as search from email_search s where workspace_id = $1`,
  unindexed: `select email_id, state, changes from unindexed_email where workspace_id = $1`,
  counters: `select own_address, grain, own_domain, type, status, is_read, is_archived, sum(count) from email_counter
    where workspace_id = $1 group by 1, 2, 3, 4, 5, 6, 7`,
  // Of threads that began at the same time, the id decides which one stays, and so the order of the participants and the name of one with two.
  threads: `select n.name, ${without('t', 'id', 'created_at', 'updated_at', 'last_message_at', 'listed_at', 'participant_emails', 'participant_names', 'search_text')} as thread,
      array(select p.email || case when p.name = p.email then '' else ' (named)' end
        from unnest(participant_emails, participant_names) as p(email, name) order by p.email collate "C") as participants,
      array(select l from unnest(string_to_array(search_text, chr(10))) as l order by l collate "C") as search_text,
      (select e.created_at = t.last_message_at from email e where e.workspace_id = $1 and e.id = t.latest_email_id) as ends_there,
      (select min(e.created_at) = t.created_at from email e where e.workspace_id = $1 and e.thread_id = t.id) as begins_there
    from thread t join named n on n.thread_id = t.id where t.workspace_id = $1`,
  keys: `select message_id, n.name from thread_message_id k ${THREAD} where k.workspace_id = $1`,
  subjects: `select base_subject_sha256, participant, email_id, is_reply, n.name from thread_subject s ${THREAD} where s.workspace_id = $1`,
  routes: `select email_id, outcome, via, endpoint_id, reason, decided_at is not null as is_decided from route where workspace_id = $1`,
  events: `select kind, email_id, case when kind like 'email.%' then data - 'position' end as data from event
    where workspace_id = $1 and kind in ('email.received', 'email.threaded')`,
  feed: `select (select last_seq from event_counter where workspace_id = $1) = max(seq) and count(*) = max(seq) as is_gapless from event where workspace_id = $1`,
};
