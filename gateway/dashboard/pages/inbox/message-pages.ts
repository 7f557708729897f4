import type { ThreadMessage } from './thread-documents.ts';

/** A loaded message and its cursor. */
export type MessageEdge = { cursor: string; node: ThreadMessage };

/**
 * Returns the messages to show, oldest first, when the newest page was read again: messages that were pushed off that page stay. Only the
 * newest remain when others may be missing between the two, or the conversation was renumbered because messages joined or left it.
 */
export function withNewestMessages(shown: readonly MessageEdge[], newest: readonly MessageEdge[]): MessageEdge[] {
  const first = shown.findIndex(({ node }) => node.id === newest[0]?.node.id);
  if (first < 1) return [...newest];
  const places = new Map(shown.map(({ node }) => [node.id, node.threadPosition]));
  const isRenumbered = newest.some(({ node }) => (places.get(node.id) ?? node.threadPosition) !== node.threadPosition);
  return isRenumbered ? [...newest] : [...shown.slice(0, first), ...newest];
}

/** Returns the messages to show when the page before the cursor was read; the page is dropped when the first message has changed since. */
export function withEarlierMessages(
  shown: readonly MessageEdge[],
  before: string,
  earlier: readonly MessageEdge[],
): MessageEdge[] {
  return shown[0]?.cursor === before ? [...earlier, ...shown] : [...shown];
}
