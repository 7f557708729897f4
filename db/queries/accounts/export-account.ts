import { createHash } from 'node:crypto';
import type pg from 'pg';
import { type PackedMessage, unpackInPieces, unpackMessage } from '../../packed-message.ts';
import { readPlacedBodies } from '../emails/bodies-in-message.ts';

/** Documents of one kind: a file of JSON lines. */
export type ExportedKind = SmallKind | LargeKind;

/** Documents of which several are read at once. */
interface SmallKind {
  file: string;
  /** with the workspace's id in $1; one column, `document` */
  query: string;
  /** documents read at once, READ_AT_ONCE by default */
  atOnce?: number;
}

/** Documents that may have tens of megabytes. */
interface LargeKind {
  file: string;
  /** documents with the `id` of each, in order; with the workspace's id in $1 */
  idQuery: string;
  /** with the workspace's id in $1 and that of the document in $2; one column, `document` */
  largeQuery: string;
  /** whether documents are emails, whose bodies may lie in their messages */
  hasBodies?: true;
}

/** Rows as stored, without columns for internal use. */
function readRows(table: string, order: string, without: readonly string[] = []): string {
  const left = ['workspace_id', 'claimed_by', 'claimed_until', ...without].map((name) => ` - '${name}'`).join('');
  return `select to_jsonb(t)${left} as document from ${table} t where t.workspace_id = $1 order by ${order}`;
}

/** What is exported of an account, in this order. Secrets stay encrypted here, in columns that end in `_ciphertext`. */
export const EXPORTED_KINDS: readonly ExportedKind[] = [
  {
    file: 'account.jsonl',
    query: `select to_jsonb(t) || jsonb_build_object('id', $1::text, 'retention',
      (select to_jsonb(r) - 'workspace_id' from retention r where r.workspace_id = $1)) as document from account_of($1) t`,
  },
  {
    file: 'api-keys.jsonl',
    query: 'select to_jsonb(k) as document from api_keys_of($1) k order by k.created_at, k.id',
  },
  { file: 'api-requests.jsonl', query: readRows('api_request', 't.created_at, t.id'), atOnce: 20 },
  { file: 'audit.jsonl', query: readRows('audit_entry', 't.created_at, t.id') },
  { file: 'door-refusals.jsonl', query: readRows('door_refusal', 't.created_at, t.id') },
  { file: 'domains.jsonl', query: readRows('domain', 't.name') },
  { file: 'dkim-keys.jsonl', query: readRows('dkim_key', 't.domain_id, t.created_at, t.selector') },
  { file: 'addresses.jsonl', query: readRows('email_address', 't.address') },
  { file: 'reply-addresses.jsonl', query: readRows('reply_address', 't.created_at, t.id') },
  { file: 'endpoints.jsonl', query: readRows('endpoint', 't.created_at, t.id') },
  { file: 'guard-rules.jsonl', query: readRows('guard_rule', 't.priority desc, t.created_at desc, t.id') },
  { file: 'suppressions.jsonl', query: readRows('suppression', 't.created_at, t.id') },
  { file: 'image-senders.jsonl', query: readRows('image_sender', 't.address') },
  {
    file: 'labels.jsonl',
    query: `select jsonb_build_object('label', l.label, 'threads', count(*)) as document
      from thread t cross join unnest(t.labels) as l(label) where t.workspace_id = $1 group by l.label order by l.label`,
  },
  { file: 'threads.jsonl', query: readRows('thread', 't.created_at, t.id', ['search_text', 'label_keys']) },
  { file: 'thread-notes.jsonl', query: readRows('thread_note', 't.thread_id, t.id', []) },
  { file: 'saved-views.jsonl', query: readRows('saved_view', 't.created_at, t.id', []) },
  { file: 'snippets.jsonl', query: readRows('snippet', 't.name', []) },
  { file: 'thread-reads.jsonl', query: readRows('thread_read', 't.person_id, t.thread_id', []) },
  { file: 'thread-claims.jsonl', query: readRows('thread_claim', 't.thread_id', ['token_sha256']) },
  {
    file: 'emails.jsonl',
    hasBodies: true,
    idQuery: `select jsonb_build_object('id', e.id) as document from email e where e.workspace_id = $1 order by e.created_at, e.id`,
    largeQuery: `
      select (to_jsonb(e) - 'workspace_id' - 'raw_id') || jsonb_build_object('has_raw_message', e.raw_id is not null,
          'content', to_jsonb(c) - 'workspace_id' - 'email_id' - 'body_places',
          'envelope', (select to_jsonb(r) - '{workspace_id,email_id,raw_id,claimed_by,claimed_until,tries,last_error}'::text[]
            from reception r where r.workspace_id = e.workspace_id and r.email_id = e.id),
          'route', (select to_jsonb(w) - '{workspace_id,email_id,claimed_by,claimed_until}'::text[]
            from route w where w.workspace_id = e.workspace_id and w.email_id = e.id)) as document
      from email e left join email_content c on c.workspace_id = e.workspace_id and c.email_id = e.id
      where e.workspace_id = $1 and e.id = $2`,
  },
  {
    file: 'drafts.jsonl',
    idQuery: `select jsonb_build_object('id', d.id) as document from draft d where d.workspace_id = $1 order by d.created_at, d.id`,
    largeQuery: `
      select (to_jsonb(d) - 'workspace_id') || jsonb_build_object('attachments', (
          select coalesce(jsonb_agg(to_jsonb(a) - '{workspace_id,draft_id,content}'::text[]
            || jsonb_build_object('content_base64', translate(encode(a.content, 'base64'), E'\\n', '')) order by a.position), '[]')
          from draft_attachment a where a.workspace_id = d.workspace_id and a.draft_id = d.id)) as document
      from draft d where d.workspace_id = $1 and d.id = $2`,
  },
  { file: 'approvals.jsonl', query: readRows('approval', 't.requested_at, t.email_id') },
  { file: 'recipients.jsonl', query: readRows('recipient', 't.created_at, t.id') },
  { file: 'sending-attempts.jsonl', query: readRows('sending_attempt', 't.recipient_id, t.number') },
  { file: 'deliveries.jsonl', query: readRows('delivery', 't.created_at, t.id', ['forward_raw_id', 'last_attempt']) },
  { file: 'delivery-attempts.jsonl', query: readRows('delivery_attempt', 't.delivery_id, t.number') },
  { file: 'dmarc-reports.jsonl', query: readRows('dmarc_report', 't.created_at, t.id'), atOnce: 5 },
  { file: 'events.jsonl', query: readRows('event', 't.seq') },
];

