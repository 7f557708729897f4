import { Migration } from '@mikro-orm/migrations';
import { AUTH } from './0001-auth.ts';
import { DEAD_ROWS } from './0001-dead-rows.ts';
import { DOMAIN_KEYS } from './0001-domain-keys.ts';
import { ERASURE } from './0001-erasure.ts';
import { HOUSEKEEPING, RETENTION } from './0001-retention.ts';
import { SEARCHES } from './0001-searches.ts';
import { TRACES } from './0001-traces.ts';

/**
 * The first schema. Every user table is keyed by `user_id` first (house rule: distributable by tenant) and lies under row-level
 * security, and so do the names that are unique on the whole service (verified_domain_name, email_address_name). The other global
 * tables are raw_message, api_key, user_account, secret_canary, clock and those of 0001-auth.ts.
 */
export class InitialMigration extends Migration {
  override up(): void {
    this.addSql(EXTENSIONS_AND_CLOCK);
    this.addSql(ACCOUNTS);
    this.addSql(ROUTING);
    this.addSql(RECEPTION);
    this.addSql(EMAIL);
    this.addSql(TRACES);
    this.addSql(THREADS);
    this.addSql(ROUTES);
    this.addSql(DELIVERIES);
    this.addSql(SENDING);
    this.addSql(EVENTS);
    this.addSql(REQUEST_LIMITS);
    this.addSql(DEAD_ROWS);
    this.addSql(RETENTION);
    this.addSql(ERASURE);
    this.addSql(ROLES_AND_POLICIES);
    this.addSql(SEARCHES);
    this.addSql(DOMAIN_KEYS);
    this.addSql(AUTH);
    this.addSql(HOUSEKEEPING);
  }
}

const EXTENSIONS_AND_CLOCK = `
  create extension if not exists pg_trgm;
  create extension if not exists btree_gin;
  -- Due-ness is decided by postroom_now(); only test support moves the offset. It is not cheap: where rows come in crowds write
  -- (select postroom_now()), which is asked once per statement.
  create table clock (id boolean primary key default true check (id), shift interval not null default '0');
  insert into clock default values;
  create function postroom_now() returns timestamptz language sql stable parallel safe
    as 'select now() + (select shift from clock)';
`;

const ACCOUNTS = `
  create table user_account (
    id text primary key,
    -- lower case
    email text not null unique,
    name text not null default '',
    -- whether its owner was shown to read mail to the address
    email_verified boolean not null default false,
    image text,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now()
  );
  create table api_key (
    id text primary key,
    user_id text not null references user_account,
    name text not null,
    secret_sha256 bytea not null unique,
    -- see core/accounts/key-rights.ts; null: full rights
    scopes text[] check (scopes <@ '{read,send,manage}' and scopes <> '{}'),
    -- the one domain of the user that it reaches; null: all. Nothing but read and send can be limited to a domain.
    domain_id text,
    domain_name text,
    created_at timestamptz(3) not null default now(),
    expires_at timestamptz(3),
    revoked_at timestamptz(3),
    last_used_at timestamptz(3),
    check ((domain_id is null) = (domain_name is null)),
    check (domain_id is null or coalesce(scopes <@ '{read,send}', false))
  );
  create index api_key_user on api_key (user_id, id);
  -- The canary that proves at start that SECRET_KEY is the one the stored ciphertexts were made with.
  create table secret_canary (key_id text primary key, ciphertext text not null, created_at timestamptz(3) not null default now());
`;

const ROUTING = `
  create table domain (
    user_id text not null,
    id text not null,
    name text not null,
    status text not null default 'pending' check (status in ('pending', 'verified', 'failed')),
    is_trusted boolean not null default false,
    verified_at timestamptz(3),
    is_catch_all_enabled boolean not null default false,
    catch_all_endpoint_id text,
    receive_dmarc_emails boolean not null default false,
    -- the verified domain of the same user above it that it was verified by; null: it stands for itself
    parent_id text,
    -- what DNS told when it was last asked (core/domains/domain-check.ts), when that was, and when it will be asked next; null: not asked yet
    dns_check jsonb,
    checked_at timestamptz(3),
    check_due_at timestamptz(3) not null default now(),
    -- whether its MX was last seen to be ours
    is_mx_seen boolean not null default false,
    -- since when the proof of a verified domain is missing
    proof_lost_at timestamptz(3),
    -- since when the records of its MAIL FROM domain are seen; until they are the domain itself serves
    mail_from_verified_at timestamptz(3),
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    primary key (user_id, id)
  );
  create unique index domain_name on domain (user_id, name);
  create index domain_check_due on domain (check_due_at);
  -- Keys that a domain's mail is signed with (RFC 6376). The newest that is active and not retired signs. One that shall replace it
  -- becomes active when its record is seen.
  create table dkim_key (
    user_id text not null,
    domain_id text not null,
    selector text not null,
    -- PKCS #8 in PEM, encrypted under SECRET_KEY
    private_key_ciphertext text not null,
    -- SubjectPublicKeyInfo in base64, as the p= of the record
    public_key text not null,
    created_at timestamptz(3) not null default now(),
    activated_at timestamptz(3) default now(),
    retired_at timestamptz(3),
    primary key (user_id, domain_id, selector)
  );
  -- At most one verified owner of a name on the whole service.
  create table verified_domain_name (name text primary key, user_id text not null, domain_id text not null);

  create table endpoint (
    user_id text not null,
    id text not null,
    name text not null,
    type text not null check (type in ('webhook', 'email', 'email_group')),
    webhook_format text not null default 'native' check (webhook_format in ('native', 'chat_a', 'chat_b')),
    config jsonb not null,
    -- Standard Webhooks secret (whsec_...), encrypted under SECRET_KEY; null for endpoints without webhook
    secret_ciphertext text,
    is_active boolean not null default true,
    inactive_reason text,
    description text,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    primary key (user_id, id)
  );
  -- Counters of deliveryStats, beside the endpoint so that counting never rewrites its configuration.
  create table endpoint_stat (
    user_id text not null,
    endpoint_id text not null,
    total bigint not null default 0,
    successful bigint not null default 0,
    failed bigint not null default 0,
    last_delivery_at timestamptz(3),
    -- since when every try failed; null: the last one did not
    failing_since timestamptz(3),
    primary key (user_id, endpoint_id)
  );

  create table email_address (
    user_id text not null,
    id text not null,
    domain_id text not null,
    address text not null,
    endpoint_id text,
    webhook_id text,
    is_active boolean not null default true,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    primary key (user_id, id)
  );
  create index email_address_domain on email_address (user_id, domain_id);
  -- at most one of the two is set
  create index email_address_endpoint on email_address (user_id, (coalesce(endpoint_id, webhook_id)));
  -- Addresses are unique on the service; lower case.
  create table email_address_name (address text primary key, user_id text not null, address_id text not null);
`;

