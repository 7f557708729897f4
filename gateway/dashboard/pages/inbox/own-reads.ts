import { graphql } from '../../graphql.ts';
import type { ThreadRow } from './inbox-documents.ts';
import type { ThreadMessage } from './thread-documents.ts';

/** Marks threads as read or unread by the signed-in person. */
export const SET_READ_BY_ME = graphql(`
  mutation InboxReadByMe($input: SetReadByMeInput!) {
    setReadByMe(input: $input) { __typename ... on ReadByMe { threadIds } }
  }
`);

/** What of a thread is read: by anyone, and by the signed-in person. */
export type ReadState = Pick<ThreadRow, 'unreadCount' | 'isReadByMe'>;

/** Returns whether a thread is shown as unread: in a team what the person has not read, else what no one has read. */
export function isShownUnread({ unreadCount, isReadByMe }: ReadState, isInTeam: boolean): boolean {
  return isInTeam ? isReadByMe === false : unreadCount > 0;
}

/** Returns whether a message is shown as unread, by the same rule as its thread. */
export function isMessageUnread({ type, isRead, isReadByMe }: ThreadMessage, isInTeam: boolean): boolean {
  return type === 'RECEIVED' && !(isInTeam ? (isReadByMe ?? isRead) : isRead);
}
