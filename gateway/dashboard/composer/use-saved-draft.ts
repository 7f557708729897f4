import { useRef, useState } from 'react';
import { freshClient } from '../client.ts';
import { pause } from '../live/live-events.ts';
import { keepInTab, readInTab } from '../parts/browser-storage.ts';
import { notify } from '../parts/notify.tsx';
import { describeError, type Problem, passes, useAct } from '../parts/use-act.ts';
import { useViewer } from '../shell/viewer.ts';
import { type AttachedFile, attachmentsInput } from './attachments.ts';
import {
  CREATE_DRAFT,
  DELETE_DRAFT,
  NEWEST_DRAFTS,
  type Original,
  READ_DRAFT,
  type StoredDraft,
  UPDATE_DRAFT,
} from './composer-documents.ts';
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
  /** what this tab kept of the draft, and the service did not store */
  unstored: DraftContent['input'] | null;
  /** Stores the content, after earlier calls. */
  save: (content: DraftContent) => Promise<Saved>;
  /** Keeps the content in this tab, if the service does not have it. */
  keep: (content: DraftContent) => void;
  /** Keeps and stores the content as the page is left, which may end it before the response. */
  saveLeaving: (content: DraftContent) => Promise<void>;
  /** Stores the content as the composer closes: again and again while the service does not respond. */
  saveClosing: (content: DraftContent) => Promise<void>;
  /** Ends a conflict: stores this content over what was changed elsewhere, or as a new draft. */
  overwrite: (content: DraftContent) => Promise<Saved>;
  /** Deletes the draft. */
  remove: () => Promise<void>;
  /** Nothing is saved or kept from now on, because the draft was sent, or another version is read. */
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

/** What is written and not stored yet. The tab keeps it, so that the page has it when it is loaded again. */
interface Unstored {
  input: DraftContent['input'];
  /** that it changes; null: of a new draft */
  version: number | null;
  /** what was sent last without a response: the service may have it */
  sent: DraftContent['input'] | null;
}

/** How long after a failure the draft is stored again. Milliseconds. */
export const STORE_AGAIN_MS = 3_000;

/** What is said of words that were written to an older version when their composer closes. */
const CHANGED = 'It was changed elsewhere. This tab keeps what you wrote: open the draft to choose a version.';

/**
 * Closed composers that are not stored yet, by the name of what the tab keeps, with what ends their attempts; null: the first one is under way.
 * A composer that opens what failed goes on with it instead.
 */
const closing = new Map<string, AbortController | null>();