const RECEPTION = `
  -- The octets of one SMTP transaction, as they came after our own trace fields were left out; shared by its recipients.
  create table raw_message (
    id text primary key,
    octets bytea not null,
    sha256 bytea not null,
    size_octets integer not null,
    created_at timestamptz(3) not null default now()
  );
  alter table raw_message alter column octets set storage external;
  -- Mail up to 8 KB lies in the row itself: no chunks, no second index.
  alter table raw_message set (toast_tuple_target = 8160);

  -- One row per accepted recipient, committed before the 250. It holds the envelope and is the parser's to-do list:
  -- parsed_at is null, and claimed_until is past.
  create table reception (
    user_id text not null,
    email_id text not null,
    raw_id text not null,
    reverse_path text not null,
    recipient text not null,
    own_address text not null,
    address_id text,
    domain_id text not null,
    remote_address text not null,
    helo text not null,
    is_tls boolean not null,
    trace_fields text not null,
    accepted_at timestamptz(3) not null,
    parsed_at timestamptz(3),
    claimed_by text,
    claimed_until timestamptz(3),
    tries smallint not null default 0,
    last_error text,
    -- made by its user to try things out, not come by SMTP
    is_test boolean not null default false,
    primary key (user_id, email_id)
  ) with (fillfactor = 85);
  create index reception_unparsed on reception (accepted_at) where parsed_at is null;
  create index reception_raw on reception (raw_id);

  -- Recognises a sender that lost our 250 and offers the same bytes again. Rows older than 7 days are removed.
  create table smtp_offer (
    user_id text not null,
    recipient text not null,
    reverse_path text not null,
    sha256 bytea not null,
    email_id text not null,
    accepted_at timestamptz(3) not null,
    primary key (user_id, recipient, reverse_path, sha256)
  );
  create index smtp_offer_age on smtp_offer (accepted_at);
`;

const EMAIL = `
  -- What lists show. A received email gets its row when it is parsed (or when parsing was given up); bodies lie in email_content.
  create table email (
    user_id text not null,
    id text not null,
    type text not null check (type in ('sent', 'received', 'scheduled')),
    status text not null check (status in ('pending', 'delivered', 'bounced', 'failed', 'scheduled', 'paused', 'cancelled')),
    -- received: when SMTP answered 250; sent: when it was created
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null default now(),
    -- when the first server took a sent email
    sent_at timestamptz(3),
    scheduled_at timestamptz(3),
    -- IANA name that scheduled_at was told in
    timezone text,
    -- when a scheduled email went to the queue
    released_at timestamptz(3),
    -- where it stands in its thread
    thread_at timestamptz(3) not null generated always as (coalesce(released_at, created_at)) stored,
    -- what went wrong with a sent email, in words
    failure_reason text,
    batch_id text,
    batch_index smallint,
    raw_id text,
    -- received: the address that took it (without plus-tag); sent: the From address. Lower case.
    own_address text not null,
    own_domain text not null,
    address_id text,
    domain_id text,
    -- envelope recipient as given, plus-tag and all; null for sent mail
    recipient text,
    message_id text not null,
    subject text not null,
    base_subject text not null,
    from_name text,
    from_address text not null,
    from_text text not null,
    to_addresses text[] not null,
    cc_addresses text[] not null,
    preview text not null,
    -- the Date field; null when absent or invalid
    date timestamptz(3),
    has_attachments boolean not null default false,
    attachment_count integer not null default 0,
    is_read boolean not null default false,
    read_at timestamptz(3),
    is_archived boolean not null default false,
    is_test boolean not null default false,
    thread_id text,
    thread_position integer,
    thread_reason text check (thread_reason in ('header', 'references', 'subject', 'new', 'manual')),
    primary key (user_id, id)
  ) with (fillfactor = 85);
  create index email_list on email (user_id, created_at desc, id desc);
  create index email_own_address on email (user_id, own_address, created_at desc, id desc);
  create index email_thread on email (user_id, thread_id, thread_at, id);
  create index email_message_id on email (user_id, message_id);
  create index email_unthreaded on email (created_at) where thread_id is null and type <> 'scheduled';
  create index email_scheduled on email (scheduled_at) where status = 'scheduled';
  -- what a user has sent lately, for the hourly limit
  create index email_outgoing on email (user_id, created_at desc) where type <> 'received';
  -- a user's mail that is still to be taken by servers, and that waits for its time: both are few
  create index email_unsent on email (user_id, created_at desc, id desc) where type = 'sent' and status = 'pending';
  create index email_timetable on email (user_id, scheduled_at, id) where type = 'scheduled' and status in ('scheduled', 'paused');
  -- mail that users made to try things out, which is little
  create index email_test on email (user_id, created_at desc, id desc) where is_test;
  create index email_batch on email (user_id, batch_id, batch_index) where batch_id is not null;

  create table email_content (
    user_id text not null,
    email_id text not null,
    -- [[lower-case name, decoded value], ...] in the order of the message, at most 1,000
    headers jsonb not null,
    -- {from,to,cc,bcc,replyTo}: null or {text, addresses: [{name, address}]}
    addresses jsonb not null,
    in_reply_to text[] not null,
    reference_ids text[] not null,
    text_body text,
    html_body text,
    -- null when nothing had to be stripped: then it is the trimmed text_body
    cleaned_text text,
    cleaned_html text,
    -- see core/mime/attachment.ts
    attachments jsonb not null,
    -- verdicts of SPF, DKIM, DMARC and ARC; null when not checked
    authentication jsonb,
    priority text,
    tags jsonb not null default '[]',
    is_truncated boolean not null default false,
    parse_error text,
    parser_version smallint not null,
    primary key (user_id, email_id)
  );
  -- Compressing bodies cost four times all the rest of storing a large mail.
  alter table email_content alter column text_body set storage external, alter column html_body set storage external,
    alter column cleaned_text set storage external, alter column cleaned_html set storage external;

  -- Lower-case subject, sender and recipients, for partial matches; and the keys of its other side (core/search/email-parties.ts).
  create table email_search (
    user_id text not null,
    email_id text not null,
    created_at timestamptz(3) not null,
    text text not null,
    parties text[] not null default '{}',
    primary key (user_id, email_id)
  );
  create index email_search_text on email_search using gin (user_id, text gin_trgm_ops, parties);

  -- Words of the whole email, for searches by words: written when it gets its thread, or is scheduled. Weights: A subject, B sender,
  -- C recipients, D bodies (see db/queries/search/email-words.ts, word-vector.ts).
  create table email_words (
    user_id text not null,
    email_id text not null,
    created_at timestamptz(3) not null,
    words tsvector not null,
    primary key (user_id, email_id)
  );
  -- Compressing words cost twice all the rest of storing them.
  alter table email_words alter column words set storage external;
  -- Every word begins with four characters of its user's own. What waits to be sorted in is read by every search.
  create index email_words_words on email_words using gin (words) with (gin_pending_list_limit = 512);

  -- Exact totals without search: written in the transaction that changes the email. Each email counts in six rows: with its address
  -- and with all of its domain (own_address '*'), and with either in its hour and its day (UTC) and for all time (from -infinity).
  create table email_counter (
    user_id text not null,
    own_address text not null,
    grain text not null check (grain in ('hour', 'day', 'all')),
    begins_at timestamptz(3) not null,
    own_domain text not null,
    type text not null,
    status text not null,
    is_read boolean not null,
    is_archived boolean not null,
    count bigint not null,
    primary key (user_id, own_address, grain, begins_at, own_domain, type, status, is_read, is_archived)
  ) with (fillfactor = 85);
`;

