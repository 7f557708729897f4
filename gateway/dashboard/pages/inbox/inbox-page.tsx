import { lazy, Suspense, useEffect, useRef } from 'react';
import { setPageTitle } from '../../parts/tab-title.ts';
import style from './inbox.module.css';
import { ListPane } from './list-pane.tsx';
import { ReadingPane } from './reading-pane.tsx';
import { useInbox } from './use-inbox.ts';

const NewEmail = lazy(async () => ({ default: (await import('./new-email.tsx')).NewEmail }));

/** The inbox: the list of conversations, and the open one beside it. */
export function InboxPage() {
  const inbox = useInbox();
  const { view, go } = inbox;
  const title = view.folder === 'sent' ? 'Sent' : 'Inbox';
  useEffect(() => setPageTitle(title), [title]);
  // Stays when it was opened once, for its closing transition.
  const isWriting = useRef(false);
  isWriting.current ||= view.compose?.mode === 'new';
  return (
    <div className={style['page']}>
      <h1 className={style['words']}>{title}</h1>
      <div className={style['panes']} data-open={view.threadId === null ? undefined : true}>
        <ListPane inbox={inbox} />
        <ReadingPane inbox={inbox} />
      </div>
      {isWriting.current && (
        <Suspense>
          <NewEmail view={view} go={go} />
        </Suspense>
      )}
    </div>
  );
}
