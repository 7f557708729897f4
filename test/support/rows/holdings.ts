import { hash, randomBytes } from 'node:crypto';
import { dmarcRow } from '../../../actors/receiving/email-rows.ts';
import { readDmarcReport } from '../../../core/domains/dmarc-report.ts';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import { type Database } from '../../../db/connection/database.ts';
import { asWorkspace, inTransaction } from '../../../db/connection/transaction.ts';
import { setMemberPicture } from '../../../db/queries/accounts/member.ts';
import { insertDmarcReports } from '../../../db/queries/domains/dmarc-write.ts';
import { dmarcXml } from '../mail/dmarc-reports.ts';
import { insertMail, insertThread } from './mail-rows.ts';
import type { MailboxOptions, TestMailbox } from './routing-rows.ts';

/** All that a user has, of every kind. */
export interface Holdings {
  mailbox: TestMailbox;
  /** every identifier in a row of the user, by its prefix, at most a few of each table and column */
  ids: Map<string, string[]>;
  /** addresses and names that identify as well */
  names: string[];
}

/** What a gateway answers, injected or over HTTP. */
export interface GatewayResponse {
  statusCode: number;
  headers: Record<string, unknown>;
  body: string;
}

/** Where holdings are made: a test's gateway, or a running service. */
export interface HoldingsGround {
  /** a role without row-level security */
  actor: Database;
  mailbox: (options?: Partial<MailboxOptions>) => Promise<TestMailbox>;
  call: (
    key: string,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<GatewayResponse>;
}

/** Tables in which a user may have no row. */
const MAY_BE_EMPTY = new Set([
  // counted in memory where one gateway serves
  'request_window',
  // no credential of a user but the key
  'api_key',
]);
const IDS_PER_COLUMN = 8;
/** Emails are of many kinds: received, with attachments, sent, scheduled, in batches. */
const EMAIL_IDS = 8;
const OTHER_IDS = 2;

/** An account with a row in every user table, so that whatever the interface shows of them can be asked for. Throws when one is empty. */
export async function makeHoldings(ground: HoldingsGround): Promise<Holdings> {
  const mailbox = await ground.mailbox({
    endpointUrl: 'https://hooks.example.com/',
    dkim: { secretKey: randomBytes(32) },
  });
  const known = await addMail(ground, mailbox);
  await addByInterface(ground, mailbox, ['sent', 'batch', 'domain', 'later', 'rule', 'reply-address', 'image-sender']);
  await addDraft(ground, mailbox, known['email_id'] ?? '');
  await ground.actor.pool.query(
    `insert into suppression (workspace_id, id, address, reason, created_at) values ($1, 'sup_' || $3, $2, 'bounce', now())`,
    [mailbox.workspaceId, suppressedBy(mailbox), randomBytes(16).toString('hex')],
  );
  await addRequest(ground.actor, mailbox);
  await addRefusal(ground.actor, mailbox);
  await addTeam(ground.actor, mailbox);
  await fillEmptyTables(ground.actor, mailbox.workspaceId, known);
  return readHoldings(ground.actor, mailbox);
}

/** Makes a draft of a reply, with a file. */
export async function addDraft(
  ground: HoldingsGround,
  { workspaceId, address, apiKey }: TestMailbox,
  emailId: string,
): Promise<void> {
  const attachments = [{ filename: `${workspaceId}.txt`, content: 'VHdvIHBlYXJz' }];
  const draft = {
    kind: 'reply',
    original_email_id: emailId,
    from: address,
    text: `Secret of ${workspaceId}`,
    attachments,
  };
  const response = await ground.call(apiKey, 'POST', '/drafts', draft);
  if (response.statusCode >= 300) throw new Error(response.body);
}

/** Puts a request into the log, which may be off. */
export async function addRequest(actor: Database, { workspaceId }: TestMailbox): Promise<void> {
  await actor.pool.query(
    `insert into api_request (workspace_id, id, created_at, key_id, interface, method, path, status, duration_ms, client_address,
       request_headers, response_headers, request_body)
     select $1, 'req_' || $2, now(), k.id, 'rest', 'GET', '/' || $1, 200, 1, '127.0.0.1', '{}', '{}', 'Secret of ' || $1
     from api_key k where k.workspace_id = $1 limit 1`,
    [workspaceId, randomBytes(12).toString('hex')],
  );
}

/** Puts mail that was refused at the door into its list. */
export async function addRefusal(actor: Database, { workspaceId, address }: TestMailbox): Promise<void> {
  await actor.pool.query(
    `insert into door_refusal (workspace_id, id, created_at, hour_at, last_at, reason, client_address, network, helo, sender, recipient, reply, times)
     values ($1, 'rfs_' || $2, now(), date_trunc('hour', now()), now(), 'block_list', '192.0.2.7', '192.0.2.0/24', 'client.test',
       'ada@elsewhere.test', $3, '554 5.7.1 Your address 192.0.2.7 is on the block list list.test', 1)`,
    [workspaceId, randomBytes(16).toString('hex'), address],
  );
}

/** Adds a member, an invitation, a program with access, a directory's token, an agent's sign-up and the workspace of a customer. */
export async function addTeam(actor: Database, { workspaceId }: TestMailbox): Promise<void> {
  const id = randomBytes(16).toString('hex');
  await actor.pool.query(`insert into person (id, email) values ('usr_' || $1, 'member-' || $1 || '@account.test')`, [
    id,
  ]);
  await actor.pool.query(
    `insert into workspace_member (workspace_id, person_id, role) values ($1, 'usr_' || $2, 'viewer')`,
    [workspaceId, id],
  );
  const picture = { mediaType: 'image/png', bytes: Buffer.from(`Picture in ${workspaceId}`) } as const;
  await asWorkspace(actor, workspaceId, (transaction) =>
    setMemberPicture(transaction, workspaceId, `usr_${id}`, picture),
  );
  await actor.pool.query(
    `insert into workspace_invitation (id, workspace_id, email, role, token_sha256, expires_at)
     values ('inv_' || $2, $1, 'invited-' || $2 || '@account.test', 'viewer', sha256(convert_to($2, 'UTF8')), now() + interval '7 days')`,
    [workspaceId, id],
  );
  await actor.pool.query(
    `with made as (
       insert into api_key (id, workspace_id, name, secret_sha256, is_grant)
       values ('key_' || $2, $1, 'Program of ' || $1, sha256(convert_to($2, 'UTF8')), true) returning id)
     insert into oauth_grant (id, workspace_id, client_id, client_host, level, resource)
     select id, $1, 'client of ' || $1, 'app.test', 'read', '' from made`,
    [workspaceId, id],
  );
  await actor.pool.query(
    `insert into scim_token (workspace_id, id, name, secret_sha256, hint, created_at, created_by)
     values ($1, 'sct_' || $2, 'Directory of ' || $1, sha256(convert_to('scim ' || $2, 'UTF8')), 'hint', now(), $1) on conflict do nothing`,
    [workspaceId, id],
  );
  await actor.pool.query(
    `insert into agent_sign_up (workspace_id, email, name, key_id, request_sha256, code_hmac, code_expires_at, created_at, confirmed_at)
     values ($1, 'agent-' || $2 || '@account.test', 'Agent of ' || $1, 'key_' || $2, sha256(convert_to('agent ' || $2, 'UTF8')), 'code',
       now(), now(), now()) on conflict do nothing`,
    [workspaceId, id],
  );
  await actor.pool.query(
    `insert into workspace (id, name, parent_id, client_id) values ('wsp_' || $2, 'Customer of ' || $1, $1, 'customer-' || $2)`,
    [workspaceId, id],
  );
}

/** What the account of the mailbox has by now. */
export async function readHoldings(database: Database, mailbox: TestMailbox): Promise<Holdings> {
  const { workspaceId, address } = mailbox;
  return {
    mailbox,
    ids: await readIds(database, workspaceId),
    names: [address, readDomain(mailbox), suppressedBy(mailbox)],
  };
}

/** Puts a claimed thread, a mail with an attachment, a DMARC report, a delivery and routes straight into the tables; returns their ids by column. */
export async function addMail({ actor }: HoldingsGround, mailbox: TestMailbox): Promise<Record<string, string | null>> {
  const { workspaceId, address, domainId, addressId, endpointId } = mailbox;
  const { pool } = actor;
  const { threadId, emailIds } = await insertThread(actor, {
    workspaceId,
    count: 2,
    lastMessageAt: new Date(),
    ownAddress: address,
  });
  const [withFile = ''] = await insertMail(actor, [
    { workspaceId, raw: Buffer.from('content'), attachments: [FILE], ownAddress: address, threadId, threadPosition: 2 },
  ]);
  const [plain = ''] = emailIds;
  await pool.query(`update email set address_id = $2, domain_id = $3, recipient = $4 where workspace_id = $1`, [
    workspaceId,
    addressId,
    domainId,
    address,
  ]);
  const report = readDmarcReport(dmarcXml({ domain: readDomain(mailbox) }));
  if (report === null) throw new Error('no report');
  const row = dmarcRow({ workspaceId, emailId: plain }, report, (kind) =>
    makeIdentifier(kind, new Date(), randomBytes(10)),
  );
  await inTransaction(actor, (client) => insertDmarcReports(client, [row]));
  await pool.query(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, attempts_allowed, actions, created_at)
     values ($1, 'dlv_' || $4, $2, $3, 'webhook', 4, jsonb_build_object('problem', null, 'results', jsonb_build_array(jsonb_build_object(
       'type', 'reply', 'status', 'done', 'message', 'Replied to ' || $1, 'emailId', $2::text, 'deliveryId', 'dlv_' || $4))), now())`,
    [workspaceId, plain, endpointId, randomBytes(16).toString('hex')],
  );
  await pool.query(
    `insert into thread_claim (workspace_id, thread_id, token_sha256, holder, claimed_at, expires_at)
     values ($1, $2, sha256(convert_to($2, 'UTF8')), 'Holder of ' || $1, now(), now() + interval '1 day')`,
    [workspaceId, threadId],
  );
  await pool.query(
    `with note as (
       insert into thread_note (workspace_id, id, thread_id, author_name, text, mentions, unreached, created_at)
       values ($1, 'note_' || $3, $2, 'Author of ' || $1, 'Note of ' || $1, '{}', '{}', now()) returning id)
     insert into note_notice (workspace_id, note_id, person_id, due_at) select $1, id, 'usr_' || $3, now() + interval '1 day' from note`,
    [workspaceId, threadId, randomBytes(16).toString('hex')],
  );
  await pool.query(
    `with view as (
       insert into saved_view (workspace_id, id, name, folder, search, created_at)
       values ($1, 'view_' || $2, 'View of ' || $1, 'inbox', 'search of ' || $1, now()))
     insert into snippet (workspace_id, id, name, text, created_at, updated_at)
     values ($1, 'snp_' || $2, 'Snippet ' || $2 || ' of ' || $1, 'Text of ' || $1, now(), now())`,
    [workspaceId, randomBytes(16).toString('hex')],
  );
  await actor.pool.query(
    `insert into thread_read (workspace_id, thread_id, person_id, read_until, set_at) values ($1, $2, 'usr_' || $3, now(), now())`,
    [workspaceId, threadId, randomBytes(16).toString('hex')],
  );
  await pool.query(
    `insert into thread_undo (workspace_id, id, thread_count, message_count, state, created_at, expires_at)
     values ($1, 'chg_' || $3, 1, 0, jsonb_build_array(jsonb_build_object('id', $2::text, 'changedAt', 0)), now(), now() + interval '1 day')`,
    [workspaceId, threadId, randomBytes(16).toString('hex')],
  );
  await pool.query(
    `insert into approval (workspace_id, email_id, rule, policy_of, sent_by, requested_at, decision, decided_at, decided_by, reason)
     values ($1, $2, 'always', 'key', 'Key of ' || $1, now(), 'rejected', now(), 'Boss of ' || $1, 'Reason of ' || $1)`,
    [workspaceId, withFile],
  );
  await pool.query(
    `insert into route (workspace_id, email_id, created_at, threaded_at, decided_at, outcome)
     values ($1, $2, now(), now(), now(), 'blocked'), ($1, $3, now(), now(), now(), 'stored') on conflict do nothing`,
    [workspaceId, plain, withFile],
  );
  return {
    email_id: plain,
    thread_id: threadId,
    domain_id: domainId,
    endpoint_id: endpointId,
    address_id: addressId,
  };
}

/** Makes holdings of these kinds as the mailbox's account itself would. */
export async function addByInterface(
  ground: HoldingsGround,
  mailbox: TestMailbox,
  kinds: readonly ('sent' | 'later' | 'batch' | 'rule' | 'domain' | 'suppression' | 'reply-address' | 'image-sender')[],
): Promise<void> {
  const { workspaceId, address } = mailbox;
  const sent = { from: address, to: 'bob@elsewhere.test', subject: `Secret of ${workspaceId}`, text: 'Hello' };
  const later = { ...sent, scheduled_at: new Date(Date.now() + 86_400_000).toISOString() };
  const rule = {
    name: `Rule of ${workspaceId}`,
    type: 'explicit',
    config: { subject: { operator: 'OR', values: ['x'] } },
    action: { action: 'block' },
  };
  const requests = {
    sent: ['/emails', sent],
    later: ['/emails', later],
    batch: ['/emails/batch', { emails: [sent, later] }],
    rule: ['/guard', rule],
    domain: ['/domains', { domain: `more-${readDomain(mailbox)}` }],
    'reply-address': ['/reply-addresses', { domain: readDomain(mailbox), metadata: { mark: workspaceId } }],
    suppression: ['/suppressions', { address: suppressedBy(mailbox) }],
    'image-sender': ['/image-senders', { address: suppressedBy(mailbox) }],
  } as const;
  for (const kind of kinds) {
    const [path, body] = requests[kind];
    const headers = { 'idempotency-key': randomBytes(8).toString('hex') };
    const response = await ground.call(mailbox.apiKey, 'POST', path, body, headers);
    if (response.statusCode >= 300) throw new Error(`${path}: ${response.body}`);
  }
}

function readDomain({ address }: TestMailbox): string {
  return address.split('@')[1] ?? '';
}

/** An address that the account sends nothing to. */
function suppressedBy(mailbox: TestMailbox): string {
  return `gone@${readDomain(mailbox).replace('box', 'elsewhere')}`;
}

const FILE = {
  index: 0,
  filename: 'a.txt',
  contentType: 'text/plain',
  size: 7,
  contentId: null,
  contentDisposition: 'attachment' as const,
  start: 0,
  length: 7,
  transferEncoding: '7bit' as const,
};

/** Names of the tables that have rows of users. */
export async function workspaceTables(database: Database): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    `select table_name as name from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = 'public' and column_name = 'workspace_id' and table_type = 'BASE TABLE'
       and table_name !~ '^(auth|oauth|workspace|sign_in)_' order by 1`,
  );
  return rows.map((row) => row.name);
}

/** Removes every account with its rows, and sets the database's clock right: for tests that share a database and all start with nothing. */
export async function removeAccounts(owner: Database): Promise<void> {
  const tables = await workspaceTables(owner);
  await owner.pool.query(`truncate ${tables.join(', ')} cascade`);
  await owner.pool.query(`update clock set shift = '0'`);
}

/** A digest of every row of the user, by table, without these columns: when a key was last used is written long after. */
export async function readDigests(
  database: Database,
  tables: readonly string[],
  workspaceId: string,
  without: readonly string[] = ['last_used_at', 'last_used_from'],
): Promise<Map<string, string>> {
  const text = tables
    .map(
      (name) =>
        `select '${name}' as name, md5(coalesce(string_agg(r, '|' order by r), '')) as digest
         from ${name} t cross join lateral (select (to_jsonb(t) - $2::text[])::text as r) x where workspace_id = $1`,
    )
    .join(' union all ');
  // Planning takes longer than reading the rows, so the plan is kept.
  const name = `digests-${hash('md5', text)}`;
  const { rows } = await database.pool.query<{ name: string; digest: string }>({
    name,
    text,
    values: [workspaceId, without],
  });
  return new Map(rows.map((row) => [row.name, row.digest]));
}

/** Puts a row into each user table that has none yet: what must be there, of the plainest kind that the table takes. */
async function fillEmptyTables(
  database: Database,
  workspaceId: string,
  known: Record<string, string | null>,
): Promise<void> {
  for (const table of await workspaceTables(database)) {
    if (MAY_BE_EMPTY.has(table)) continue;
    const found = await database.pool.query(`select from ${table} where workspace_id = $1 limit 1`, [workspaceId]);
    if ((found.rowCount ?? 0) > 0) continue;
    const { rows: columns } = await database.pool.query<{ name: string; type: string; check: string | null }>(
      `select a.attname as name, format_type(a.atttypid, null) as type,
         (select min(pg_get_constraintdef(c.oid)) from pg_constraint c where c.conrelid = a.attrelid and c.contype = 'c'
            and c.conkey = array[a.attnum]) as check
       from pg_attribute a
       where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attnotnull and not a.atthasdef`,
      [table],
    );
    const values = columns.map(({ name, type, check }) => {
      if (name === 'workspace_id') return workspaceId;
      if (known[name] !== undefined) return known[name];
      const allowed = /'([^']+)'/.exec(check ?? '')?.[1];
      return allowed ?? plainValue(name, type, workspaceId);
    });
    const places = columns.map(({ type }, at) => `$${at + 1}::${type}`);
    const names = columns.map(({ name }) => name);
    await database.pool.query(`insert into ${table} (${names.join(', ')}) values (${places.join(', ')})`, values);
  }
}

function plainValue(name: string, type: string, workspaceId: string): unknown {
  if (type.endsWith('[]')) return '{}';
  if (type === 'jsonb') return '{}';
  if (type.startsWith('timestamp')) return new Date();
  if (type === 'boolean') return false;
  if (/int|numeric|double/.test(type)) return 1;
  if (type === 'bytea') return Buffer.from(`${name} of ${workspaceId}`);
  return `${name}_${workspaceId}`;
}

async function readIds(database: Database, workspaceId: string): Promise<Map<string, string[]>> {
  const found = new Set<string>();
  for (const table of await workspaceTables(database)) {
    const { rows } = await database.pool.query<{ id: string }>(
      `select value as id from (
         select j.value, row_number() over (partition by j.key order by j.value) as n
         from ${table} t cross join lateral jsonb_each_text(to_jsonb(t)) j
         where t.workspace_id = $1 and j.key <> 'workspace_id' and j.value ~ '^[a-z]{2,4}_[A-Za-z0-9_]{4,60}$' and j.key ~ 'id$'
       ) x where n <= ${IDS_PER_COLUMN}`,
      [workspaceId],
    );
    for (const { id } of rows) found.add(id);
  }
  const { rows } = await database.pool.query<{ id: string }>(
    `select person_id as id from workspace_member where workspace_id = $1 and person_id <> $1
     union all select id from workspace_invitation where workspace_id = $1
     union all select id from workspace where parent_id = $1`,
    [workspaceId],
  );
  const own = new Set([workspaceId, ...rows.map(({ id }) => id)]);
  const ids = new Map<string, string[]>();
  for (const id of [...new Set([...found, ...own])].toSorted()) {
    const prefix = id.split('_')[0] ?? '';
    // Columns hold persons of other workspaces, too.
    if (prefix === 'usr' && !own.has(id)) continue;
    const held = ids.get(prefix) ?? [];
    if (held.length < (prefix === 'em' ? EMAIL_IDS : OTHER_IDS)) ids.set(prefix, [...held, id]);
  }
  return ids;
}
