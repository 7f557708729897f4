import { useRef, useState } from 'react';
import { showNotice } from '../parts/notice.tsx';
import { exactTime } from '../parts/relative-time.tsx';
import { type Problem, useAct } from '../parts/use-act.ts';
import { attachmentsInput } from './attachments.ts';
import { CANCEL, CREATE_DRAFT, type Original, SEND_DRAFT, type SentEmail } from './composer-documents.ts';
import type { ComposerMode } from './draft.ts';
import { createInput, type DraftContent, type SavedDraft } from './use-saved-draft.ts';

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
  const { act: cancel } = useAct(CANCEL);
  const { act: create } = useAct(CREATE_DRAFT);
  const [isBusy, setBusy] = useState(false);
  const busy = useRef(false);

  const tellSent = (email: SentEmail, content: DraftContent) => {
    const path = email.thread === null ? `/emails/${email.id}` : `/inbox/${email.thread.id}`;
    if (email.status === 'AWAITING_APPROVAL') {
      const link = { label: 'Show approvals', path: '/approvals' };
      return showNotice('The email waits for approval. It is not sent before.', { link });
    }
    if (email.status !== 'SCHEDULED' || email.scheduledAt === null)
      return showNotice('The email is being sent.', { link: { label: 'Show email', path } });
    const takeBack = async () => {
      const { payload } = await cancel({ input: { id: email.id } });
      if (payload === null) return;
      const held = content.files.filter(({ file }) => file !== null);
      const attachments = await attachmentsInput(held, new Map());
      const stored = await create({ input: createInput(mode, original, content, { attachments }) });
      if (stored.payload === null) return;
      const link = { label: 'Show drafts', path: '/drafts' };
      showNotice('Sending was stopped. The email is a draft again.', { link });
    };
    showNotice(`Scheduled for ${exactTime(email.scheduledAt)}.`, {
      link: { label: 'Show scheduled', path: '/scheduled' },
      undo: () => void takeBack(),
    });
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
          input: { id, version, idempotencyKey: `dashboard ${id} ${version}` },
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