/** Returns whether a stored draft has this content, apart from files. */
function isSame(draft: StoredDraft | null | undefined, { subject, text, to, cc, bcc }: DraftContent['input']): boolean {
  const normal = (...parts: (string | null)[]) => parts.join('\n').replaceAll(/\s+/g, ' ').trim();
  const of = (one: Pick<StoredDraft, 'subject' | 'text' | 'to' | 'cc' | 'bcc'>) =>
    normal(one.subject, ...one.to, ...one.cc, ...one.bcc, one.text);
  return draft != null && of(draft) === of({ subject, text, to, cc, bcc });
}

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
  const { id: workspaceId, person } = useViewer();
  const present = useRef<Version | null>(stored);
  const makeName = () =>
    `postroom-unstored ${workspaceId} ${person?.id} ${toStoredKind(mode)} ${original?.id ?? present.current?.id}`;
  const [kept] = useState(() => {
    const attempt = closing.get(makeName());
    attempt?.abort();
    return attempt === null ? null : readInTab<Unstored>(makeName());
  });
  /** what was sent without a response */
  const sent = useRef(kept?.sent ?? null);
  const isOther =
    kept !== null && kept.version !== (stored?.version ?? null) && !(kept.sent && isSame(stored, kept.sent));
  const [saving, setSaving] = useState<Saving>({
    state: stored === null ? (isOther ? 'gone' : 'none') : isOther ? 'conflict' : 'saved',
  });
  /** the version that another writer made; null: no conflict */
  const other = useRef<number | 'gone' | null>(isOther ? (stored?.version ?? 'gone') : null);
  const isEnded = useRef(false);
  const last = useRef('');
  const lastFiles = useRef<string | null>(stored === null ? null : makeKey(stored.attachments));
  /** ids of the draft's attachments by those of this page */
  const ids = useRef(new Map(stored?.attachments.map(({ id }) => [id, id])));
  const queue = useRef<Promise<Saved>>(Promise.resolve(NOT_SAVED));

  const keep = (content: DraftContent) => {
    const { version = null } = present.current ?? {};
    if (isEnded.current || (version !== null && describe(content) === last.current)) return;
    keepInTab(makeName(), { input: content.input, version, sent: sent.current } satisfies Unstored);
  };
  const forget = () => keepInTab(makeName(), null);
  /** Looks for what was sent without a response, before it is stored twice or taken for a change of another. Returns why that failed. */
  const findSent = async (): Promise<Problem | null> => {
    const wanted = sent.current;
    if (wanted === null) return null;
    const { id } = present.current ?? {};
    const { data, error } =
      id === undefined
        ? await freshClient.query(NEWEST_DRAFTS, {}).toPromise()
        : await freshClient.query(READ_DRAFT, { id }).toPromise();
    if (data === undefined) return describeError(error ?? new Error());
    const drafts = 'drafts' in data ? data.drafts.edges.map(({ node }) => node) : [data.draft];
    const found = drafts.find((one) => one?.originalEmail?.id === original?.id && isSame(one, wanted));
    if (found == null) return null;
    sent.current = null;
    forget();
    present.current = { id: found.id, version: found.version };
    if (id === undefined) created(found.id);
    return null;
  };
  /** Sends the content as a new draft or a change of it, once it is known which of the two. */
  const send = async (content: DraftContent, areFilesChanged: boolean) => {
    const attachments =
      mode === 'forward' || !areFilesChanged ? {} : { attachments: await attachmentsInput(content.files, ids.current) };
    const problem = await findSent();
    if (problem !== null) return { payload: null, problem };
    const draft = present.current;
    sent.current = content.input;
    const outcome =
      draft === null
        ? await create(createInput(mode, original, content, attachments))
        : await update({ ...content.input, ...attachments, id: draft.id, version: draft.version });
    if (outcome.problem === null || !passes(outcome.problem)) sent.current = null;
    return outcome;
  };
  const write = async (content: DraftContent): Promise<Saved> => {
    const key = describe(content);
    if (isEnded.current || other.current !== null) return NOT_SAVED;
    if (present.current !== null && key === last.current) return { draft: present.current, problem: null };
    // A failure is shown until the draft is stored, and not again with each attempt.
    setSaving((now) => (now.state === 'failed' ? now : { state: 'saving' }));
    try {
      const areFilesChanged = makeKey(content.files) !== lastFiles.current;
      const { payload, problem } = await send(content, areFilesChanged);
      if (payload === null) {
        const refusal = refused(problem);
        setSaving(refusal);
        return refusal.state === 'failed' ? { draft: null, problem } : NOT_SAVED;
      }
      const { id, version } = payload.draft;
      const isNew = present.current === null;
      forget();
      present.current = { id, version };
      last.current = key;
      if (areFilesChanged) {
        lastFiles.current = makeKey(content.files);
        ids.current = new Map(content.files.map((file, at) => [file.id, payload.draft.attachments[at]?.id ?? '']));
      }
      setSaving({ state: 'saved' });
      if (isNew) created(id);
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
  const saveLeaving = async (content: DraftContent) => {
    keep(content);
    const saved = await save(content);
    if (saved.draft !== null) forget();
    return saved;
  };
  const saveClosing = async (content: DraftContent) => {
    const name = makeName();
    closing.set(name, null);
    const { draft, problem } = await saveLeaving(content);
    closing.delete(name);
    if (draft !== null || isEnded.current) return;
    notify({ title: 'Draft not saved', message: problem?.message ?? CHANGED, color: 'red' });
    if (problem === null || !passes(problem)) return;
    const ending = new AbortController();
    closing.set(name, ending);
    while (!ending.signal.aborted) {
      await pause(STORE_AGAIN_MS, ending.signal);
      // oxlint-disable-next-line typescript/no-unnecessary-condition -- may be aborted meanwhile
      const again = ending.signal.aborted ? null : await saveLeaving(content);
      if (again !== null && (again.problem === null || !passes(again.problem))) ending.abort();
    }
    if (closing.get(name) === ending) closing.delete(name);
  };
  const remove = async () => {
    forget();
    await queue.current;
    const draft = present.current;
    present.current = null;
    if (draft !== null && other.current !== 'gone') await deleteDraft({ id: draft.id });
  };

  return {
    saving,
    unstored: kept?.input ?? null,
    save,
    keep,
    saveLeaving: async (content) => void (await saveLeaving(content)),
    saveClosing,
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
      forget();
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

function describe({ input, files }: DraftContent): string {
  return JSON.stringify([input, makeKey(files)]);
}

function makeKey(files: readonly { id: string }[]): string {
  return files.map(({ id }) => id).join(' ');
}