const THREADS = `
  create table thread (
    user_id text not null,
    id text not null,
    root_message_id text not null,
    normalized_subject text not null,
    participant_emails text[] not null,
    participant_names text[] not null,
    -- lower-case subject and participants, for partial matches
    search_text text not null,
    message_count integer not null,
    received_count integer not null,
    unread_count integer not null,
    -- received messages that are archived; the thread is archived when this equals received_count and is not 0
    archived_count integer not null,
    latest_email_id text not null,
    last_message_at timestamptz(3) not null,
    -- given by the user, in the order in which they were given, and beside each the form in which labels are compared (core/threads/label.ts)
    labels text[] not null default '{}',
    label_keys text[] not null default '{}',
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null default now(),
    primary key (user_id, id)
  ) with (fillfactor = 85);
  create index thread_list on thread (user_id, last_message_at desc, id desc);
  create index thread_inbox on thread (user_id, last_message_at desc, id desc) where archived_count < received_count or received_count = 0;
  create index thread_archive on thread (user_id, last_message_at desc, id desc) where archived_count = received_count and received_count > 0;
  create index thread_unread on thread (user_id, last_message_at desc, id desc) where unread_count > 0;
  create index thread_search on thread using gin (user_id, search_text gin_trgm_ops);
  create index thread_labels on thread using gin (user_id, label_keys) where label_keys <> '{}';
  create index thread_participants on thread using gin (user_id, participant_emails);

  -- Ids of threads that were merged into another; thread_id is always a living thread.
  create table thread_alias (user_id text not null, alias_id text not null, thread_id text not null, primary key (user_id, alias_id));
  create index thread_alias_target on thread_alias (user_id, thread_id);
  -- Living threads that their user parted, by splitting one or by moving a message: no later mail joins them. A row for either order.
  create table thread_apart (user_id text not null, thread_id text not null, other_id text not null, primary key (user_id, thread_id, other_id));

  -- Every msg-id that a message of the thread bears or refers to.
  create table thread_message_id (user_id text not null, message_id text not null, thread_id text not null, primary key (user_id, message_id));
  create index thread_message_id_thread on thread_message_id (user_id, thread_id);

  -- Messages without any valid reference, one row per participant: what a subject edge may join.
  create table thread_subject (
    user_id text not null,
    base_subject_sha256 bytea not null,
    participant text not null,
    date timestamptz(3) not null,
    email_id text not null,
    is_reply boolean not null,
    thread_id text not null,
    -- is_reply before date: the nearest reply is found at once among any number of notices with one subject
    primary key (user_id, base_subject_sha256, participant, is_reply, date, email_id)
  );
  create index thread_subject_thread on thread_subject (user_id, thread_id);
`;

const ROUTES = `
  -- Rules by which a user's received mail is let through, held back or led elsewhere. The highest priority is asked first, the newest of
  -- equal ones; the first that matches decides.
  create table guard_rule (
    user_id text not null,
    id text not null,
    name text not null,
    description text,
    type text not null check (type in ('explicit', 'ai_prompt')),
    -- see core/routing/guard-rule.ts
    config jsonb not null,
    action text not null check (action in ('allow', 'block', 'route')),
    -- of action route
    endpoint_id text,
    priority integer not null default 0,
    is_active boolean not null default true,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    primary key (user_id, id)
  );
  -- Hit counters, beside the rule so that counting never rewrites it.
  create table guard_rule_stat (
    user_id text not null,
    rule_id text not null,
    trigger_count bigint not null default 0,
    last_triggered_at timestamptz(3),
    primary key (user_id, rule_id)
  );

  -- Where each received email went, and why. A row is made when the email gets its thread, and then waits for the router, while outcome
  -- is null.
  create table route (
    user_id text not null,
    email_id text not null,
    -- the email's: the order of routing
    created_at timestamptz(3) not null,
    threaded_at timestamptz(3) not null,
    -- null: it is not decided yet
    decided_at timestamptz(3),
    -- endpoint: deliveries were made; inactive: its endpoint is switched off; stored: nothing leads anywhere; blocked: a rule holds it
    -- back; review: a rule's model did not answer, so that a human has to; asking: a model is being asked
    outcome text check (outcome in ('endpoint', 'inactive', 'stored', 'blocked', 'review', 'asking')),
    -- what led to the endpoint
    via text check (via in ('address', 'webhook', 'catch-all', 'guard-rule')),
    endpoint_id text,
    -- the guard rule that matched, or whose model did not answer
    rule_id text,
    -- why, in words, where outcome, via and the ids do not say it all
    reason text,
    -- what of the email matched: [{criteria, value}]
    matches jsonb,
    -- when a user let an email through that was blocked or held for review
    released_at timestamptz(3),
    -- what models said of the email: see core/routing/guard-judgement.ts
    answers jsonb,
    -- of outcome asking
    next_ask_at timestamptz(3),
    asks smallint not null default 0,
    claimed_by text,
    claimed_until timestamptz(3),
    primary key (user_id, email_id)
  ) with (fillfactor = 85);
  create index route_undecided on route (created_at) where outcome is null;
  create index route_asking on route (next_ask_at) where outcome = 'asking';
  create index route_held on route (user_id, created_at desc, email_id desc) include (outcome)
    where outcome in ('blocked', 'review') and released_at is null;

  -- DMARC aggregate reports (RFC 9990) that came in, each with its rows.
  create table dmarc_report (
    user_id text not null,
    id text not null,
    email_id text not null,
    -- of the policy, lower case; domain_id: the user's domain that it is, or lies under
    domain text not null,
    domain_id text not null,
    organization text not null,
    report_id text not null,
    begins_at timestamptz(3) not null,
    ends_at timestamptz(3) not null,
    -- see core/domains/dmarc-report.ts
    policy jsonb not null,
    records jsonb not null,
    record_count integer not null,
    message_count integer not null,
    aligned_count integer not null,
    is_truncated boolean not null default false,
    created_at timestamptz(3) not null,
    primary key (user_id, id)
  );
  create unique index dmarc_report_email on dmarc_report (user_id, email_id);
  create index dmarc_report_domain on dmarc_report (user_id, domain_id, ends_at desc, id desc);
`;