/** Most rows have a few kilobytes; an API key with a send policy has up to 160. */
const READ_AT_ONCE = 20;
/** Bytes that are read of a message or a large document at once: the driver of PostgreSQL holds them several times. */
const PIECE_BYTES = 262_144;

/**
 * Reads all documents of a kind in batches, within the transaction of the client. `read` is awaited for each, so that memory holds one
 * batch.
 */
export async function readDocuments(
  client: pg.ClientBase,
  { query, atOnce = READ_AT_ONCE }: Pick<SmallKind, 'query' | 'atOnce'>,
  workspaceId: string,
  read: (document: Record<string, unknown>) => Promise<void>,
): Promise<void> {
  await client.query(`declare exported no scroll cursor for ${query}`, [workspaceId]);
  for (;;) {
    const { rows } = await client.query<{ document: Record<string, unknown> }>(`fetch ${atOnce} from exported`);
    if (rows.length === 0) break;
    for (const { document } of rows) await read(document);
  }
  await client.query('close exported');
}

/** Begins to read an account from one instant, with the rows of this workspace alone if the role is the gateway's. */
export async function beginExport(client: pg.ClientBase, workspaceId: string): Promise<void> {
  // No time limit: disks and clients may be slow.
  await client.query(
    'set transaction isolation level repeatable read, read only; set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0',
  );
  await client.query(`select set_config('postroom.workspace_id', $1, true)`, [workspaceId]);
}

/** The raw messages of the workspace, for readDocuments. */
export const KEPT_BYTES_QUERY = `
  select jsonb_build_object('emailId', e.id, 'createdAt', e.created_at) as document
  from email e where e.workspace_id = $1 and e.raw_id is not null order by e.created_at, e.id`;

/** Bytes that are read in pieces, which must be taken before anything else is read from their connection. */
export interface ExportedBytes {
  /** of all pieces */
  sizeBytes: number;
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>;
}

