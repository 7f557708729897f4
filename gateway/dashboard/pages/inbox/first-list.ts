import { freshClient, listenForSessionChange } from '../../client.ts';
import { PLAIN_INBOX } from '../../shell/open-paths.ts';
import { THREADS_PAGE } from './inbox-documents.ts';
import { INBOX, readWantedThreads, type ThreadsWanted } from './inbox-view.ts';
import { PAGE_ROWS, type withNextPage } from './thread-pages.ts';

type FirstPage = Parameters<typeof withNextPage>[1];

/** The first page of the list that the page opens with, and what it was asked for; null: not there yet; `taken`: a list is shown. */
let first: { wanted: string; page: FirstPage } | 'taken' | null = null;

// It is of a session that is over.
listenForSessionChange(() => void (first = 'taken'));

/** Reads the list of an inbox without conditions before it is shown, so that its rows are there in its first frame. */
export async function readFirstList(): Promise<void> {
  if (!PLAIN_INBOX.test(window.location.pathname + window.location.search)) return;
  const wanted = readWantedThreads(INBOX, false);
  const { data } = await freshClient.query(THREADS_PAGE, { ...wanted, first: PAGE_ROWS, after: null }).toPromise();
  if (data !== undefined && first === null) first = { wanted: JSON.stringify(wanted), page: data.inbox };
}

/** Returns what `readFirstList` read, once, if it is the list that is wanted; null otherwise. */
export function takeFirstList(wanted: ThreadsWanted): FirstPage | null {
  const found = first !== 'taken' && first?.wanted === JSON.stringify(wanted) ? first.page : null;
  // A response that comes later would be older than the list that is shown.
  first = 'taken';
  return found;
}