const DELIVERIES = `
  create table delivery (
    user_id text not null,
    id text not null,
    email_id text not null,
    endpoint_id text not null,
    delivery_type text not null check (delivery_type in ('webhook', 'email', 'email_group')),
    -- as they were when the delivery was made, so that every attempt sends the same octets although threads may merge
    thread_id text,
    thread_position integer,
    cause text not null default 'route' check (cause in ('route', 'retry', 'replay', 'release')),
    -- of a forwarded copy: its octets, which the recipients with this delivery_id are sent, and whether its return address is null (its
    -- original's was)
    forward_raw_id text,
    is_null_sender boolean,
    status text not null default 'pending' check (status in ('pending', 'success', 'failed')),
    -- tries made; an interrupted attempt is recorded but not counted
    attempts integer not null default 0,
    attempts_allowed integer not null,
    next_attempt_at timestamptz(3),
    last_attempt_at timestamptz(3),
    claimed_by text,
    claimed_until timestamptz(3),
    -- {error: string|null, statusCode: number|null} of the last attempt
    response_data jsonb,
    -- of a webhook, the last attempt as delivery_earlier_attempt would have it
    last_attempt jsonb,
    created_at timestamptz(3) not null,
    completed_at timestamptz(3),
    primary key (user_id, id)
  -- A row is claimed in place, and then grows by its last attempt.
  ) with (fillfactor = 50);
  -- Webhooks by endpoint: what waits for one that hangs is stepped over as a whole.
  create index delivery_lane_due on delivery (user_id, endpoint_id, next_attempt_at) where status = 'pending' and delivery_type = 'webhook';
  -- Copies that are to be handed to the sending queue; next_attempt_at is null once they are, until their recipients are settled.
  create index delivery_forward_due on delivery (next_attempt_at) where status = 'pending' and delivery_type <> 'webhook';
  create index delivery_email on delivery (user_id, email_id);
  create index delivery_endpoint on delivery (user_id, endpoint_id, created_at desc, id desc);
  -- What failed, or waits to be forwarded, for lists of an endpoint that has seen much; webhooks that wait are found by their lane.
  create index delivery_failed on delivery (user_id, endpoint_id, created_at desc, id desc) where status = 'failed';
  create index delivery_forward_pending on delivery (user_id, endpoint_id, created_at desc, id desc)
    where status = 'pending' and delivery_type <> 'webhook';

  -- Attempts before the last one, which stands in the delivery's row: most deliveries need one only.
  create table delivery_earlier_attempt (
    user_id text not null,
    delivery_id text not null,
    number integer not null,
    started_at timestamptz(3) not null,
    duration_ms integer not null,
    outcome text not null check (outcome in ('success', 'failed', 'interrupted')),
    status_code integer,
    error text,
    -- first 4,096 octets of the answer, decoded as UTF-8
    response_body text,
    -- header fields sent, without secrets
    request_headers jsonb not null,
    primary key (user_id, delivery_id, number)
  );
  -- All attempts, read with the rights of who asks.
  create view delivery_attempt with (security_invoker = true) as
    select user_id, delivery_id, number, started_at, duration_ms, outcome, status_code, error, response_body, request_headers
    from delivery_earlier_attempt
    union all
    select d.user_id, d.id, l.number, l.started_at, l.duration_ms, l.outcome, l.status_code, l.error, l.response_body, l.request_headers
    from delivery d cross join lateral jsonb_to_record(d.last_attempt) as l(number integer, started_at timestamptz(3), duration_ms integer,
      outcome text, status_code integer, error text, response_body text, request_headers jsonb)
    where d.last_attempt is not null;
`;

