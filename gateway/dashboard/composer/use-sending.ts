import { useRef, useState } from 'react';
import { useClient } from 'urql';
import { useLocation } from 'wouter';
import { mutation } from '../graphql.ts';
import { pathOfDraft } from '../pages/inbox/inbox-view.ts';
import { showNotice } from '../parts/notify.tsx';
import { type Problem, useAct } from '../parts/use-act.ts';
import { exactTime } from '../parts/words.ts';
import { type AttachedFile, attachmentsInput } from './attachments.ts';
import { undoSeconds } from './browser-settings.ts';
import {
  CANCEL,
  CREATE_DRAFT,
  DELETE_DRAFT,
  type Original,
  SEND_DRAFT,
  SENT_FILES,
  type SentEmail,
} from './composer-documents.ts';
import { type ComposerMode, timeZone, toStoredKind } from './draft.ts';
import { createInput, type DraftContent, type SavedDraft } from './use-saved-draft.ts';

/** By how much the clocks of the browser and the service may differ. Milliseconds. */
const CLOCKS_DIFFER_MS = 60_000;

interface Sending {
  /** Saves and sends the draft. Resolves to the email, or to the problem; to null while another call runs, or if the draft is not saved. */
  send: (
    content: DraftContent,
  ) => Promise<{ email: SentEmail; problem: null } | { email: null; problem: Problem } | null>;
  isBusy: boolean;
}

/** Sends a draft once: ignores double clicks, and repeats the idempotency key of its version if a response was lost. */
export function useSending(mode: ComposerMode, original: Original | null, draft: SavedDraft): Sending {
  const { act: sendDraft } = useAct(SEND_DRAFT, { quiet: true });
  const takeBack = useUndo(mode, original);
  const [isBusy, setBusy] = useState(false);
  const busy = useRef(false);

  const tellSent = (email: SentEmail, content: DraftContent) => {
    const path = email.thread === null ? `/emails/${email.id}` : `/inbox/${email.thread.id}`;
    if (email.status === 'AWAITING_APPROVAL') {
      const link = { label: 'Show approvals', path: '/approvals' };
      return showNotice('The email waits for approval. It is not sent before.', { link });
    }
    const link = { label: 'Show email', path };
    if (email.status !== 'SCHEDULED' || email.scheduledAt === null)
      return showNotice('The email is being sent.', { link });
    const undo = () => void takeBack(email, content);
    const waitsMs = new Date(email.scheduledAt).getTime() - Date.now();
    // A send policy can make it wait longer.
    if (content.input.scheduledAt === null && waitsMs <= undoSeconds() * 1_000 + CLOCKS_DIFFER_MS)
      return showNotice('Sent.', { link, undo, staysMs: undoSeconds() * 1_000 });
    const scheduled = { label: 'Show scheduled', path: '/scheduled' };
    showNotice(`Scheduled for ${exactTime(email.scheduledAt)}.`, { link: scheduled, undo });
  };

  return {
    isBusy,
    async send(content) {
      if (busy.current) return null;
      busy.current = true;
      setBusy(true);
      try {
        const saved = await draft.save(content);
        if (saved.draft === null) return saved.problem === null ? null : { email: null, problem: saved.problem };
        const { id, version } = saved.draft;
        const { payload, problem } = await sendDraft({
          id,
          version,
          undoSeconds: undoSeconds(),
          idempotencyKey: `dashboard ${id} ${version}`,
        });
        if (payload === null) return { email: null, problem };
        draft.end();
        tellSent(payload.email, content);
        return { email: payload.email, problem: null };
      } finally {
        busy.current = false;
        setBusy(false);
      }
    },
  };
}

/**
 * Returns the function that takes an email back before it leaves: it is stored as a draft again, then cancelled, and the draft is opened. If
 * it has left meanwhile, the draft is deleted.
 */
function useUndo(mode: ComposerMode, original: Original | null) {
  const { act: cancel } = useAct(CANCEL);
  const { act: create } = useAct(CREATE_DRAFT);
  const { act: deleteDraft } = useAct(DELETE_DRAFT);
  const client = useClient();
  const [, navigate] = useLocation();

  /** Returns the files with their content: what only the service has comes from the email. */
  const readContents = async (email: SentEmail, files: readonly AttachedFile[]): Promise<AttachedFile[]> => {
    if (files.every(({ file }) => file !== null)) return [...files];
    const { data } = await client.query(SENT_FILES, { id: email.id }).toPromise();
    const sent = [...(data?.email?.attachments ?? [])];
    return Promise.all(
      files.map(async (each) => {
        const at = sent.findIndex(({ filename, size }) => filename === each.name && size === each.size);
        const [found] = at === -1 ? [] : sent.splice(at, 1);
        if (each.file !== null || found === undefined) return each;
        const response = await fetch(`/api/e2/attachments/${email.id}/parts/${found.index}`);
        const content = await response.blob();
        return response.ok ? { ...each, file: new File([content], each.name, { type: content.type }) } : each;
      }),
    );
  };

  return async (email: SentEmail, content: DraftContent): Promise<void> => {
    try {
      const files = await readContents(email, content.files);
      const attachments = mode === 'forward' ? {} : { attachments: await attachmentsInput(files, new Map()) };
      const { payload } = await create(createInput(mode, original, content, attachments));
      if (payload === null) return;
      const { id } = payload.draft;
      const cancelled = await cancel({ id: email.id });
      if (cancelled.payload === null) return void deleteDraft({ id });
      navigate(pathOfDraft({ id, kind: toStoredKind(mode), originalEmail: original }));
      showNotice('Sending was stopped. The email is a draft again.');
    } catch (error) {
      showNotice(`Sending was not stopped. ${error instanceof Error ? error.message : 'Try again.'}`);
    }
  };
}

const REMIND = mutation('remindOfEmail', 'remindAt email { id }');

/** Returns a function that brings the conversation of a sent email back at a time in words unless someone replies. It tells a failure. */
export function useReminder(): (emailId: string, at: string) => void {
  const { act } = useAct(REMIND);
  return (emailId, at) => void act({ emailId, at, timezone: timeZone });
}
