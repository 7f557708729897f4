/**
 * What people sign in with. better-auth writes these tables (gateway/accounts/auth.ts names their columns to it) under a role of its own, which
 * reaches nothing else but user_account; the other roles reach none of them. There is no row-level security: whoever signs in is nobody yet.
 */
export const AUTH = `
  create table auth_session (
    id text primary key,
    user_id text not null references user_account on delete cascade,
    -- random; the cookie bears it with a signature made from SECRET_KEY, without which it opens nothing
    token text not null unique,
    expires_at timestamptz(3) not null,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    ip_address text,
    user_agent text
  );
  create index auth_session_user on auth_session (user_id);
  create index auth_session_end on auth_session (expires_at);
  -- However often it is used, a session ends 30 days after its sign-in.
  create function limit_session() returns trigger language plpgsql set search_path = public, pg_temp as $$
    begin
      new.expires_at := least(new.expires_at, new.created_at + interval '30 days');
      return new;
    end $$;
  create trigger limit_session before insert or update on auth_session for each row execute function limit_session();
  -- provider_id 'credential': password is its scrypt hash, as salt:key in hex. The other columns are for providers that are not used.
  create table auth_credential (
    id text primary key,
    user_id text not null references user_account on delete cascade,
    account_id text not null,
    provider_id text not null,
    password text,
    access_token text,
    refresh_token text,
    id_token text,
    access_token_expires_at timestamptz(3),
    refresh_token_expires_at timestamptz(3),
    scope text,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    unique (user_id, provider_id)
  );
  -- What may be done once: links to sign in and to reset a password, challenges of passkeys. identifier is the SHA-256 of the secret part.
  create table auth_verification (
    id text primary key,
    identifier text not null,
    value text not null,
    expires_at timestamptz(3) not null,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now()
  );
  create index auth_verification_identifier on auth_verification (identifier);
  -- links: the user that they are for
  create index auth_verification_user on auth_verification (value) where length(value) < 64;
  create index auth_verification_end on auth_verification (expires_at);
  create table auth_passkey (
    id text primary key,
    user_id text not null references user_account on delete cascade,
    name text,
    public_key text not null,
    credential_id text not null unique,
    counter bigint not null,
    device_type text not null,
    backed_up boolean not null,
    transports text,
    aaguid text,
    created_at timestamptz(3) default now()
  );
  create index auth_passkey_user on auth_passkey (user_id);

  -- Tries to sign in and the like, by what they are counted for (gateway/accounts/auth-tries.ts): a digest, so that no address stands here.
  create table auth_rate_limit (
    key text primary key,
    tried_at timestamptz(3)[] not null default '{}',
    last_at timestamptz(3) not null default now()
  );
  create index auth_rate_limit_last on auth_rate_limit (last_at);
  -- Counts a try for each of the keys, or, when one of them has had p_most within the window, for none. Answers in how many seconds to
  -- try again; 0: counted. Tries at once wait for each other, in the order of the keys.
  create function take_auth_try(p_keys text[], p_most integer, p_window interval) returns integer
    language plpgsql volatile security definer set search_path = public, pg_temp as $$
    declare
      at timestamptz;
      wait interval;
    begin
      insert into auth_rate_limit (key) select k from unnest(p_keys) k order by k on conflict do nothing;
      perform from auth_rate_limit r where r.key = any (p_keys) order by r.key for update;
      at := clock_timestamp() + (select shift from clock);
      update auth_rate_limit r set tried_at = array(select t from unnest(r.tried_at) t where t > at - p_window order by t)
        where r.key = any (p_keys);
      select max(r.tried_at[cardinality(r.tried_at) - p_most + 1] + p_window - at) into wait
        from auth_rate_limit r where r.key = any (p_keys) and cardinality(r.tried_at) >= p_most;
      -- What is over goes little by little; a try, refused or not, leaves less behind than it takes away.
      delete from auth_rate_limit r using (
        select o.key from auth_rate_limit o where o.last_at < at - p_window and not o.key = any (p_keys)
        order by o.last_at limit 10 for update skip locked
      ) old where old.key = r.key;
      delete from auth_session s where s.ctid = any (array(
        select o.ctid from auth_session o where o.expires_at < now() - interval '1 day' order by o.expires_at limit 10 for update skip locked));
      delete from auth_verification v where v.ctid = any (array(
        select o.ctid from auth_verification o where o.expires_at < now() - interval '1 day' order by o.expires_at limit 10 for update skip locked));
      if wait is not null then return greatest(1, ceil(extract(epoch from wait)))::integer; end if;
      update auth_rate_limit r set tried_at = r.tried_at || at, last_at = at where r.key = any (p_keys);
      return 0;
    end $$;
  -- After a success: the tries of p_cleared are forgotten, and the last one of p_given_back.
  create function forgive_auth_tries(p_cleared text[], p_given_back text[]) returns void
    language sql volatile security definer set search_path = public, pg_temp as $$
      delete from auth_rate_limit r where r.key = any (p_cleared);
      update auth_rate_limit r set tried_at = r.tried_at[:cardinality(r.tried_at) - 1] where r.key = any (p_given_back) $$;

  do $$ begin
    begin create role postroom_auth nologin noinherit; exception when duplicate_object or unique_violation then null; end;
  end $$;
  grant usage on schema public to postroom_auth;
  grant select, insert, update, delete on auth_session, auth_credential, auth_verification, auth_passkey to postroom_auth;
  grant select, insert, update on user_account to postroom_auth;
  revoke all on function take_auth_try, forgive_auth_tries from public;
  grant execute on function take_auth_try, forgive_auth_tries to postroom_auth;
`;