/** Returns the bytes of a raw message; null when they are gone or damaged. A large one is unpacked twice: for its sha256, and to be written. */
export async function readKeptBytes(
  client: pg.ClientBase,
  workspaceId: string,
  emailId: string,
): Promise<ExportedBytes | null> {
  const readOctets = () =>
    readPieces(client, 'select packed as bytes from packed_messages($1, array[$2])', [workspaceId, emailId]);
  const { rows } = await client.query<Omit<PackedMessage, 'packed'>>(
    'select sha256, size_bytes as "sizeBytes" from packed_messages($1, array[$2])',
    [workspaceId, emailId],
  );
  const [row] = rows;
  const stored = await readOctets();
  if (row === undefined || stored === null) return null;
  const { sizeBytes, sha256 } = row;
  const sizes = { packed: stored.sizeBytes, message: sizeBytes };
  if (sizeBytes <= PIECE_BYTES) {
    const bytes = await unpackMessage({ ...row, packed: await join(stored.pieces) });
    return bytes && { sizeBytes, pieces: [bytes] };
  }
  if (!(await isWhole(unpackInPieces(stored.pieces, sizes), sha256))) return null;
  const again = await readOctets();
  return again && { sizeBytes, pieces: unpackInPieces(again.pieces, sizes) };
}

async function isWhole(message: AsyncIterable<Buffer>, sha256: Buffer): Promise<boolean> {
  const digest = createHash('sha256');
  try {
    for await (const piece of message) digest.update(piece);
  } catch {
    return false;
  }
  return digest.digest().equals(sha256);
}

async function join(pieces: ExportedBytes['pieces']): Promise<Buffer> {
  const joined: Buffer[] = [];
  for await (const piece of pieces) joined.push(piece);
  return Buffer.concat(joined);
}

/** Returns a large document as JSON in UTF-8; null when it is gone. */
export async function readLargeDocument(
  client: pg.ClientBase,
  { largeQuery, hasBodies }: LargeKind,
  workspaceId: string,
  id: string,
): Promise<ExportedBytes | null> {
  const query = `select convert_to(d.document::text, 'UTF8') as bytes from (${largeQuery}) d`;
  const document = await readPieces(client, query, [workspaceId, id]);
  return hasBodies === true && document !== null ? withPlacedBodies(client, workspaceId, id, document) : document;
}

/** Returns the document of an email with the bodies that lie in its message. Such a document is small. */
async function withPlacedBodies(
  client: pg.ClientBase,
  workspaceId: string,
  emailId: string,
  document: ExportedBytes,
): Promise<ExportedBytes> {
  const bodies = await readPlacedBodies(client, workspaceId, emailId);
  if (bodies === null) return document;
  const whole = JSON.parse((await join(document.pieces)).toString()) as { content: object };
  const bytes = Buffer.from(JSON.stringify({ ...whole, content: { ...whole.content, ...bodies } }));
  return { sizeBytes: bytes.length, pieces: [bytes] };
}

let cursorCount = 0;

/** `query` returns one row with the column `bytes`, which PostgreSQL makes once for its size, and once more for all pieces. */
async function readPieces(client: pg.ClientBase, query: string, values: string[]): Promise<ExportedBytes | null> {
  // Without offset 0, each use of a column would make it again.
  const source = `(${query} offset 0) b`;
  const { rows } = await client.query<{ size: number | null; bytes: Buffer | null }>(
    `select octet_length(b.bytes) as size, case when octet_length(b.bytes) <= ${PIECE_BYTES} then b.bytes end as bytes from ${source}`,
    values,
  );
  const [{ size, bytes } = { size: null, bytes: null }] = rows;
  if (size === null) return null;
  if (bytes !== null) return { sizeBytes: size, pieces: [bytes] };
  // A reader that gives up leaves its cursor open until the transaction ends.
  const cursor = `pieces_${cursorCount++}`;
  async function* pieces(): AsyncGenerator<Buffer, void> {
    await client.query(
      `declare ${cursor} no scroll cursor for select substring(b.bytes from s.at + 1 for ${PIECE_BYTES}) as piece
       from ${source} cross join lateral generate_series(0, octet_length(b.bytes) - 1, ${PIECE_BYTES}) s(at)`,
      values,
    );
    for (;;) {
      const { rows: next } = await client.query<{ piece: Buffer }>(`fetch next from ${cursor}`);
      if (next[0] === undefined) break;
      yield next[0].piece;
    }
    await client.query(`close ${cursor}`);
  }
  return { sizeBytes: size, pieces: pieces() };
}
