import { ActionIcon, Button, Drawer, Tooltip } from '@mantine/core';
import { IconKeyboard, IconPencilPlus } from '@tabler/icons-react';
import { Composer } from '../../composer/composer.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import style from './inbox.module.css';
import { ListPane } from './list-pane.tsx';
import { ReadingPane } from './reading-pane.tsx';
import { ShortcutsHelp } from './shortcuts.tsx';
import { useInbox } from './use-inbox.ts';

/** The inbox: the list of conversations, and the open one beside it. */
export function InboxPage() {
  const inbox = useInbox();
  const { view, go, isHelpOpen, setHelpOpen } = inbox;
  const closeNew = () => go({ compose: null });
  return (
    <div className={style['page']}>
      <PageHeader title="Inbox">
        <Tooltip label="Keyboard shortcuts (?)">
          <ActionIcon
            variant="default"
            size="lg"
            aria-label="Show keyboard shortcuts"
            onClick={() => setHelpOpen(true)}
            visibleFrom="sm"
          >
            <IconKeyboard size={18} aria-hidden />
          </ActionIcon>
        </Tooltip>
        <Button leftSection={<IconPencilPlus size={16} aria-hidden />} onClick={() => go({ compose: { mode: 'new' } })}>
          Write
        </Button>
      </PageHeader>
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
        <Composer
          mode="new"
          draftId={view.compose?.draftId}
          created={(draftId) => go({ compose: { mode: 'new', draftId } }, { replace: true })}
          close={closeNew}
        />
      </Drawer>
      <ShortcutsHelp isOpen={isHelpOpen} close={() => setHelpOpen(false)} />
    </div>
  );
}
