import type pg from 'pg';
import { hasRight } from '../../core/accounts/rights.ts';
import { UserError } from '../../core/shared/errors.ts';
import { findMentions, MAX_MENTIONS, MAX_NOTE_LENGTH, MAX_NOTES, normalizeNote } from '../../core/threads/note.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { listMembers } from '../../db/queries/accounts/member.ts';
import { findRequester } from '../../db/queries/accounts/member-name.ts';
import * as notes from '../../db/queries/threads/thread-note.ts';
import { countAttempt } from '../accounts/count-attempts.ts';
import { withFullAccess } from '../accounts/key-reach.ts';
import { invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { sendNotices } from './note-notices.ts';
import { changeReachedThread, requireReached, threadNotFound } from './thread-transaction.ts';
import { loadThreads } from './threads.ts';

/** Per minute and workspace. @limit */
export const MAX_NOTES_WITH_MENTIONS = 60;

/** A note in a thread, which never leaves the workspace. */
export interface Note extends notes.ThreadNote {
  /** whether the person or the API key of the request wrote it */
  isYours: boolean;
}

/** Returns the notes of a thread, oldest first. Throws not_found. */
export async function listNotes(context: OperationContext, threadId: string): Promise<Note[]> {
  const [thread = null] = await loadThreads(context, [threadId]);
  if (thread === null) throw threadNotFound();
  const { database, workspaceId } = withFullAccess(context);
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    notes.listNotes(transaction, workspaceId, thread.id),
  );
  return found.map((note) => showNote(context, note));
}

/**
 * Writes a note in a thread. Members whom it mentions, and who can read the thread, get a notice by mail: it is stored with the note, and
 * sent by another gateway if this one ends before. Throws not_found, validation, conflict.
 */
export async function addNote(context: OperationContext, threadId: string, given: string): Promise<Note> {
  const text = requireText(given);
  const { workspaceId, rights, fault } = context;
  const { database } = withFullAccess(context);
  const authorName = await asWorkspace(database, workspaceId, (transaction) =>
    findRequester(transaction, workspaceId, rights),
  );
  const mentioned = await findMentioned(context, text);
  if (mentioned.length > 0) await countMentions(context);
  const id = newIdentifier(context, 'threadNote');
  await changeReachedThread(context, threadId, async (client, living) => {
    const said = await splitMentions(client, workspaceId, living, text, mentioned);
    const note = { id, threadId: living, ...readAuthor(context), authorName: authorName ?? 'Unknown', ...said };
    if (!(await notes.insertNote(client, workspaceId, note, MAX_NOTES)))
      throw new UserError('conflict', `A thread has at most ${MAX_NOTES} notes. Delete some first.`, {
        reason: 'TOO_MANY_NOTES',
        isFinal: true,
      });
    await notes.insertNotices(client, workspaceId, id, withoutAuthor(context, said.mentions));
    fault?.('notes.before-commit');
    const data = { noteId: id, by: note.authorName, mentions: said.mentions };
    return { result: null, events: [{ kind: 'thread.note_added', threadId: living, data }] };
  });
  fault?.('notes.after-commit');
  await sendNotices(context, id);
  return readNote(context, id);
}

/** Changes the text of a note of the request's person or API key; members whom only the new text mentions get a notice. Throws as addNote. */
export async function editNote(context: OperationContext, noteId: string, given: string): Promise<Note> {
  const text = requireText(given);
  const { workspaceId, fault } = context;
  const before = await readNote(context, noteId);
  if (!before.isYours) throw new UserError('forbidden', 'Only the author can change a note.');
  const mentioned = await findMentioned(context, text);
  if (mentioned.length > 0) await countMentions(context);
  await changeReachedThread(context, before.threadId, async (client, living) => {
    const said = await splitMentions(client, workspaceId, living, text, mentioned);
    await notes.updateNote(client, workspaceId, noteId, said);
    const known = new Set(before.mentions.map(({ id }) => id));
    const added = said.mentions.filter((personId) => !known.has(personId));
    await notes.insertNotices(client, workspaceId, noteId, withoutAuthor(context, added));
    fault?.('notes.before-commit');
    const data = { noteId, by: before.authorName, mentions: added };
    return { result: null, events: [{ kind: 'thread.note_edited', threadId: living, data }] };
  });
  fault?.('notes.after-commit');
  await sendNotices(context, noteId);
  return readNote(context, noteId);
}

