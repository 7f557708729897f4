import { ActionIcon, Button, Group, Text, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import {
  IconArchive,
  IconArchiveOff,
  IconArrowMerge,
  IconMail,
  IconMailOpened,
  IconTrash,
  IconX,
} from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { useIsInTeam } from '../../shell/viewer.ts';
import { LabelMenu } from './label-menu.tsx';
import { isShownUnread } from './own-reads.ts';
import { SnoozeMenu } from './snooze-menu.tsx';
import { TrashTools } from './trash-tools.tsx';
import type { Inbox } from './use-inbox.ts';
import { MAX_MERGED, MAX_SELECTED } from './use-selection.ts';

/** Actions on the selected threads. */
export function SelectionBar({ inbox }: { inbox: Inbox }) {
  const { selected: threads, acts, bulk, isLabelling, setLabelling, isSnoozing, setSnoozing } = inbox;
  const { clear } = inbox.selection;
  const isInTeam = useIsInTeam();
  const ids = threads.map(({ id }) => id);
  const areArchived = threads.every(({ isArchived }) => isArchived);
  const areTrashed = threads.every(({ trashedAt }) => trashedAt !== null);
  const areRead = !threads.some((thread) => isShownUnread(thread, isInTeam));
  const then = (done: Promise<unknown>) => void done.then(clear);
  return (
    <Group p="xs" gap={6} wrap="wrap" role="toolbar" aria-label="Selected conversations">
      <Tool isOfAll label="Clear selection" onClick={clear}>
        <IconX size={18} aria-hidden />
      </Tool>
      <Text size="sm" fw={600} aria-live="polite">
        {ids.length === MAX_SELECTED ? `${MAX_SELECTED} selected, the maximum` : `${ids.length} selected`}
      </Text>
      <Button size="compact-sm" variant="subtle" loading={bulk.isChoosing} onClick={() => void bulk.choose()}>
        Select all
      </Button>
      {areTrashed ? (
        <TrashTools ids={ids} acts={acts} then={clear} />
      ) : (
        <Group gap={6} ml="auto">
          <Tool label="Delete (#)" onClick={() => then(acts.trash(ids))}>
            <IconTrash size={18} aria-hidden />
          </Tool>
          <Tool
            label={areArchived ? 'Unarchive (e)' : 'Archive (e)'}
            onClick={() => then(acts.archive(ids, !areArchived))}
          >
            {areArchived ? <IconArchiveOff size={18} aria-hidden /> : <IconArchive size={18} aria-hidden />}
          </Tool>
          <Tool
            isOwnMark={isInTeam}
            label={areRead ? 'Mark as unread (u)' : 'Mark as read (u)'}
            onClick={() => then(acts.markRead(ids, !areRead))}
          >
            {areRead ? <IconMail size={18} aria-hidden /> : <IconMailOpened size={18} aria-hidden />}
          </Tool>
          <SnoozeMenu
            isSnoozed={threads.every(({ snoozedUntil }) => snoozedUntil !== null)}
            isOpen={isSnoozing}
            setOpen={setSnoozing}
            snooze={(until) => then(acts.snooze(ids, until))}
          />
          <LabelMenu
            labels={inbox.frame?.labels ?? []}
            given={threads.map((thread) => thread.labels)}
            isOpen={isLabelling}
            setOpen={setLabelling}
            change={(add, remove) => void acts.label(ids, add, remove)}
          />
          {ids.length > 1 && (
            <Button
              {...needs('organize', 'everything')}
              size="xs"
              h={34}
              variant="default"
              leftSection={<IconArrowMerge size={16} aria-hidden />}
              disabled={ids.length > MAX_MERGED}
              onClick={inbox.askMerge}
            >
              {ids.length > MAX_MERGED ? `Merge up to ${MAX_MERGED}` : 'Merge'}
            </Button>
          )}
        </Group>
      )}
    </Group>
  );
}

/** An icon button whose tooltip is its label. */
export function Tool({
  label,
  onClick,
  children,
  isOfAll = false,
  isOwnMark = false,
}: {
  label: string;
  onClick: () => void;
  children: ReactNode;
  /** whether members who may change nothing see it */
  isOfAll?: boolean;
  /** whether it changes only what the person has read in a team, which every member may */
  isOwnMark?: boolean;
}) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        {...(isOfAll ? {} : needs(isOwnMark ? 'notes' : 'organize'))}
        variant="subtle"
        color="main"
        size="lg"
        aria-label={label}
        onClick={onClick}
      >
        {children}
      </ActionIcon>
    </Tooltip>
  );
}
