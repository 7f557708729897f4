import { Drawer } from '@mantine/core';
import { Composer } from '../../composer/composer.tsx';
import type { Inbox } from './use-inbox.ts';

/** The composer of a new email, beside the list. */
export function NewEmail({ view, go }: Pick<Inbox, 'view' | 'go'>) {
  const close = () => go({ compose: null });
  return (
    <Drawer
      opened={view.compose?.mode === 'new'}
      onClose={close}
      title="New email"
      position="right"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close and keep draft' }}
    >
      <Composer
        mode="new"
        draftId={view.compose?.draftId}
        created={(draftId) => go({ compose: { mode: 'new', draftId } }, { replace: true })}
        close={close}
      />
    </Drawer>
  );
}
