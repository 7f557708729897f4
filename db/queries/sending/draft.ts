import { type RawBuilder, sql, type Transaction } from 'kysely';
import type pg from 'pg';
import type { DraftFields, DraftKind, DraftVersion } from '../../../core/sending/draft.ts';
import { type BodyText, LARGE_BODY_BYTES } from '../../../core/shared/large-text.ts';
import type { KeysetPage, Page } from '../../../core/shared/page.ts';
import type { Tables } from '../../entities/tables.ts';
import { readLargeText } from '../emails/large-bodies.ts';
import { fetchPacked } from '../emails/raw-bytes.ts';
import { keysetConditions, keysetOrder } from '../keyset.ts';

/** A draft without its bodies and the content of its files. */
export interface StoredDraft extends DraftVersion {
  kind: DraftKind;
  /** the email that it replies to or forwards; null: a new email */
  originalEmailId: string | null;
  /** the thread of the original; null: it has none, or is gone */
  threadId: string | null;
  fields: DraftFields;
  /** the first characters of the bodies; null: it has none */
  textStart: string | null;
  htmlStart: string | null;
  textBytes: number;
  htmlBytes: number;
  attachments: DraftFile[];
  /** null: a session */
  createdByKeyId: string | null;
  updatedByKeyId: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** A file of a draft, without its content. */
export interface DraftFile {
  id: string;
  filename: string;
  contentType: string;
  /** `<...>` */
  contentId: string | null;
  sizeBytes: number;
}

export interface DraftBodies {
  id: string;
  text: BodyText | null;
  html: BodyText | null;
}

/** Filters of a list; null matches all. */
export interface DraftConditions {
  /** of the original, also by the id of a thread that was merged into it */
  threadId: string | null;
  /** id of the original */
  originalEmailId: string | null;
}

/** Returns a page, last changed first, and the total count. */
export async function listDrafts(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: DraftConditions,
  page: Page,
): Promise<{ drafts: StoredDraft[]; total: number }> {
  const where = whereSql(workspaceId, conditions);
  const { rows } = await sql<{ total: number } & (StoredDraft | { id: null })>`
    select t.total, p.* from (select count(*) as total from draft d where ${where}) t
    left join lateral (
      select ${columns} from draft d where ${where}
      order by d.updated_at desc, d.id desc limit ${page.limit} offset ${page.offset}
    ) p on true order by p."updatedAt" desc, p.id desc`.execute(transaction);
  return {
    drafts: rows.flatMap((row) => (row.id === null ? [] : [withoutTotal(row)])),
    total: Number(rows[0]?.total ?? 0),
  };
}

/** Returns the drafts between two cursors, last changed first; inverted: first changed first. */
export async function pageDrafts(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: DraftConditions,
  page: KeysetPage,
): Promise<StoredDraft[]> {
  const { rows } = await sql<StoredDraft>`
    select ${columns} from draft d where ${whereSql(workspaceId, conditions)} ${keysetConditions('d', page, 'updated_at')}
    ${keysetOrder('d', page, 'updated_at')} limit ${page.limit}`.execute(transaction);
  return rows;
}

export async function countDrafts(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: DraftConditions,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from draft d where ${whereSql(workspaceId, conditions)}`.execute(transaction);
  return Number(rows[0]?.total ?? 0);
}

/** Returns those of the drafts that belong to the workspace, unordered. */
export async function findDrafts(
  transaction: Transaction<Tables>,
  workspaceId: string,
  ids: readonly string[],
): Promise<StoredDraft[]> {
  const { rows } = await sql<StoredDraft>`
    select ${columns} from draft d where d.workspace_id = ${workspaceId} and d.id = any (${ids}::text[])`.execute(
    transaction,
  );
  return rows;
}

/**
 * Returns the bodies of those of the drafts that belong to the workspace, unordered; if they have more than `maxBytes` together, how many. Large
 * bodies are a LargeText.
 */
export async function readDraftBodies(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { ids, maxBytes }: { ids: readonly string[]; maxBytes: number },
): Promise<DraftBodies[] | { bytes: number }> {
  const isWanted = (column: string) =>
    sql`d.bytes <= ${maxBytes}::bigint and octet_length(${sql.ref(column)}) <= ${sql.lit(LARGE_BODY_BYTES)}`;
  const isLarge = (column: string) =>
    sql<boolean>`coalesce(octet_length(${sql.ref(column)}) > ${sql.lit(LARGE_BODY_BYTES)}, false)`;
  const { rows } = await sql<DraftBodies & { bytes: number; hasLargeText: boolean; hasLargeHtml: boolean }>`
    select d.id, case when ${isWanted('d.text_body')} then d.text_body end as text,
      case when ${isWanted('d.html_body')} then d.html_body end as html, d.bytes,
      ${isLarge('d.text_body')} as "hasLargeText", ${isLarge('d.html_body')} as "hasLargeHtml"
    from (
      select d.*, (sum(coalesce(octet_length(d.text_body), 0) + coalesce(octet_length(d.html_body), 0)) over ())::bigint as bytes
      from draft d where d.workspace_id = ${workspaceId} and d.id = any (${ids}::text[])) d`.execute(transaction);
  const bytes = rows[0]?.bytes ?? 0;
  if (bytes > maxBytes) return { bytes };
  const readLarge = (id: string, column: 'text_body' | 'html_body') =>
    readLargeText(
      transaction,
      sql`select convert_to(d.${sql.ref(column)}, 'UTF8') as bytes from draft d where d.workspace_id = ${workspaceId} and d.id = ${id}`,
    );
  const bodies: DraftBodies[] = [];
  // One after the other: the connection runs one statement at a time.
  for (const { id, text, html, hasLargeText, hasLargeHtml } of rows)
    bodies.push({
      id,
      text: hasLargeText ? await readLarge(id, 'text_body') : text,
      html: hasLargeHtml ? await readLarge(id, 'html_body') : html,
    });
  return bodies;
}

/** Returns the content of a file of a draft, in memory of its own; null: the workspace's draft has none with this id, or it is empty. */
export async function readDraftFile(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { draftId, fileId }: { draftId: string; fileId: string },
): Promise<Buffer | null> {
  const stored = await fetchPacked(
    transaction,
    sql`(select a.content as packed, ''::bytea as sha256, a.size_bytes as size_bytes from draft_attachment a
      where a.workspace_id = ${workspaceId} and a.draft_id = ${draftId} and a.id = ${fileId}) a`,
  );
  return stored === null ? null : stored.packed;
}

function whereSql(workspaceId: string, { threadId, originalEmailId }: DraftConditions): RawBuilder<unknown> {
  const ofThread = sql`and exists (select from email e where e.workspace_id = ${workspaceId} and e.id = d.original_email_id
    and e.thread_id = coalesce(
      (select a.thread_id from thread_alias a where a.workspace_id = ${workspaceId} and a.alias_id = ${threadId}), ${threadId}))`;
  const ofOriginal = sql`and d.original_email_id = ${originalEmailId}`;
  return sql`d.workspace_id = ${workspaceId} ${threadId === null ? sql`` : ofThread} ${originalEmailId === null ? sql`` : ofOriginal}`;
}

function withoutTotal(row: StoredDraft & { total: number }): StoredDraft {
  const { total: _, ...stored } = row;
  return stored;
}

/** Characters of a body that are read for its excerpt. */
const START = 2_000;

const columns = sql`d.id, d.version, d.kind, d.original_email_id as "originalEmailId",
  (select e.thread_id from email e where e.workspace_id = d.workspace_id and e.id = d.original_email_id) as "threadId",
  d.fields, substring(d.text_body from 1 for ${sql.lit(START)}) as "textStart",
  substring(d.html_body from 1 for ${sql.lit(START)}) as "htmlStart",
  coalesce(octet_length(d.text_body), 0) as "textBytes", coalesce(octet_length(d.html_body), 0) as "htmlBytes",
  (select coalesce(json_agg(json_build_object('id', a.id, 'filename', a.filename, 'contentType', a.content_type,
      'contentId', a.content_id, 'sizeBytes', a.size_bytes) order by a.position), '[]')
    from draft_attachment a where a.workspace_id = d.workspace_id and a.draft_id = d.id) as attachments,
  d.created_by_key_id as "createdByKeyId", d.updated_by_key_id as "updatedByKeyId",
  d.created_at as "createdAt", d.updated_at as "updatedAt"`;

/** The row of a new draft, or of a change. */
export interface DraftRow {
  fields: DraftFields;
  ownDomain: string | null;
  ownAddress: string | null;
  /** undefined: unchanged */
  text: string | null | undefined;
  html: string | null | undefined;
  sizeBytes: number;
  /** the key that writes it; null: a session */
  keyId: string | null;
}

/** A file to store. */
export interface NewDraftFile {
  id: string;
  filename: string;
  contentType: string;
  contentId: string | null;
  content: Uint8Array;
}

/** Number and bytes of the workspace's drafts, without the one of that id. */
export async function measureDrafts(
  client: pg.ClientBase,
  workspaceId: string,
  exceptId: string,
): Promise<{ count: number; bytes: number }> {
  const { rows } = await client.query<{ count: number; bytes: number }>({
    name: 'draft-measure',
    text: 'select count(*) as count, coalesce(sum(size_bytes), 0)::bigint as bytes from draft where workspace_id = $1 and id <> $2',
    values: [workspaceId, exceptId],
  });
  return { count: Number(rows[0]?.count ?? 0), bytes: Number(rows[0]?.bytes ?? 0) };
}

export async function insertDraft(
  client: pg.ClientBase,
  workspaceId: string,
  { id, kind, originalEmailId }: { id: string; kind: DraftKind; originalEmailId: string | null },
  row: DraftRow,
): Promise<void> {
  await client.query({
    name: 'draft-insert',
    text: `
      insert into draft (workspace_id, id, kind, original_email_id, own_domain, own_address, fields, text_body, html_body, size_bytes,
        created_by_key_id, updated_by_key_id, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, postroom_now(), postroom_now())`,
    values: [
      workspaceId,
      id,
      kind,
      originalEmailId,
      row.ownDomain,
      row.ownAddress,
      JSON.stringify(row.fields),
      row.text ?? null,
      row.html ?? null,
      row.sizeBytes,
      row.keyId,
    ],
  });
}

/** Changes a draft that has that version. Returns whether it had. */
export async function updateDraft(
  client: pg.ClientBase,
  workspaceId: string,
  { id, version }: DraftVersion,
  row: DraftRow,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'draft-update',
    text: `
      update draft set own_domain = $4, own_address = $5, fields = $6, text_body = case when $7 then $8 else text_body end,
        html_body = case when $9 then $10 else html_body end, size_bytes = $11, updated_by_key_id = $12, version = version + 1,
        updated_at = greatest((select postroom_now()), updated_at)
      where workspace_id = $1 and id = $2 and version = $3`,
    values: [
      workspaceId,
      id,
      version,
      row.ownDomain,
      row.ownAddress,
      JSON.stringify(row.fields),
      row.text !== undefined,
      row.text ?? null,
      row.html !== undefined,
      row.html ?? null,
      row.sizeBytes,
      row.keyId,
    ],
  });
  return rowCount === 1;
}

/** Leaves a draft with these files, in this order: the ones it has are kept, the new ones are stored. */
export async function replaceDraftFiles(
  client: pg.ClientBase,
  workspaceId: string,
  draftId: string,
  files: readonly (NewDraftFile | { id: string; content?: undefined })[],
): Promise<void> {
  const ids = files.map(({ id }) => id);
  await client.query({
    name: 'draft-files-remove',
    text: 'delete from draft_attachment where workspace_id = $1 and draft_id = $2 and id <> all ($3::text[])',
    values: [workspaceId, draftId, ids],
  });
  await client.query({
    name: 'draft-files-order',
    text: `
      update draft_attachment a set position = o.position
      from unnest($3::text[]) with ordinality as o(id, position)
      where a.workspace_id = $1 and a.draft_id = $2 and a.id = o.id and a.position <> o.position`,
    values: [workspaceId, draftId, ids],
  });
  for (const [at, file] of files.entries())
    if (file.content !== undefined)
      await client.query({
        name: 'draft-file-insert',
        text: `
          insert into draft_attachment (workspace_id, draft_id, id, position, filename, content_type, content_id, content, size_bytes)
          values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        values: [
          workspaceId,
          draftId,
          file.id,
          at + 1,
          file.filename,
          file.contentType,
          file.contentId,
          file.content,
          file.content.length,
        ],
      });
}

/** Locks drafts until the transaction ends, in the order of their ids. Returns the versions of existing ones. */
export async function lockDrafts(
  client: pg.ClientBase,
  workspaceId: string,
  ids: readonly string[],
): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const { rows } = await client.query<DraftVersion>({
    name: 'draft-lock',
    text: 'select id, version from draft where workspace_id = $1 and id = any ($2) order by id for update',
    values: [workspaceId, ids],
  });
  return new Map(rows.map(({ id, version }) => [id, version]));
}

/** Removes drafts that the transaction has locked, with their files. */
export async function removeDrafts(client: pg.ClientBase, workspaceId: string, ids: readonly string[]): Promise<void> {
  await client.query({
    name: 'draft-remove',
    text: `
      with file as (delete from draft_attachment where workspace_id = $1 and draft_id = any ($2))
      delete from draft where workspace_id = $1 and id = any ($2)`,
    values: [workspaceId, ids],
  });
}
