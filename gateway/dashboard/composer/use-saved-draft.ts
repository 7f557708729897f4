import { useRef, useState } from 'react';
import { type Problem, useAct } from '../parts/use-act.ts';
import { type AttachedFile, attachmentsInput } from './attachments.ts';
import { CREATE_DRAFT, DELETE_DRAFT, type Original, type StoredDraft, UPDATE_DRAFT } from './composer-documents.ts';
import { type ComposerMode, type draftInput, toStoredKind } from './draft.ts';

/** What is written in the composer. */
export interface DraftContent {
  /** without `html`: the draft keeps that of a program */
  input: Omit<ReturnType<typeof draftInput>, 'html'> & { html?: string | null };
  files: readonly AttachedFile[];
}

/**
 * Whether the draft is stored. `conflict`: it was changed elsewhere; `gone`: it was sent or deleted elsewhere. Nothing is saved in these two
 * until the user decides.
 */
export type Saving =
  | { state: 'none' | 'saving' | 'saved' | 'conflict' | 'gone' }
  | { state: 'failed'; problem: Problem };

export interface SavedDraft {
  saving: Saving;
  /** Stores the content, after earlier calls. */
  save: (content: DraftContent) => Promise<Saved>;
  /** Ends a conflict: stores this content over what was changed elsewhere, or as a new draft. */
  overwrite: (content: DraftContent) => Promise<Saved>;
  /** Deletes the draft. */
  remove: () => Promise<void>;
  /** Nothing is saved from now on, because the draft was sent. */
  end: () => void;
}

/** What is being stored or deleted, also for composers that are closed. */
const writes = new Set<Promise<unknown>>();

/** A composer waits this long for what is being stored. A later version is a conflict. Milliseconds. */
const SETTLE_MS = 5_000;

/** Resolves when the service has what was written in this page, or could not take it, or takes too long. */
export async function settleWrites(): Promise<void> {
  await Promise.race([Promise.allSettled(writes), new Promise((resolve) => window.setTimeout(resolve, SETTLE_MS))]);
}

/** Keeps the write until it is done. */
function track<Done>(write: Promise<Done>): Promise<Done> {
  const tracked = write.finally(() => writes.delete(tracked));
  writes.add(tracked);
  return tracked;
}

type Version = { id: string; version: number };

/** The stored version, or why the content is not stored; without a problem, `saving` says it. */
type Saved = { draft: Version; problem: null } | { draft: null; problem: Problem | null };
const NOT_SAVED: Saved = { draft: null, problem: null };

/** Keeps a draft on the service. `created` is called when a new one has its id. */
export function useSavedDraft(
  mode: ComposerMode,
  original: Original | null,
  stored: StoredDraft | null,
  created: (id: string) => void,
): SavedDraft {
  const { act: create } = useAct(CREATE_DRAFT, { quiet: true });
  const { act: update } = useAct(UPDATE_DRAFT, { quiet: true });
  const { act: deleteDraft } = useAct(DELETE_DRAFT);
  const [saving, setSaving] = useState<Saving>({ state: stored === null ? 'none' : 'saved' });
  const present = useRef<Version | null>(stored);
  /** the version that another writer made; null: no conflict */
  const other = useRef<number | 'gone' | null>(null);
  const isEnded = useRef(false);
  const last = useRef('');
  const lastFiles = useRef<string | null>(stored === null ? null : makeKey(stored.attachments));
  /** ids of the draft's attachments by those of this page */
  const ids = useRef(new Map(stored?.attachments.map(({ id }) => [id, id])));
  const queue = useRef<Promise<Saved>>(Promise.resolve(NOT_SAVED));

  const write = async (content: DraftContent): Promise<Saved> => {
    const key = JSON.stringify([content.input, makeKey(content.files)]);
    if (isEnded.current || other.current !== null) return NOT_SAVED;
    if (present.current !== null && key === last.current) return { draft: present.current, problem: null };
    setSaving({ state: 'saving' });
    try {
      const areFilesChanged = makeKey(content.files) !== lastFiles.current;
      const attachments =
        mode === 'forward' || !areFilesChanged
          ? {}
          : { attachments: await attachmentsInput(content.files, ids.current) };
      const draft = present.current;
      const { payload, problem } =
        draft === null
          ? await create(createInput(mode, original, content, attachments))
          : await update({ ...content.input, ...attachments, id: draft.id, version: draft.version });
      if (payload === null) {
        const refusal = refused(problem);
        setSaving(refusal);
        return refusal.state === 'failed' ? { draft: null, problem } : NOT_SAVED;
      }
      const { id, version } = payload.draft;
      present.current = { id, version };
      last.current = key;
      if (areFilesChanged) {
        lastFiles.current = makeKey(content.files);
        ids.current = new Map(content.files.map((file, at) => [file.id, payload.draft.attachments[at]?.id ?? '']));
      }
      setSaving({ state: 'saved' });
      if (draft === null) created(id);
      return { draft: { id, version }, problem: null };
    } catch (error) {
      const message = error instanceof Error ? error.message : 'A file can no longer be read.';
      const problem = { message, code: null, type: 'File', fields: {} };
      setSaving({ state: 'failed', problem });
      return { draft: null, problem };
    }
  };
  const refused = (problem: Problem): Saving => {
    const version = problem.details?.['version'];
    if (problem.code === 'DRAFT_CHANGED' && typeof version === 'number') {
      other.current = version;
      return { state: 'conflict' };
    }
    if (problem.type !== 'NotFound' || present.current === null) return { state: 'failed', problem };
    other.current = 'gone';
    return { state: 'gone' };
  };
  const save = (content: DraftContent) => {
    queue.current = track(queue.current.then(() => write(content)));
    return queue.current;
  };

  const remove = async () => {
    await queue.current;
    const draft = present.current;
    present.current = null;
    if (draft !== null && other.current !== 'gone') await deleteDraft({ id: draft.id });
  };

  return {
    saving,
    save,
    overwrite(content) {
      const changed = other.current;
      other.current = null;
      last.current = '';
      if (changed === 'gone') {
        present.current = null;
        ids.current = new Map();
      } else if (changed !== null && present.current !== null)
        present.current = { ...present.current, version: changed };
      // The files may differ from those of the other version.
      lastFiles.current = null;
      return save(content);
    },
    remove() {
      isEnded.current = true;
      return track(remove());
    },
    end() {
      isEnded.current = true;
    },
  };
}

/** Returns the input of a new draft. A list of attachments without ids, as none is stored yet. */
export function createInput(
  mode: ComposerMode,
  original: Original | null,
  { input }: Pick<DraftContent, 'input'>,
  { attachments }: { attachments?: Awaited<ReturnType<typeof attachmentsInput>> },
) {
  const files = attachments?.flatMap((file) => ('id' in file ? [] : [file]));
  return {
    ...input,
    kind: toStoredKind(mode),
    originalEmailId: original === null ? null : original.id,
    ...(files === undefined ? {} : { attachments: files }),
  };
}

function makeKey(files: readonly { id: string }[]): string {
  return files.map(({ id }) => id).join(' ');
}
