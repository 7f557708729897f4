import { useEffect, useRef } from 'react';
import { setPageTitle } from '../../parts/tab-title.ts';
import { FieldComing } from '../../shell/keys.ts';
import { later, useIdleLoading } from '../../shell/loading.tsx';
import style from './inbox.module.css';
import { ListPane } from './list-pane.tsx';
import { ReadingPane } from './reading-pane.tsx';
import { useInbox } from './use-inbox.ts';

const loadNewEmail = () => import('./new-email.tsx');
const NewEmail = later(
  async () => (await loadNewEmail()).NewEmail,
  ({ go }) => <FieldComing cancel={() => go({ compose: null })} />,
);
/** What the user is likely to open next, most likely first. */
const IDLE = [
  () => import('./thread-view.tsx'),
  () => import('../../composer/composer.tsx'),
  loadNewEmail,
  () => import('./selection-bar.tsx'),
  () => import('../../composer/rich-text.tsx'),
  () => import('./message-views.tsx'),
];

/** The inbox: the list of conversations, and the open one beside it. */
export function InboxPage() {
  const inbox = useInbox();
  const { view, go } = inbox;
  const title = view.folder === 'sent' ? 'Sent' : 'Inbox';
  useEffect(() => setPageTitle(title), [title]);
  useIdleLoading(IDLE);
  // Stays when it was opened once, for its closing transition.
  const isWriting = useRef(false);
  isWriting.current ||= view.compose?.mode === 'new';
  return (
    <div className={style['page']}>
      <h1 className={style['words']}>{title}</h1>
      {inbox.isFieldComing && <FieldComing cancel={inbox.cancelWaiting} />}
      <div className={style['panes']} data-open={view.threadId === null ? undefined : true}>
        <ListPane inbox={inbox} />
        <ReadingPane inbox={inbox} />
      </div>
      {isWriting.current && <NewEmail view={view} go={go} />}
    </div>
  );
}