const SENDING = `
  -- The queue of sent mail, one row per recipient. Due when next_attempt_at is past; that is null while the email is scheduled, and once
  -- the recipient is settled.
  create table recipient (
    user_id text not null,
    id text not null,
    email_id text not null,
    -- of a forwarded copy of the received email email_id; null: email_id is a sent email
    delivery_id text,
    -- the domain of the copy's From address, by whose keys it is signed; null: that of the email
    sender_domain text,
    -- as it stands in the envelope, and its domain in lower case
    address text not null,
    domain text not null,
    status text not null default 'pending' check (status in ('pending', 'delivered', 'bounced', 'failed')),
    -- when it went to the queue: the five days of trying count from here; null while the email is scheduled
    queued_at timestamptz(3),
    -- tries made; an interrupted attempt is recorded but not counted
    attempts integer not null default 0,
    next_attempt_at timestamptz(3),
    claimed_by text,
    claimed_until timestamptz(3),
    -- the identifier of the recipient that the return address of the last transaction was made for: those that shared it bear the same
    return_id text,
    -- the last word of a server, or of a DSN
    last_code smallint,
    last_status text,
    last_text text,
    settled_at timestamptz(3),
    -- when somebody complained of the message, and when the sender was told that it was given up
    complained_at timestamptz(3),
    reported_at timestamptz(3),
    created_at timestamptz(3) not null,
    primary key (user_id, id)
  ) with (fillfactor = 85);
  create index recipient_unreported on recipient (settled_at) where status = 'failed' and reported_at is null;
  -- Read in steps from place to place, so that a long backlog of one destination is walked over once in a while and not at every claim ...
  create index recipient_due on recipient (next_attempt_at, id) where status = 'pending' and next_attempt_at is not null;
  -- ... and by sender and destination when there is room for these again.
  create index recipient_lane_due on recipient (domain, user_id, next_attempt_at, id) where status = 'pending' and next_attempt_at is not null;
  create index recipient_email on recipient (user_id, email_id);
  create index recipient_delivery on recipient (user_id, delivery_id) where delivery_id is not null;
  -- what a user's endpoints have forwarded lately, for the hourly limit
  create index recipient_forwarded on recipient (user_id, queued_at) where delivery_id is not null;

  -- Written before connecting, and its outcome after; finished_at null with a past lease: the process died.
  create table sending_attempt (
    user_id text not null,
    recipient_id text not null,
    number integer not null,
    started_at timestamptz(3) not null,
    finished_at timestamptz(3),
    outcome text check (outcome in ('delivered', 'deferred', 'bounced', 'interrupted')),
    -- the server's name and address; null when no connection was made
    host text,
    remote_address text,
    is_tls boolean,
    code smallint,
    enhanced_status text,
    text text,
    primary key (user_id, recipient_id, number)
  );

  -- Addresses that a user's mail is not sent to any more, lower case.
  create table suppression (
    user_id text not null,
    id text not null,
    address text not null,
    reason text not null check (reason in ('bounce', 'complaint', 'manual')),
    -- what the server, the report or the user said
    detail text,
    email_id text,
    created_at timestamptz(3) not null,
    primary key (user_id, id)
  );
  create unique index suppression_address on suppression (user_id, address);

  -- Answers to requests that bore an Idempotency-Key, kept for 24 hours; written in the transaction that does what was asked.
  create table idempotency_key (
    user_id text not null,
    key text not null,
    operation text not null,
    request_sha256 bytea not null,
    answer jsonb not null,
    created_at timestamptz(3) not null,
    primary key (user_id, key)
  );
  create index idempotency_key_age on idempotency_key (created_at);

  create table batch (
    user_id text not null,
    id text not null,
    total integer not null,
    created_at timestamptz(3) not null,
    primary key (user_id, id)
  );

  -- Sets the status of sent emails by that of their recipients (by precedence pending, bounced, failed, delivered), and with it the totals
  -- of lists. The two arrays are pairs. Answers the emails whose status changed. Emails, and then totals, are locked in the order of their
  -- keys; recipients are read only then, so that of two transactions which settle recipients of one email the second one sees both.
  -- Plans are kept: left to itself, PostgreSQL plans anew at every call, which costs more than the call.
  create function refresh_sent_emails(p_user_ids text[], p_email_ids text[])
    returns table (user_id text, email_id text, thread_id text, status text) language plpgsql volatile
    set plan_cache_mode = force_generic_plan as $$
  #variable_conflict use_column
  begin
    perform from (select distinct * from unnest(p_user_ids, p_email_ids)) as p(user_id, id)
      join email e on e.user_id = p.user_id and e.id = p.id and e.type = 'sent'
      order by e.user_id, e.id for no key update of e;
    return query
    with fresh as materialized (
      select e.user_id, e.id, e.thread_id, e.created_at, e.own_address, e.own_domain, e.type, e.is_read, e.is_archived,
             e.status as former_status, r.status, r.reason, r.sent_at
      from (select distinct * from unnest(p_user_ids, p_email_ids)) as p(user_id, id)
      join email e on e.user_id = p.user_id and e.id = p.id and e.type = 'sent'
      cross join lateral (
        select case when bool_or(r.status = 'pending') then 'pending' when bool_or(r.status = 'bounced') then 'bounced'
                    when bool_or(r.status = 'failed') then 'failed' else 'delivered' end as status,
               (array_agg(r.last_text order by r.settled_at, r.id) filter (where r.status in ('bounced', 'failed')))[1] as reason,
               min(r.settled_at) filter (where r.status = 'delivered') as sent_at
        from recipient r where r.user_id = e.user_id and r.email_id = e.id having count(*) > 0) r
      where r.status <> e.status or r.reason is distinct from e.failure_reason or (e.sent_at is null and r.sent_at is not null)
    ), refreshed as (
      update email e set status = f.status, failure_reason = f.reason, sent_at = coalesce(e.sent_at, f.sent_at),
        updated_at = (select postroom_now())
      from fresh f where e.user_id = f.user_id and e.id = f.id
    ), moved as (
      select f.*, m.counted_status, m.delta
      from fresh f cross join lateral (values (f.former_status, -1), (f.status, 1)) as m(counted_status, delta)
      where f.status <> f.former_status
    ), counted as (
      insert into email_counter as c (user_id, own_address, grain, begins_at, own_domain, type, status, is_read, is_archived, count)
      select m.user_id, a.counted_address, g.grain, g.begins_at, m.own_domain, m.type, m.counted_status, m.is_read, m.is_archived,
             sum(m.delta)
      from moved m
      cross join lateral (values (m.own_address), ('*')) as a(counted_address)
      cross join lateral (values ('all', '-infinity'::timestamptz), ('day', date_trunc('day', m.created_at, 'UTC')),
        ('hour', date_trunc('hour', m.created_at, 'UTC'))) as g(grain, begins_at)
      group by 1, 2, 3, 4, 5, 6, 7, 8, 9
      having sum(m.delta) <> 0
      order by 1, 2, 3, 4, 5, 6, 7, 8, 9
      on conflict (user_id, own_address, grain, begins_at, own_domain, type, status, is_read, is_archived)
        do update set count = c.count + excluded.count
    )
    select f.user_id, f.id, f.thread_id, f.status from fresh f where f.status <> f.former_status;
  end $$;
`;

const EVENTS = `
  -- The gap-free feed of a user: seq comes from event_counter, bumped by the last statement of the transaction that makes the event.
  create table event (
    user_id text not null,
    seq bigint not null,
    id text not null,
    kind text not null,
    at timestamptz(3) not null,
    email_id text,
    thread_id text,
    delivery_id text,
    endpoint_id text,
    data jsonb not null default '{}',
    primary key (user_id, seq)
  );
  -- What people did with single emails, which no other row tells; events that come with every email stay out of it.
  create index event_by_hand on event (user_id, email_id, seq) where kind in ('email.read', 'email.unread', 'email.archived',
    'email.unarchived', 'email.rescheduled', 'email.paused', 'email.resumed', 'email.cancelled', 'email.reprocessed');
  -- first_seq: events before it were removed
  create table event_counter (user_id text primary key, last_seq bigint not null, first_seq bigint not null default 1);

  -- Appends events (array of {id, kind, emailId?, threadId?, deliveryId?, endpointId?, data?}) and answers the last seq. Call it last.
  create function append_events(p_user_id text, p_events jsonb) returns bigint language plpgsql as $$
  declare
    n bigint := jsonb_array_length(p_events);
    last bigint;
  begin
    if n = 0 then return null; end if;
    insert into event_counter as c (user_id, last_seq) values (p_user_id, n)
      on conflict (user_id) do update set last_seq = c.last_seq + n returning last_seq into last;
    insert into event (user_id, seq, id, kind, at, email_id, thread_id, delivery_id, endpoint_id, data)
      select p_user_id, last - n + e.ordinality, e.value->>'id', e.value->>'kind', (select postroom_now()), e.value->>'emailId', e.value->>'threadId',
             e.value->>'deliveryId', e.value->>'endpointId', coalesce(e.value->'data', '{}')
      from jsonb_array_elements(p_events) with ordinality e;
    return last;
  end $$;
`;

