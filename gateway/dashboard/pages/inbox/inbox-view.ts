import { useLocation, useParams, useSearch } from 'wouter';
import { toMode } from '../../composer/draft.ts';
import type { VariablesOf } from '../../graphql.ts';
import type { THREADS_PAGE } from './inbox-documents.ts';

/** Folders of the list, in the order of their tabs. */
export const FOLDERS = ['inbox', 'unread', 'snoozed', 'sent', 'archived', 'trash'] as const;
type InboxFolder = (typeof FOLDERS)[number];

/** The view in the URL: the list's conditions, the open thread, and the composer. */
export interface InboxView {
  folder: InboxFolder;
  search: string;
  label: string | null;
  address: string | null;
  /** `me`, `none`, or the ID of a member; null: any */
  assigned: string | null;
  /** null if no thread is open */
  threadId: string | null;
  compose: Composing | null;
}

/** The inbox without conditions. */
export const INBOX: InboxView = {
  folder: 'inbox',
  search: '',
  label: null,
  address: null,
  assigned: null,
  threadId: null,
  compose: null,
};

/** What the composer was opened for; `draftId`: a stored draft. */
export type Composing = { draftId?: string | undefined } & (
  | { mode: 'new' }
  | { mode: 'reply' | 'reply-all' | 'forward'; emailId: string }
);

/** Returns whether a reply or a forwarded email is being written. */
export function isReplying({ compose }: InboxView): boolean {
  return compose !== null && compose.mode !== 'new';
}

/** Conditions of a list, without its page. */
export type ThreadsWanted = Pick<VariablesOf<typeof THREADS_PAGE>, 'filter' | 'search'>;

/** Returns the view and a function that navigates to another one; omitted parts stay the same. */
export function useInboxView(): {
  view: InboxView;
  pathOf: (change: Partial<InboxView>) => string;
  go: (change: Partial<InboxView>, options?: { replace?: boolean }) => void;
} {
  const { threadId } = useParams();
  const search = useSearch();
  const [, navigate] = useLocation();
  const view = readView(threadId ?? null, new URLSearchParams(search));
  const pathOf = (change: Partial<InboxView>) => makeViewPath({ ...view, ...change });
  return { view, pathOf, go: (change, options) => navigate(pathOf(change), options) };
}

/** Folders that are searches. */
export const OPERATORS: Partial<Record<InboxFolder, string>> = { sent: 'in:sent', snoozed: 'is:snoozed' };

/** Returns the conditions of a view as GraphQL variables. In a team the folder of unread mail is that of the person. */
export function readWantedThreads(
  { folder, search, label, address, assigned }: InboxView,
  isInTeam: boolean,
): ThreadsWanted {
  return {
    search: folder in OPERATORS ? `${OPERATORS[folder]} ${search}`.trim() : search === '' ? null : search,
    filter: {
      isUnread: folder === 'unread' && !isInTeam ? true : null,
      isUnreadByMe: folder === 'unread' && isInTeam ? true : null,
      archived: folder === 'archived' ? 'ARCHIVED' : folder === 'trash' || folder in OPERATORS ? 'ANY' : null,
      isTrashed: folder === 'trash' ? true : null,
      label,
      address,
      assigned,
    },
  };
}

function readView(threadId: string | null, parameters: URLSearchParams): InboxView {
  const folder = parameters.get('in');
  return {
    folder: FOLDERS.find((each) => each === folder) ?? 'inbox',
    search: parameters.get('q') ?? '',
    label: parameters.get('label'),
    address: parameters.get('address'),
    assigned: parameters.get('assigned'),
    threadId,
    compose: readComposing(parameters),
  };
}

function readComposing(parameters: URLSearchParams): Composing | null {
  const draftId = parameters.get('draft') ?? undefined;
  if (parameters.has('compose')) return { mode: 'new', draftId };
  for (const mode of ['reply', 'reply-all', 'forward'] as const) {
    const emailId = parameters.get(mode);
    if (emailId !== null) return { mode, emailId, draftId };
  }
  return null;
}

/** Returns the path that opens a draft: in its conversation, or beside the list. */
export function pathOfDraft(draft: {
  id: string;
  kind: 'NEW' | 'REPLY' | 'REPLY_ALL' | 'FORWARD';
  originalEmail: { id: string; thread: { id: string } | null } | null;
}): string {
  const { id: draftId, originalEmail } = draft;
  const mode = toMode(draft.kind);
  const threadId = originalEmail?.thread?.id ?? null;
  const compose: Composing =
    mode === 'new' || originalEmail === null || threadId === null
      ? { mode: 'new', draftId }
      : { mode, emailId: originalEmail.id, draftId };
  return makeViewPath({ ...INBOX, threadId, compose });
}

function makeViewPath({ folder, search, label, address, assigned, threadId, compose }: InboxView): string {
  const parameters = new URLSearchParams();
  if (folder !== 'inbox') parameters.set('in', folder);
  if (search !== '') parameters.set('q', search);
  if (label !== null) parameters.set('label', label);
  if (address !== null) parameters.set('address', address);
  if (assigned !== null) parameters.set('assigned', assigned);
  if (compose?.mode === 'new') parameters.set('compose', 'new');
  else if (compose !== null) parameters.set(compose.mode, compose.emailId);
  if (compose?.draftId !== undefined) parameters.set('draft', compose.draftId);
  const query = parameters.toString();
  return `/inbox${threadId === null ? '' : `/${encodeURIComponent(threadId)}`}${query === '' ? '' : `?${query}`}`;
}

/** Words of a search that mean themselves: no operators such as `from:ann` and no excluded words. */
const PLAIN_WORD = /"([^"]+)"|(\S+)/g;
const SPECIAL = /[.*+?^${}()|[\]\\]/g;

/** Returns a pattern of the plain words of a search, for FoundWords; null if there are none. */
export function patternOfSearch(search: string): RegExp | null {
  const words = [...search.matchAll(PLAIN_WORD)].flatMap(([, phrase, word]) => {
    if (phrase !== undefined) return [phrase];
    return word === undefined || /^[-!]|^[a-z_]+:/i.test(word) ? [] : [word.replaceAll(/[*"]/g, '')];
  });
  const patterns = words.filter((word) => word.length > 1).map((word) => word.replaceAll(SPECIAL, String.raw`\$&`));
  // Where a word begins, as the search finds it.
  return patterns.length === 0 ? null : new RegExp(String.raw`((?<![\p{L}\p{N}])(?:${patterns.join('|')}))`, 'giu');
}
