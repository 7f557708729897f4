import { Button, Group, Progress, Tooltip } from '@mantine/core';
import { DAY_MS } from '../../../../core/shared/durations.ts';
import { ConfirmButton } from '../../parts/buttons.tsx';
import { IconButton, QuietButton } from '../../parts/controls.tsx';
import type { IconName } from '../../parts/icons.ts';
import { Strong } from '../../parts/text.tsx';
import { formatCount } from '../../parts/words.ts';
import { useIsInTeam } from '../../shell/viewer.ts';
import { isShownUnread } from './own-reads.ts';
import { LabelMenu, SnoozeMenu } from './thread-menus.tsx';
import { type Inbox, MAX_MERGED, MAX_SELECTED } from './use-inbox.ts';
import type { ChangedIds, ThreadActs } from './use-thread-acts.ts';

/** Actions on the selected threads. */
export function SelectionBar({ inbox }: { inbox: Inbox }) {
  const { selected: threads, acts, bulk, isLabelling, setLabelling, isSnoozing, setSnoozing } = inbox;
  const { clear, leave } = inbox.selection;
  const isInTeam = useIsInTeam();
  const ids = threads.map(({ id }) => id);
  const areArchived = threads.every(({ isArchived }) => isArchived);
  const areTrashed = threads.every(({ trashedAt }) => trashedAt !== null);
  const areRead = !threads.some((thread) => isShownUnread(thread, isInTeam));
  const then = (done: ChangedIds) => void done.then(leave);
  return (
    <Group p="xs" gap={6} wrap="wrap" role="toolbar" aria-label="Selected conversations">
      <Tool isOfAll label="Clear selection" onClick={clear} icon="x" />
      <Strong aria-live="polite">
        {ids.length === MAX_SELECTED ? `${MAX_SELECTED} selected, the maximum` : `${ids.length} selected`}
      </Strong>
      <Button size="compact-sm" variant="subtle" loading={bulk.isChoosing} onClick={() => void bulk.choose()}>
        Select all
      </Button>
      {areTrashed ? (
        <TrashTools ids={ids} acts={acts} then={leave} />
      ) : (
        <Group gap={6} ml="auto">
          <Tool
            label={areArchived ? 'Unarchive (e)' : 'Archive (e)'}
            onClick={() => then(acts.archive(ids, !areArchived))}
            icon={areArchived ? 'archive-off' : 'archive'}
          />
          <Tool label="Delete (#)" onClick={() => then(acts.trash(ids))} icon="trash" />
          <Tool
            isOwnMark={isInTeam}
            label={areRead ? 'Mark as unread (u)' : 'Mark as read (u)'}
            onClick={() => then(acts.markRead(ids, !areRead))}
            icon={areRead ? 'mail' : 'mail-opened'}
          />
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
            <QuietButton
              label={ids.length > MAX_MERGED ? `Merge up to ${MAX_MERGED}` : 'Merge'}
              icon="arrow-merge"
              needed={['organize', 'everything']}
              size="xs"
              h={34}
              disabled={ids.length > MAX_MERGED}
              onClick={inbox.askMerge}
            />
          )}
        </Group>
      )}
    </Group>
  );
}

interface ToolProps {
  label: string;
  icon: IconName;
  onClick: () => void;
  /** whether members who may change nothing see it */
  isOfAll?: boolean;
  /** whether it changes only what the person has read in a team, which every member may */
  isOwnMark?: boolean;
}

/** An icon button whose tooltip is its label. */
export function Tool({ label, icon, onClick, isOfAll = false, isOwnMark = false }: ToolProps) {
  const needed = isOfAll ? undefined : isOwnMark ? 'notes' : 'organize';
  return (
    <Tooltip label={label}>
      <IconButton label={label} icon={icon} needed={needed} color="main" size="lg" onClick={onClick} />
    </Tooltip>
  );
}

/** Actions on all conversations of a list, and their progress. */
export function BulkBar({ inbox }: { inbox: Inbox }) {
  const { isLabelling, setLabelling, runBulk: run } = inbox;
  const { folder } = inbox.view;
  const { chosen, progress, cancel, clear } = inbox.bulk;
  const isInTeam = useIsInTeam();
  if (progress !== null)
    return (
      <Group p="xs" gap="sm" role="group" aria-label="Progress">
        <Strong aria-live="polite">{`${formatCount(progress.done)} of ${formatCount(progress.total)}`}</Strong>
        <Progress
          value={(100 * progress.done) / progress.total}
          aria-label="Conversations changed"
          style={{ flex: 1, minWidth: 80 }}
        />
        <QuietButton label="Cancel" size="xs" onClick={cancel} />
      </Group>
    );
  if (chosen === null) return null;
  const count = formatCount(chosen.ids.size);
  const words = { all: `All ${count} selected`, newest: `The newest ${count} selected`, some: `${count} selected` };
  return (
    <Group p="xs" gap={6} wrap="wrap" role="toolbar" aria-label="All conversations">
      <Tool isOfAll label="Clear selection" onClick={clear} icon="x" />
      <Strong aria-live="polite">{words[chosen.extent]}</Strong>
      <Group gap={6} ml="auto">
        {folder === 'trash' ? (
          <Tool label="Restore all" onClick={() => run({ kind: 'restore' })} icon="restore" />
        ) : (
          <>
            {folder === 'archived' ? (
              <Tool
                label="Unarchive all"
                onClick={() => run({ kind: 'archive', isArchived: false })}
                icon="archive-off"
              />
            ) : (
              <Tool label="Archive all" onClick={() => run({ kind: 'archive', isArchived: true })} icon="archive" />
            )}
            <Tool label="Delete all" onClick={() => run({ kind: 'trash' })} icon="trash" />
            <Tool
              isOwnMark={isInTeam}
              label="Mark all as read"
              onClick={() => run({ kind: 'read', isRead: true })}
              icon="mail-opened"
            />
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

/** Days that mail stays in the trash. */
const TRASH_DAYS = 30;
const shortDate = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });

/** Returns the day on which mail in the trash is deleted. */
export function trashEnd(trashedAt: string): string {
  return shortDate.format(new Date(new Date(trashedAt).getTime() + TRASH_DAYS * DAY_MS));
}

interface TrashToolsProps {
  ids: readonly string[];
  acts: Pick<ThreadActs, 'restore' | 'deleteForever'>;
  /** called with the conversations that are gone from here, if any are */
  then: (ids: readonly string[]) => void;
}

/** Actions on conversations in the trash. */
export function TrashTools({ ids, acts, then }: TrashToolsProps) {
  const one = ids.length === 1;
  const tell = (gone: readonly string[]) => gone.length > 0 && then(gone);
  return (
    <Group gap={6} ml="auto" wrap="nowrap">
      <QuietButton
        label="Restore"
        icon="restore"
        needed="organize"
        size="xs"
        h={34}
        onClick={() => void acts.restore(ids).then(tell)}
      />
      <ConfirmButton
        needed="remove"
        h={34}
        label="Delete forever"
        question={one ? 'Delete this conversation forever?' : `Delete ${ids.length} conversations forever?`}
        about="The messages, their attachments and everything Postroom knows about them are erased. This cannot be undone."
        act={async () => void tell(await acts.deleteForever(ids))}
      />
    </Group>
  );
}
