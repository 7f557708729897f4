import { Button, Group, Progress, Text } from '@mantine/core';
import { formatCount } from '../../parts/counted.ts';
import { IconArchive, IconArchiveOff, IconMailOpened, IconRestore, IconTrash, IconX } from '../../parts/icons.ts';
import { useIsInTeam } from '../../shell/viewer.ts';
import { LabelMenu } from './label-menu.tsx';
import { Tool } from './selection-bar.tsx';
import type { Inbox } from './use-inbox.ts';

/** Actions on all conversations of a list, and their progress. */
export function BulkBar({ inbox }: { inbox: Inbox }) {
  const { isLabelling, setLabelling, runBulk: run } = inbox;
  const { folder } = inbox.view;
  const { chosen, progress, cancel, clear } = inbox.bulk;
  const isInTeam = useIsInTeam();
  if (progress !== null)
    return (
      <Group p="xs" gap="sm" role="group" aria-label="Progress">
        <Text size="sm" fw={600} aria-live="polite">
          {`${formatCount(progress.done)} of ${formatCount(progress.total)}`}
        </Text>
        <Progress
          value={(100 * progress.done) / progress.total}
          aria-label="Conversations changed"
          style={{ flex: 1, minWidth: 80 }}
        />
        <Button size="xs" variant="default" onClick={cancel}>
          Cancel
        </Button>
      </Group>
    );
  if (chosen === null) return null;
  const count = formatCount(chosen.ids.size);
  const words = { all: `All ${count} selected`, newest: `The newest ${count} selected`, some: `${count} selected` };
  return (
    <Group p="xs" gap={6} wrap="wrap" role="toolbar" aria-label="All conversations">
      <Tool isOfAll label="Clear selection" onClick={clear}>
        <IconX size={18} aria-hidden />
      </Tool>
      <Text size="sm" fw={600} aria-live="polite">
        {words[chosen.extent]}
      </Text>
      <Group gap={6} ml="auto">
        {folder === 'trash' ? (
          <Tool label="Restore all" onClick={() => run({ kind: 'restore' })}>
            <IconRestore size={18} aria-hidden />
          </Tool>
        ) : (
          <>
            <Tool label="Delete all" onClick={() => run({ kind: 'trash' })}>
              <IconTrash size={18} aria-hidden />
            </Tool>
            {folder === 'archived' ? (
              <Tool label="Unarchive all" onClick={() => run({ kind: 'archive', isArchived: false })}>
                <IconArchiveOff size={18} aria-hidden />
              </Tool>
            ) : (
              <Tool label="Archive all" onClick={() => run({ kind: 'archive', isArchived: true })}>
                <IconArchive size={18} aria-hidden />
              </Tool>
            )}
            <Tool isOwnMark={isInTeam} label="Mark all as read" onClick={() => run({ kind: 'read', isRead: true })}>
              <IconMailOpened size={18} aria-hidden />
            </Tool>
            <LabelMenu
              labels={inbox.frame?.labels ?? []}
              given={[[]]}
              isOpen={isLabelling}
              setOpen={setLabelling}
              change={(add, remove) => run({ kind: 'label', add, remove })}
            />
          </>
        )}
      </Group>
    </Group>
  );
}
