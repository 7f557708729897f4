import { Drawer } from '@mantine/core';
import { lazy, Suspense, useEffect } from 'react';
import { setPageTitle } from '../../parts/tab-title.ts';
import style from './inbox.module.css';
import { ListPane } from './list-pane.tsx';
import { ReadingPane } from './reading-pane.tsx';
import { useInbox } from './use-inbox.ts';

const Composer = lazy(async () => ({ default: (await import('../../composer/composer.tsx')).Composer }));

/** The inbox: the list of conversations, and the open one beside it. */
export function InboxPage() {
  const inbox = useInbox();
  const { view, go } = inbox;
  const title = view.folder === 'sent' ? 'Sent' : 'Inbox';
  useEffect(() => setPageTitle(title), [title]);
  const closeNew = () => go({ compose: null });
  return (
    <div className={style['page']}>
      <h1 className={style['words']}>{title}</h1>
      <div className={style['panes']} data-open={view.threadId === null ? undefined : true}>
        <ListPane inbox={inbox} />
        <ReadingPane inbox={inbox} />
      </div>
      <Drawer
        opened={view.compose?.mode === 'new'}
        onClose={closeNew}
        title="New email"
        position="right"
        size="lg"
        closeButtonProps={{ 'aria-label': 'Close and keep draft' }}
      >
        <Suspense>
          <Composer
            mode="new"
            draftId={view.compose?.draftId}
            created={(draftId) => go({ compose: { mode: 'new', draftId } }, { replace: true })}
            close={closeNew}
          />
        </Suspense>
      </Drawer>
    </div>
  );
}
