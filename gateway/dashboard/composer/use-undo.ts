import { useClient } from 'urql';
import { useLocation } from 'wouter';
import { pathOfDraft } from '../pages/inbox/inbox-view.ts';
import { showNotice } from '../parts/notice.tsx';
import { useAct } from '../parts/use-act.ts';
import { type AttachedFile, attachmentsInput } from './attachments.ts';
import { CANCEL, CREATE_DRAFT, DELETE_DRAFT, type Original, SENT_FILES, type SentEmail } from './composer-documents.ts';
import { type ComposerMode, kindOf } from './draft.ts';
import { createInput, type DraftContent } from './use-saved-draft.ts';

/**
 * Returns the function that takes an email back before it leaves: it is stored as a draft again, then cancelled, and the draft is opened. If
 * it has left meanwhile, the draft is deleted.
 */
export function useUndo(mode: ComposerMode, original: Original | null) {
  const { act: cancel } = useAct(CANCEL);
  const { act: create } = useAct(CREATE_DRAFT);
  const { act: deleteDraft } = useAct(DELETE_DRAFT);
  const client = useClient();
  const [, navigate] = useLocation();

  /** Returns the files with their content: those that only the service has come from the email. */
  const contentsOf = async (email: SentEmail, files: readonly AttachedFile[]): Promise<AttachedFile[]> => {
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
      const files = await contentsOf(email, content.files);
      const attachments = mode === 'forward' ? {} : { attachments: await attachmentsInput(files, new Map()) };
      const { payload } = await create({ input: createInput(mode, original, content, attachments) });
      if (payload === null) return;
      const { id } = payload.draft;
      const cancelled = await cancel({ input: { id: email.id } });
      if (cancelled.payload === null) return void deleteDraft({ input: { id } });
      navigate(pathOfDraft({ id, kind: kindOf(mode), originalEmail: original }));
      showNotice('Sending was stopped. The email is a draft again.');
    } catch (error) {
      showNotice(`Sending was not stopped. ${error instanceof Error ? error.message : 'Try again.'}`);
    }
  };
}