const REQUEST_LIMITS = `
  -- What users' requests have lately taken of their limit, where several gateways serve: blocks of requests that gateways leased, each
  -- counting until its last request is a window old. Unlogged: after a crash of PostgreSQL every user begins anew.
  create type request_lease as (id text, granted_at timestamptz, requests integer, counts_until timestamptz);
  create unlogged table request_window (user_id text primary key, leases request_lease[] not null) with (fillfactor = 50);

  -- Leases up to p_wanted requests of the user, to be made within p_lease_ms, while no more than p_limit count in all. Tells of the
  -- gateway's former lease how many were made, the last one so long after it had asked for the lease; null: there is none. Telling it
  -- twice does no harm. Answers what was granted, what is left, and when the first of what counts no longer does.
  create function lease_requests(p_user_id text, p_lease_id text, p_wanted integer, p_limit integer, p_lease_ms integer, p_window_ms integer,
      p_former_id text, p_former_requests integer, p_former_ms integer)
    returns table (granted integer, remaining integer, changes_in_ms integer)
    language plpgsql volatile security definer set search_path = public, pg_temp as $$
  declare
    held request_lease[];
    at timestamptz;
    counted integer;
    oldest timestamptz;
  begin
    loop
      select w.leases into held from request_window w where w.user_id = p_user_id for update;
      exit when found;
      insert into request_window values (p_user_id, '{}') on conflict do nothing;
    end loop;
    -- This moment, not that of the statement: it may have waited for the row.
    at := clock_timestamp();
    select coalesce(array_agg((l.id, l.granted_at, n.requests, n.counts_until)::request_lease), '{}'),
           coalesce(sum(n.requests), 0), min(n.counts_until)
      into held, counted, oldest
      from unnest(held) l cross join lateral (
        select case when l.id = p_former_id then p_former_requests else l.requests end as requests,
               case when l.id = p_former_id then l.granted_at + (p_former_ms + p_window_ms) * interval '1 millisecond'
                    else l.counts_until end as counts_until) n
      where n.requests > 0 and n.counts_until > at;
    granted := greatest(0, least(p_wanted, p_limit - counted));
    remaining := greatest(0, p_limit - counted - granted);
    if granted > 0 then
      held := held || (p_lease_id, at, granted, at + (p_lease_ms + p_window_ms) * interval '1 millisecond')::request_lease;
    end if;
    update request_window w set leases = held where w.user_id = p_user_id;
    changes_in_ms := ceil(extract(epoch from coalesce(oldest, at + p_window_ms * interval '1 millisecond') - at) * 1000);
    return next;
  end $$;
`;

const USER_TABLES = [
  'domain',
  'dkim_key',
  'verified_domain_name',
  'endpoint',
  'endpoint_stat',
  'email_address',
  'email_address_name',
  'reception',
  'smtp_offer',
  'email',
  'email_content',
  'email_trace',
  'email_search',
  'email_words',
  'email_counter',
  'thread',
  'thread_alias',
  'thread_apart',
  'thread_message_id',
  'thread_subject',
  'guard_rule',
  'guard_rule_stat',
  'route',
  'dmarc_report',
  'delivery',
  'delivery_earlier_attempt',
  'recipient',
  'sending_attempt',
  'suppression',
  'idempotency_key',
  'batch',
  'event',
  'event_counter',
  'request_window',
  'dead_row',
  'retention',
  'retention_sweep',
];

