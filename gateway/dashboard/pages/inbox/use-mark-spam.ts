import { graphql } from '../../graphql.ts';
import { showNotice } from '../../parts/notice.tsx';
import { useAct } from '../../parts/use-act.ts';

const MARK_SPAM = graphql(`
  mutation InboxMarkSpam($input: MarkSpamInput!) {
    markSpam(input: $input) { __typename ... on MarkSpamPayload { id isChanged email { id keptApart trashedAt } } }
  }
`);

const MARK_NOT_SPAM = graphql(`
  mutation InboxMarkNotSpam($input: MarkNotSpamInput!) {
    markNotSpam(input: $input) {
      __typename
      ... on MarkNotSpamPayload { id isChanged email { id keptApart trashedAt } }
    }
  }
`);

/** Returns a function that moves one message to the folder Spam. */
export function useMarkSpam(): (emailId: string) => Promise<void> {
  const { act: mark } = useAct(MARK_SPAM);
  const { act: restore } = useAct(MARK_NOT_SPAM);
  return async (emailId) => {
    const { payload } = await mark({ input: { emailId } });
    if (payload === null) return;
    showNotice('Message moved to the folder Spam', { undo: () => void restore({ input: { emailId } }) });
  };
}

/** Returns a function that moves one message out of the folder Spam. */
export function useMarkNotSpam(): { markNotSpam: (emailId: string) => Promise<void>; isBusy: boolean } {
  const { act, isBusy } = useAct(MARK_NOT_SPAM, { done: 'The email is not spam and is being delivered.' });
  return { markNotSpam: async (emailId) => void (await act({ input: { emailId } })), isBusy };
}
