import { sql, type Transaction } from 'kysely';
import type pg from 'pg';
import type { Database } from '../../connection/database.ts';
import type { Tables } from '../../entities/tables.ts';
import { findMemberNames, type MemberName } from '../accounts/member-name.ts';

/** A note in a thread. */
export interface ThreadNote {
  id: string;
  threadId: string;
  /** the person who wrote it in a session; null: an API key did */
  authorId: string | null;
  authorKeyId: string | null;
  /** name or address of the person then, or the name of the key */
  authorName: string;
  /** path of the author's picture, see picturePath; null: none, or the author is no member */
  authorImage: string | null;
  text: string;
  /** members whom the text mentions and who could read the thread then; those who left are missing */
  mentions: MemberName[];
  /** addresses of members whom the text mentions and who could not */
  unreached: string[];
  createdAt: Date;
  editedAt: Date | null;
}

interface NoteRow extends Omit<ThreadNote, 'mentions' | 'authorImage'> {
  mentions: string[];
}

const columns = sql`id, thread_id as "threadId", author_id as "authorId", author_key_id as "authorKeyId", author_name as "authorName", text,
  mentions, unreached, created_at::text as "createdAt", edited_at::text as "editedAt"`;

/** Returns the notes of a thread, oldest first. */
export async function listNotes(
  transaction: Transaction<Tables>,
  workspaceId: string,
  threadId: string,
): Promise<ThreadNote[]> {
  const { rows } = await sql<NoteRow>`
    select ${columns} from thread_note where workspace_id = ${workspaceId} and thread_id = ${threadId} order by id`.execute(
    transaction,
  );
  return withMembers(transaction, workspaceId, rows);
}

/** Returns a note; null if the workspace has none with this ID. */
export async function findNote(
  transaction: Transaction<Tables>,
  workspaceId: string,
  noteId: string,
): Promise<ThreadNote | null> {
  const { rows } = await sql<NoteRow>`
    select ${columns} from thread_note where workspace_id = ${workspaceId} and id = ${noteId}`.execute(transaction);
  const [note = null] = await withMembers(transaction, workspaceId, rows);
  return note;
}

async function withMembers(
  transaction: Transaction<Tables>,
  workspaceId: string,
  rows: readonly NoteRow[],
): Promise<ThreadNote[]> {
  const named = [
    ...new Set(rows.flatMap(({ mentions, authorId }) => (authorId === null ? mentions : [authorId, ...mentions]))),
  ];
  const members = await findMemberNames(transaction, workspaceId, named);
  return rows.map((row) => ({
    ...row,
    authorImage: (row.authorId === null ? undefined : members.get(row.authorId))?.image ?? null,
    mentions: row.mentions.flatMap((id) => members.get(id) ?? []),
    createdAt: new Date(row.createdAt),
    editedAt: row.editedAt === null ? null : new Date(row.editedAt),
  }));
}

/** What a note says, and whom it mentions. */
export interface NoteText {
  text: string;
  /** persons who can read the thread */
  mentions: readonly string[];
  /** addresses of those who cannot */
  unreached: readonly string[];
}

/** Stores a note, unless the thread has `most` of them; returns whether it did. The caller holds lockThreads. */
export async function insertNote(
  client: pg.ClientBase,
  workspaceId: string,
  note: NoteText & Pick<ThreadNote, 'id' | 'threadId' | 'authorId' | 'authorKeyId' | 'authorName'>,
  most: number,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'note-insert',
    text: `
      insert into thread_note (workspace_id, id, thread_id, author_id, author_key_id, author_name, text, mentions, unreached, created_at)
      select $1, $2, $3, $4, $5, $6, $7, $8, $9, postroom_now()
      where (select count(*) from thread_note n where n.workspace_id = $1 and n.thread_id = $3) < $10`,
    values: [
      workspaceId,
      note.id,
      note.threadId,
      note.authorId,
      note.authorKeyId,
      note.authorName,
      note.text,
      note.mentions,
      note.unreached,
      most,
    ],
  });
  return rowCount === 1;
}

/** Changes the text of a note. The caller holds lockThreads. */
export async function updateNote(
  client: pg.ClientBase,
  workspaceId: string,
  noteId: string,
  { text, mentions, unreached }: NoteText,
): Promise<void> {
  await client.query({
    name: 'note-update',
    text: `update thread_note set text = $3, mentions = $4, unreached = $5, edited_at = postroom_now() where workspace_id = $1 and id = $2`,
    values: [workspaceId, noteId, text, mentions, unreached],
  });
}

/** Deletes a note, and its notices that are not sent yet. Returns whether there was one. */
export async function deleteNote(client: pg.ClientBase, workspaceId: string, noteId: string): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'note-delete',
    text: `with notices as (delete from note_notice where workspace_id = $1 and note_id = $2)
      delete from thread_note where workspace_id = $1 and id = $2`,
    values: [workspaceId, noteId],
  });
  return rowCount === 1;
}

/** Returns those of the members who can read the thread. */
export async function findReaders(
  client: pg.ClientBase,
  workspaceId: string,
  threadId: string,
  personIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ ids: string[] }>({
    name: 'note-readers',
    text: 'select readers_of_thread($1, $2, $3::text[]) as ids',
    values: [workspaceId, threadId, personIds],
  });
  return new Set(rows[0]?.ids);
}

/** Stores notices for these persons, which a gateway takes in a minute unless they were sent before. */
export async function insertNotices(
  client: pg.ClientBase,
  workspaceId: string,
  noteId: string,
  personIds: readonly string[],
): Promise<void> {
  if (personIds.length === 0) return;
  await client.query({
    name: 'note-notices',
    text: `insert into note_notice (workspace_id, note_id, person_id, due_at)
      select $1, $2, p, postroom_now() + interval '1 minute' from unnest($3::text[]) p on conflict do nothing`,
    values: [workspaceId, noteId, personIds],
  });
}

/** A notice to send. */
export interface NoteNotice {
  workspaceId: string;
  noteId: string;
  personId: string;
  threadId: string;
  email: string;
  authorName: string;
  workspaceName: string;
}

/** Takes up to `limit` notices for a minute: those of a note, or with null those of all workspaces that are due. */
export async function takeNotices(
  { pool }: Pick<Database, 'pool'>,
  noteId: string | null,
  limit: number,
): Promise<NoteNotice[]> {
  const { rows } = await pool.query<NoteNotice>({
    name: 'note-take-notices',
    text: `select workspace_id as "workspaceId", note_id as "noteId", person_id as "personId", thread_id as "threadId", email,
        author_name as "authorName", workspace_name as "workspaceName"
      from take_note_notices($1, $2)`,
    values: [noteId, limit],
  });
  return rows;
}

/** Deletes a notice that was sent. */
export async function finishNotice(
  { pool }: Pick<Database, 'pool'>,
  { workspaceId, noteId, personId }: NoteNotice,
): Promise<void> {
  await pool.query({
    name: 'note-finish-notice',
    text: 'select finish_note_notice($1, $2, $3)',
    values: [workspaceId, noteId, personId],
  });
}
