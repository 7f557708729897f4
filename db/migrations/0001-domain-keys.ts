/** What requests of API keys that are limited to one domain see: tables with the condition by which a row is of the domain. */
const ROWS_OF_DOMAIN: Readonly<Record<string, string>> = {
  domain: `id = current_setting('postroom.domain_id', true)`,
  dkim_key: `domain_id = current_setting('postroom.domain_id', true)`,
  email_address: `domain_id = current_setting('postroom.domain_id', true)`,
  email_address_name: `exists (select from email_address a
    where a.user_id = email_address_name.user_id and a.id = email_address_name.address_id)`,
  // Endpoints serve all domains. Joined to addresses and domains, which then show none.
  endpoint: 'false',
  email: `own_domain = current_setting('postroom.domain', true)`,
  email_counter: `own_domain = current_setting('postroom.domain', true)`,
  email_content: ofEmail('email_content'),
  route: ofEmail('route'),
  delivery: ofEmail('delivery'),
  recipient: ofEmail('recipient'),
  delivery_earlier_attempt: `exists (select from delivery d
    where d.user_id = delivery_earlier_attempt.user_id and d.id = delivery_earlier_attempt.delivery_id)`,
  sending_attempt: `exists (select from recipient r where r.user_id = sending_attempt.user_id and r.id = sending_attempt.recipient_id)`,
  // Of those that have mail of several domains nothing: what they show is of all of it.
  thread: 'is_thread_of_domain(user_id, id)',
  thread_alias: 'is_thread_of_domain(user_id, thread_id)',
  batch: 'is_batch_of_domain(user_id, id)',
  event: `case when email_id is not null then ${ofEmail('event')}
    when thread_id is not null then is_thread_of_domain(user_id, thread_id)
    else coalesce(data->>'domainId' = current_setting('postroom.domain_id', true), false) end`,
  event_counter: 'true',
};

/** Columns, where not all are read. */
const COLUMNS: Readonly<Record<string, string>> = {
  dkim_key: 'user_id, domain_id, selector, public_key, created_at, activated_at, retired_at',
};

function ofEmail(table: string): string {
  return `exists (select from email e where e.user_id = ${table}.user_id and e.id = ${table}.email_id)`;
}

/**
 * The role that a transaction of a key limited to one domain takes (db/connection/database.ts), and all that it may do. It only reads, and only what
 * is listed here: whatever is not is refused by PostgreSQL. Requests of other keys never take it, so that it costs them nothing.
 */
export const DOMAIN_KEYS = `
  do $$ begin
    begin create role postroom_domain nologin noinherit; exception when duplicate_object or unique_violation then null; end;
  end $$;

  -- Whether every message of the thread is of the domain of the transaction, and there is one. As their owner: others are not seen.
  create function is_thread_of_domain(p_user_id text, p_thread_id text) returns boolean
    language sql stable security definer set search_path = public, pg_temp as $$
      select p_user_id = current_setting('postroom.user_id', true) and coalesce(bool_and(e.own_domain = current_setting('postroom.domain', true)), false)
      from email e where e.user_id = p_user_id and e.thread_id = p_thread_id $$;
  create function is_batch_of_domain(p_user_id text, p_batch_id text) returns boolean
    language sql stable security definer set search_path = public, pg_temp as $$
      select p_user_id = current_setting('postroom.user_id', true) and coalesce(bool_and(e.own_domain = current_setting('postroom.domain', true)), false)
      from email e where e.user_id = p_user_id and e.batch_id = p_batch_id $$;
  revoke all on function is_thread_of_domain, is_batch_of_domain from public;
  grant execute on function is_thread_of_domain, is_batch_of_domain, raw_octets, raw_sizes, pending_receptions, exchanged_emails to postroom_domain;

  grant usage on schema public to postroom_domain;
  grant select on clock, delivery_attempt to postroom_domain;
  ${Object.entries(ROWS_OF_DOMAIN)
    .map(
      ([table, condition]) => `
  grant select ${COLUMNS[table] === undefined ? '' : `(${COLUMNS[table]})`} on ${table} to postroom_domain;
  create policy ${table}_of_domain on ${table} for select to postroom_domain
    using (user_id = current_setting('postroom.user_id', true) and ${condition});`,
    )
    .join('')}
`;
