import { mutation } from '../../graphql.ts';
import { ActButton } from '../../parts/buttons.tsx';
import { showNotice } from '../../parts/notify.tsx';
import { useAct } from '../../parts/use-act.ts';
import { showSubject } from '../activity/email-words.ts';

const MARK_SPAM = mutation('markSpam', 'id isChanged email { id keptApart trashedAt }');
const MARK_NOT_SPAM = mutation('markNotSpam', 'id isChanged email { id keptApart trashedAt }');

/** Returns a function that moves one message to the folder Spam. */
export function useMarkSpam(): (emailId: string) => Promise<void> {
  const { act: mark } = useAct(MARK_SPAM);
  const { act: restore } = useAct(MARK_NOT_SPAM);
  return async (emailId) => {
    const { payload } = await mark({ emailId });
    if (payload === null) return;
    showNotice('Message moved to the folder Spam', { undo: () => void restore({ emailId }) });
  };
}

/** Button that moves one message out of the folder Spam. */
export function NotSpamButton({ email }: { email: { id: string; subject: string } }) {
  return (
    <ActButton
      label="Not spam"
      mutation={MARK_NOT_SPAM}
      input={{ emailId: email.id }}
      done="The email is not spam and is being delivered."
      icon="shield-check"
      needed="organize"
      variant="filled"
      aria-label={`“${showSubject(email)}” is not spam`}
    />
  );
}

const TRASH_EMAILS = mutation('trashEmails', 'emails { id thread { id } }');
const RESTORE_MESSAGE = mutation('restoreThreads', 'threads { id trashedAt }');

/** Returns a function that moves one message to the trash. */
export function useDeleteMessage(): (emailId: string) => Promise<void> {
  const { act: trash } = useAct(TRASH_EMAILS);
  const { act: restore } = useAct(RESTORE_MESSAGE);
  return async (emailId) => {
    const { payload } = await trash({ emailIds: [emailId] });
    const threadId = payload?.emails[0]?.thread?.id;
    if (threadId === undefined) return;
    const undo = () => void restore({ threadIds: [threadId] });
    showNotice('Message moved to the trash', { undo });
  };
}