const ROLES_AND_POLICIES = `
  -- The service logs in as these roles; db/connection/logins.ts lets them, as logins belong to the server and not to the database.
  do $$ begin
    begin create role postroom_gateway nologin noinherit; exception when duplicate_object or unique_violation then null; end;
    begin create role postroom_actor nologin noinherit; exception when duplicate_object or unique_violation then null; end;
  end $$;
  grant usage on schema public to postroom_gateway, postroom_actor;
  grant select, insert, update, delete on all tables in schema public to postroom_actor;
  grant select, insert, update, delete on ${USER_TABLES.join(', ')} to postroom_gateway;
  grant select on clock, delivery_attempt to postroom_gateway;
  -- for operators only
  revoke insert, update, delete on dead_row, retention_sweep from postroom_gateway;
  -- The octets of sent mail. They are read through an email row only.
  grant insert (id, octets, sha256, size_octets) on raw_message to postroom_gateway;
  ${USER_TABLES.map(
    (table) => `
  alter table ${table} enable row level security;
  create policy ${table}_of_user on ${table} to postroom_gateway using (user_id = current_setting('postroom.user_id', true));
  create policy ${table}_of_actor on ${table} to postroom_actor using (true);`,
  ).join('')}

  -- The gateway does not know the user yet when it looks a credential up.
  create function credential_owner(p_secret_sha256 bytea)
    returns table (key_id text, user_id text, expires_at timestamptz, scopes text[], domain_id text, domain_name text)
    language sql stable security definer set search_path = public, pg_temp as $$
      select k.id, k.user_id, k.expires_at, k.scopes, k.domain_id, k.domain_name from api_key k
      where k.secret_sha256 = p_secret_sha256 and k.revoked_at is null
        and (k.domain_id is null or exists (select from domain d where d.user_id = k.user_id and d.id = k.domain_id)) $$;

  -- Uses of keys, gathered by the gateway: [{id, at}].
  create function note_key_uses(p_uses jsonb) returns void
    language sql security definer set search_path = public, pg_temp as $$
      update api_key k set last_used_at = u.at from jsonb_to_recordset(p_uses) as u(id text, at timestamptz)
      where k.id = u.id and (k.last_used_at is null or k.last_used_at < u.at) $$;
  create function account_of(p_user_id text) returns table (email text, name text, created_at timestamptz)
    language sql stable security definer set search_path = public, pg_temp as $$
      select u.email, u.name, u.created_at from user_account u
      where u.id = p_user_id and p_user_id = current_setting('postroom.user_id', true) $$;

  -- The keys of the user who asks. Who may ask is decided as for account_of.
  create function api_keys_of(p_user_id text)
    returns table (id text, name text, scopes text[], domain_id text, domain_name text, created_at timestamptz, expires_at timestamptz,
      revoked_at timestamptz, last_used_at timestamptz)
    language sql stable security definer set search_path = public, pg_temp as $$
      select k.id, k.name, k.scopes, k.domain_id, k.domain_name, k.created_at, k.expires_at, k.revoked_at, k.last_used_at from api_key k
      where k.user_id = p_user_id and p_user_id = current_setting('postroom.user_id', true) $$;
  -- Answers made; too many: the user has p_most keys already that were not revoked, of two at once the second waits; no domain: the
  -- user has none of that id.
  create function create_api_key(p_user_id text, p_id text, p_name text, p_secret_sha256 bytea, p_expires_at timestamptz, p_most integer,
      p_scopes text[], p_domain_id text)
    returns text language plpgsql security definer set search_path = public, pg_temp as $$
    declare
      of_domain text;
    begin
      if p_user_id is distinct from current_setting('postroom.user_id', true) then return null; end if;
      perform from user_account u where u.id = p_user_id for update;
      if p_domain_id is not null then
        select d.name into of_domain from domain d where d.user_id = p_user_id and d.id = p_domain_id for key share;
        if not found then return 'no domain'; end if;
      end if;
      if (select count(*) from api_key k where k.user_id = p_user_id and k.revoked_at is null) >= p_most then return 'too many'; end if;
      insert into api_key (id, user_id, name, secret_sha256, expires_at, scopes, domain_id, domain_name)
      values (p_id, p_user_id, p_name, p_secret_sha256, p_expires_at, p_scopes, p_domain_id, of_domain);
      return 'made';
    end $$;
  -- With a domain end the keys that are limited to it.
  create function revoke_keys_of_domain() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
    begin
      update api_key k set revoked_at = now() where k.user_id = old.user_id and k.domain_id = old.id and k.revoked_at is null;
      return null;
    end $$;
  create trigger domain_keys_end after delete on domain for each row execute function revoke_keys_of_domain();
  -- False when the user has no such key, or it was revoked before.
  create function revoke_api_key(p_user_id text, p_id text) returns boolean
    language sql security definer set search_path = public, pg_temp as $$
      with revoked as (
        update api_key k set revoked_at = now()
        where k.user_id = p_user_id and k.id = p_id and k.revoked_at is null and p_user_id = current_setting('postroom.user_id', true)
        returning 1)
      select exists (select from revoked) $$;

  -- How far the event feeds of these users have grown, for a gateway that watches them: numbers, nothing of what happened.
  create function event_positions(p_user_ids text[]) returns table (user_id text, last_seq bigint)
    language sql stable security definer set search_path = public, pg_temp as $$
      select c.user_id, c.last_seq from event_counter c where c.user_id = any (p_user_ids) $$;

  -- Octets are reached only through an email row of the user, by a key of one domain (0001-domain-keys.ts) through one of the domain; null
  -- when the whole message no longer fits its sha256.
  create function raw_octets(p_user_id text, p_email_id text, p_start integer, p_length integer) returns table (octets bytea)
    language sql stable security definer set search_path = public, pg_temp as $$
      select case when sha256(r.octets) = r.sha256 then substring(r.octets from p_start + 1 for p_length) end
      from email e join raw_message r on r.id = e.raw_id
      where e.user_id = p_user_id and e.id = p_email_id and p_user_id = current_setting('postroom.user_id', true)
        and (current_setting('role') <> 'postroom_domain' or e.own_domain = current_setting('postroom.domain', true)) $$;

  -- Those of the emails of the user that SMTP accepted and that are still to be parsed, with the beginning of their octets.
  create function pending_receptions(p_user_id text, p_email_ids text[], p_length integer)
    returns table (email_id text, recipient text, own_address text, address_id text, domain_id text, accepted_at timestamptz,
      is_test boolean, head bytea)
    language sql stable security definer set search_path = public, pg_temp as $$
      select o.email_id, o.recipient, o.own_address, o.address_id, o.domain_id, o.accepted_at, o.is_test, substring(r.octets for p_length)
      from reception o join raw_message r on r.id = o.raw_id
      where o.user_id = p_user_id and o.email_id = any (p_email_ids) and o.parsed_at is null
        and p_user_id = current_setting('postroom.user_id', true)
        and (current_setting('role') <> 'postroom_domain' or substring(o.own_address from '[^@]*$') = current_setting('postroom.domain', true)) $$;

  -- How many octets the messages behind these emails of the user have.
  create function raw_sizes(p_user_id text, p_email_ids text[]) returns table (email_id text, octets bigint)
    language sql stable security definer set search_path = public, pg_temp as $$
      select e.id, r.size_octets::bigint from email e join raw_message r on r.id = e.raw_id
      where e.user_id = p_user_id and e.id = any (p_email_ids) and p_user_id = current_setting('postroom.user_id', true)
        and (current_setting('role') <> 'postroom_domain' or e.own_domain = current_setting('postroom.domain', true)) $$;

  -- Gives the octets of a scheduled email another date. The Date field as we compose it has always the same length, so nothing else moves.
  -- Answers the value of the field; null when the email is not scheduled or its octets have no such field.
  create function redate_scheduled(p_user_id text, p_email_id text, p_at timestamptz) returns text
    language sql volatile security definer set search_path = public, pg_temp as $$
      with written as materialized (
        select to_char(p_at at time zone 'UTC', 'Dy, DD Mon YYYY HH24:MI:SS "+0000"') as value
      ), found as materialized (
        -- behind CR LF and the name of the field, within the header section, and before the end of its line
        select r.id, r.octets, position(decode('0d0a446174653a20', 'hex') in r.octets) + 8 as start
        from email e join raw_message r on r.id = e.raw_id
        where e.user_id = p_user_id and e.id = p_email_id and e.type = 'scheduled'
          and p_user_id = current_setting('postroom.user_id', true)
      ), dated as materialized (
        select f.id, w.value, overlay(f.octets placing convert_to(w.value, 'UTF8') from f.start) as octets
        from found f cross join written w
        where f.start > 8 and f.start < position(decode('0d0a0d0a', 'hex') in f.octets)
          and substring(f.octets from f.start + length(w.value) for 2) = decode('0d0a', 'hex')
      )
      update raw_message r set octets = d.octets, sha256 = sha256(d.octets) from dated d where r.id = d.id returning d.value $$;

  -- Whether mail for the domain comes here, which everybody may know.
  create function is_hosted_domain(p_name text) returns boolean
    language sql stable security definer set search_path = public, pg_temp as $$
      select exists (select from verified_domain_name v where v.name = p_name) $$;
  -- Names are unique on the whole service; that one is taken is all that a user learns of another's.
  -- Whether a claim may be made: there is no verified owner, or one whose proof is missing. Otherwise the owner's proof is looked at
  -- soon, unless that was done lately.
  create function contest_verified_name(p_name text) returns boolean
    language plpgsql volatile security definer set search_path = public, pg_temp as $$
    declare
      now_at timestamptz := postroom_now();
      owner record;
    begin
      select d.user_id, d.id, d.proof_lost_at, d.is_trusted or d.parent_id is not null as needs_none into owner
        from verified_domain_name v join domain d on d.user_id = v.user_id and d.id = v.domain_id where v.name = p_name;
      if not found then return not exists (select from verified_domain_name v where v.name = p_name); end if;
      if owner.needs_none then return false; end if;
      if owner.proof_lost_at is not null then return true; end if;
      update domain d set check_due_at = now_at where d.user_id = owner.user_id and d.id = owner.id
        and d.check_due_at > now_at and coalesce(d.checked_at, '-infinity') < now_at - interval '10 minutes';
      return false;
    end $$;

  -- Searches. Their operators are not leakproof, so that under the policy their indexes would be passed over. Planned with the values
  -- at hand, each time, since what a pattern costs depends on it. p_pattern is for LIKE, lower case, escaped.
  create function search_emails(p_user_id text, p_pattern text, p_since timestamptz)
    returns table (email_id text, created_at timestamptz)
    language plpgsql stable security definer rows 100 set search_path = public, pg_temp as $$
    begin
      if p_user_id is distinct from current_setting('postroom.user_id', true) then return; end if;
      return query execute
        'select s.email_id, s.created_at::timestamptz from email_search s
         where s.user_id = $1 and s.text like $2 and ($3 is null or s.created_at >= $3)' using p_user_id, p_pattern, p_since;
    end $$;
  -- The emails whose other side has one of two keys (core/search/email-parties.ts; null: none), and which of them.
  create function exchanged_emails(p_user_id text, p_address text, p_domain text, p_since timestamptz)
    returns table (email_id text, created_at timestamptz, has_address boolean, has_domain boolean)
    language plpgsql stable security definer rows 100 set search_path = public, pg_temp as $$
    begin
      if p_user_id is distinct from current_setting('postroom.user_id', true) then return; end if;
      return query execute
        'select s.email_id, s.created_at::timestamptz, coalesce(s.parties @> array[$2], false), coalesce(s.parties @> array[$3], false)
         from email_search s
         where s.user_id = $1 and s.parties && array_remove(array[$2, $3], null) and ($4 is null or s.created_at >= $4)'
        || case when current_setting('role') <> 'postroom_domain' then '' else
          ' and exists (select from email e where e.user_id = s.user_id and e.id = s.email_id and e.own_domain = current_setting(''postroom.domain'', true))' end
        using p_user_id, p_address, p_domain, p_since;
    end $$;
  -- null: no condition. p_address is one participant, p_domain the domain of one, lower case. The threads behind and before two places,
  -- newest first, inverted: oldest first; p_limit null: all. Order and limit stand inside, so that the planner may walk the list until
  -- the page is full, where a condition holds often, or gather and sort, where it holds seldom.
  create function search_threads(p_user_id text, p_pattern text, p_address text, p_domain text, p_is_unread boolean,
      p_after_at timestamptz, p_after_id text, p_before_at timestamptz, p_before_id text, p_is_inverted boolean, p_limit integer)
    returns table (thread_id text)
    language plpgsql stable security definer rows 100 set search_path = public, pg_temp as $$
    begin
      if p_user_id is distinct from current_setting('postroom.user_id', true) then return; end if;
      return query execute
        'select t.id from thread t where t.user_id = $1 and ($2 is null or t.search_text like $2)
         and ($3 is null or t.participant_emails @> array[$3])
         and ($4 is null or exists (select from unnest(t.participant_emails) p where split_part(p, ''@'', -1) = $4))
         and ($4 is null or t.search_text like ''%@'' || $4 || ''%'')
         and (not $5 or t.unread_count > 0)
         and ($6 is null or (t.last_message_at, t.id) < ($6, $7)) and ($8 is null or (t.last_message_at, t.id) > ($8, $9))
         order by ' || case when p_is_inverted then 't.last_message_at, t.id' else 't.last_message_at desc, t.id desc' end || ' limit $10'
        using p_user_id, p_pattern, p_address, p_domain, p_is_unread, p_after_at, p_after_id, p_before_at, p_before_id, p_limit;
    end $$;

  -- Labels of the user's threads, those of most threads; under the policy nothing would be known of how few threads have any.
  create function list_labels(p_user_id text, p_limit integer) returns table (name text, threads bigint, unread bigint)
    language plpgsql stable security definer rows 20 set search_path = public, pg_temp as $$
    begin
      if p_user_id is distinct from current_setting('postroom.user_id', true) then return; end if;
      return query execute
        'select used.name, used.threads, used.unread from (
           select l.key, mode() within group (order by l.name collate "C") as name, count(*) as threads,
             count(*) filter (where t.unread_count > 0) as unread
           from thread t cross join lateral unnest(t.labels, t.label_keys) as l(name, key)
           where t.user_id = $1 and t.label_keys <> ''{}''
           group by l.key order by count(*) desc, l.key limit $2) used
         order by used.key' using p_user_id, p_limit;
    end $$;

  -- Statistics of tables that grew fourfold since they were last taken. Autovacuum looks once a minute; a fresh service takes tens of
  -- thousands of mails in that time, under plans made for empty tables, which new statistics also end. Large tables are autovacuum's.
  create function analyze_young_tables() returns integer language plpgsql volatile security definer set search_path = public, pg_temp as $$
    declare
      grown text;
      analyzed integer := 0;
    begin
      if not pg_try_advisory_xact_lock(hashtextextended('analyze young tables', 0)) then return 0; end if;
      for grown in
        select t.relname from pg_stat_user_tables t join pg_class c on c.oid = t.relid
        where t.schemaname = 'public' and t.n_live_tup between 100 and 100000 and t.n_live_tup > 4 * greatest(c.reltuples, 0)
        order by t.relname
      loop
        execute format('analyze %I', grown);
        analyzed := analyzed + 1;
      end loop;
      return analyzed;
    end $$;
  -- The gateway counts a request before it acts for its user.
  revoke all on function lease_requests from public;
  grant execute on function lease_requests to postroom_gateway, postroom_actor;
  revoke all on function analyze_young_tables from public;
  grant execute on function analyze_young_tables to postroom_actor;
  revoke all on function credential_owner, note_key_uses, account_of, api_keys_of, create_api_key, revoke_api_key, event_positions, raw_octets, raw_sizes, pending_receptions, redate_scheduled, contest_verified_name, is_hosted_domain, search_emails, exchanged_emails, search_threads, list_labels from public;
  grant execute on function credential_owner, note_key_uses, account_of, api_keys_of, create_api_key, revoke_api_key, event_positions, raw_octets, raw_sizes, pending_receptions, redate_scheduled, contest_verified_name, is_hosted_domain, search_emails, exchanged_emails, search_threads, list_labels
    to postroom_gateway, postroom_actor;
`;
