import { useRef, useState } from 'react';
import { showNotice } from '../parts/notice.tsx';
import { exactTime } from '../parts/relative-time.tsx';
import { type Outcome, type Problem, useAct } from '../parts/use-act.ts';
import { useViewer } from '../shell/viewer.ts';
import type { ComposerMode } from './answer.ts';
import { type AttachedFile, attachmentsInput } from './attachments.ts';
import { CANCEL, FORWARD, type Original, REPLY, SEND, type SentEmail } from './composer-documents.ts';
import { type Draft, draftName, dropDraft, keepDraft, markFor, type SendingMark } from './draft.ts';
import { quoteOriginal } from './quote-original.ts';
import { timeZone } from './schedule-field.tsx';

export interface Sending {
  /** Sends the draft. Resolves to the email, or to the problem; to null while another call runs. */
  send: (
    draft: Draft,
    files: readonly AttachedFile[],
  ) => Promise<{ email: SentEmail; problem: null } | { email: null; problem: Problem } | null>;
  isBusy: boolean;
}

/** Sends a draft once: ignores double clicks, and repeats the idempotency key if a response was lost. */
export function useSending(mode: ComposerMode, original: Original | null, lastMark: SendingMark | null): Sending {
  const { id: userId } = useViewer();
  const { act: sendNew } = useAct(SEND, { quiet: true });
  const { act: reply } = useAct(REPLY, { quiet: true });
  const { act: forward } = useAct(FORWARD, { quiet: true });
  const { act: cancel } = useAct(CANCEL);
  const [isBusy, setBusy] = useState(false);
  const busy = useRef(false);
  const mark = useRef(lastMark);
  const name = draftName(userId, mode, original?.id ?? null);

  const request = async (draft: Draft, files: readonly AttachedFile[]): Promise<Outcome<{ email: SentEmail }>> => {
    mark.current = markFor(
      JSON.stringify([draft, files.map(({ file }) => [file.name, file.size, file.lastModified])]),
      mark.current,
    );
    keepDraft(name, { draft, fileNames: files.map(({ file }) => file.name), mark: mark.current });
    const schedule = draft.scheduledAt.trim();
    const shared = {
      from: draft.from.trim(),
      to: draft.to,
      cc: draft.cc,
      bcc: draft.bcc,
      subject: draft.subject.trim(),
      idempotencyKey: mark.current.key,
      ...(schedule === '' ? {} : { scheduledAt: schedule, timezone: timeZone }),
    };
    if (mode === 'forward' && original !== null)
      return forward({
        input: { ...shared, id: original.id, text: draft.text, withAttachments: draft.hasOriginalFiles },
      });
    const quote = draft.hasQuote && mode !== 'new' && original !== null ? quoteOriginal(original) : '';
    const text = quote === '' ? draft.text : `${draft.text.trimEnd()}\n\n${quote}\n`;
    const attachments = await attachmentsInput(files);
    if (mode !== 'new' && original !== null) return reply({ input: { ...shared, id: original.id, text, attachments } });
    return sendNew({ input: { ...shared, text, attachments } });
  };

  const tellSent = (email: SentEmail, draft: Draft) => {
    const path = email.thread === null ? `/emails/${email.id}` : `/inbox/${email.thread.id}`;
    if (email.status !== 'SCHEDULED' || email.scheduledAt === null)
      return showNotice('The email is being sent.', { link: { label: 'Show email', path } });
    const takeBack = async () => {
      const { payload } = await cancel({ input: { id: email.id } });
      if (payload === null) return;
      keepDraft(name, { draft, fileNames: [], mark: null });
      showNotice('Sending was stopped. Your draft is back in the composer.');
    };
    showNotice(`Scheduled for ${exactTime(email.scheduledAt)}.`, {
      link: { label: 'Show scheduled', path: '/scheduled' },
      undo: () => void takeBack(),
    });
  };

  return {
    isBusy,
    async send(draft, files) {
      if (busy.current) return null;
      busy.current = true;
      setBusy(true);
      try {
        const { payload, problem } = await request(draft, files);
        if (payload === null) return { email: null, problem };
        dropDraft(name);
        mark.current = null;
        tellSent(payload.email, draft);
        return { email: payload.email, problem: null };
      } catch (error) {
        const message = error instanceof Error ? error.message : 'A file can no longer be read.';
        return { email: null, problem: { message, code: null, type: 'File', fields: {} } };
      } finally {
        busy.current = false;
        setBusy(false);
      }
    },
  };
}
