import { useRef, useState } from 'react';
import { showNotice } from '../parts/notice.tsx';
import { exactTime } from '../parts/time-words.ts';
import { type Problem, useAct } from '../parts/use-act.ts';
import { undoSeconds } from './browser-settings.ts';
import { type Original, SEND_DRAFT, type SentEmail } from './composer-documents.ts';
import type { ComposerMode } from './draft.ts';
import type { DraftContent, SavedDraft } from './use-saved-draft.ts';
import { useUndo } from './use-undo.ts';

/** By how much the clocks of the browser and the service may differ. Milliseconds. */
const CLOCKS_DIFFER_MS = 60_000;

export interface Sending {
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
          input: { id, version, undoSeconds: undoSeconds(), idempotencyKey: `dashboard ${id} ${version}` },
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