/** Deletes a note of the request's person or API key; with the right `members` any note. Throws not_found, forbidden. */
export async function deleteNote(context: OperationContext, noteId: string): Promise<Note> {
  const before = await readNote(context, noteId);
  if (!before.isYours && !hasRight(context.rights, 'members'))
    throw new UserError('forbidden', 'Only the author, an admin and the owner can delete a note.');
  await changeReachedThread(context, before.threadId, async (client, living) => {
    if (!(await notes.deleteNote(client, context.workspaceId, noteId))) throw noteNotFound();
    return { result: null, events: [{ kind: 'thread.note_deleted', threadId: living, data: { noteId } }] };
  });
  return before;
}

/** Throws not_found, also for a note in a thread that the request cannot reach. */
async function readNote(context: OperationContext, noteId: string): Promise<Note> {
  const { database, workspaceId } = withFullAccess(context);
  const note = isValidId(noteId)
    ? await asWorkspace(database, workspaceId, (transaction) => notes.findNote(transaction, workspaceId, noteId))
    : null;
  if (note === null) throw noteNotFound();
  await requireReached(context, [note.threadId]).catch(() => {
    throw noteNotFound();
  });
  return showNote(context, note);
}

function showNote(context: OperationContext, note: notes.ThreadNote): Note {
  const { authorId, authorKeyId } = readAuthor(context);
  const isYours = authorId === null ? note.authorKeyId === authorKeyId : note.authorId === authorId;
  return { ...note, isYours };
}

/** The author of what the request writes: the person of a session, or the API key. */
function readAuthor({ caller, rights }: OperationContext): Pick<notes.ThreadNote, 'authorId' | 'authorKeyId'> {
  return caller.via === 'session'
    ? { authorId: rights.personId, authorKeyId: null }
    : { authorId: null, authorKeyId: rights.keyId };
}

function withoutAuthor(context: OperationContext, personIds: readonly string[]): string[] {
  const { authorId } = readAuthor(context);
  return personIds.filter((id) => id !== authorId);
}

interface Mentioned {
  personId: string;
  email: string;
}

/** Throws validation. */
async function findMentioned(context: OperationContext, text: string): Promise<Mentioned[]> {
  if (!text.includes('@')) return [];
  const { database, workspaceId } = withFullAccess(context);
  const members = await asWorkspace(database, workspaceId, (transaction) => listMembers(transaction, workspaceId));
  const mentioned = findMentions(text, members);
  if (mentioned.length > MAX_MENTIONS)
    throw invalid(`A note mentions at most ${MAX_MENTIONS} members; this one mentions ${mentioned.length}`, 'text');
  return mentioned;
}

/** Each mention is a mail to a member. Throws rate_limited. */
function countMentions(context: OperationContext): Promise<void> {
  const whole = withFullAccess(context);
  return countAttempt(whole, { kind: 'mentions', limit: MAX_NOTES_WITH_MENTIONS, what: 'Notes that mention members' });
}

async function splitMentions(
  client: pg.ClientBase,
  workspaceId: string,
  threadId: string,
  text: string,
  mentioned: readonly Mentioned[],
): Promise<notes.NoteText> {
  if (mentioned.length === 0) return { text, mentions: [], unreached: [] };
  const ids = mentioned.map(({ personId }) => personId);
  const readers = await notes.findReaders(client, workspaceId, threadId, ids);
  return {
    text,
    mentions: ids.filter((id) => readers.has(id)),
    unreached: mentioned.filter(({ personId }) => !readers.has(personId)).map(({ email }) => email),
  };
}

function requireText(given: string): string {
  const text = normalizeNote(given);
  if (text === null)
    throw invalid(`A note has 1 to ${MAX_NOTE_LENGTH} characters and no control characters except line breaks`, 'text');
  return text;
}

function noteNotFound(): UserError {
  return new UserError('not_found', 'Note not found');
}
