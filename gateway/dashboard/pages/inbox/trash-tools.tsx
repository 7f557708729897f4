import { Button, Group } from '@mantine/core';
import { DAY_MS } from '../../../../core/shared/durations.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { IconRestore } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import type { ThreadActs } from './use-thread-acts.ts';

/** Days that mail stays in the trash. */
const TRASH_DAYS = 30;
const shortDate = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });

/** Returns the day on which mail in the trash is deleted. */
export function trashEnd(trashedAt: string): string {
  return shortDate.format(new Date(new Date(trashedAt).getTime() + TRASH_DAYS * DAY_MS));
}

/** Actions on conversations in the trash. */
export function TrashTools({
  ids,
  acts,
  then,
}: {
  ids: readonly string[];
  acts: Pick<ThreadActs, 'restore' | 'deleteForever'>;
  /** called when the conversations are gone from here */
  then: () => void;
}) {
  const one = ids.length === 1;
  return (
    <Group gap={6} ml="auto" wrap="nowrap">
      <Button
        {...needs('organize')}
        size="xs"
        h={34}
        variant="default"
        leftSection={<IconRestore size={16} aria-hidden />}
        onClick={() => void acts.restore(ids).then(then)}
      >
        Restore
      </Button>
      <ConfirmButton
        {...needs('remove')}
        h={34}
        label="Delete forever"
        question={one ? 'Delete this conversation forever?' : `Delete ${ids.length} conversations forever?`}
        about="The messages, their attachments and everything Postroom knows about them are erased. This cannot be undone."
        confirm="Delete forever"
        act={async () => {
          await acts.deleteForever(ids);
          then();
        }}
      />
    </Group>
  );
}
