import { graphql } from '../../graphql.ts';
import { showNotice } from '../../parts/notice.tsx';
import { useAct } from '../../parts/use-act.ts';

const TRASH_EMAILS = graphql(`
  mutation InboxTrashEmails($input: TrashEmailsInput!) {
    trashEmails(input: $input) { __typename ... on TrashEmailsPayload { emails { id thread { id } } } }
  }
`);

const RESTORE_MESSAGE = graphql(`
  mutation InboxRestoreMessage($input: RestoreThreadsInput!) {
    restoreThreads(input: $input) { __typename ... on RestoreThreadsPayload { threads { id trashedAt } } }
  }
`);

/** Returns a function that moves one message to the trash. */
export function useDeleteMessage(): (emailId: string) => Promise<void> {
  const { act: trash } = useAct(TRASH_EMAILS);
  const { act: restore } = useAct(RESTORE_MESSAGE);
  return async (emailId) => {
    const { payload } = await trash({ input: { emailIds: [emailId] } });
    const threadId = payload?.emails[0]?.thread?.id;
    if (threadId === undefined) return;
    const undo = () => void restore({ input: { threadIds: [threadId] } });
    showNotice('Message moved to the trash', { undo });
  };
}
