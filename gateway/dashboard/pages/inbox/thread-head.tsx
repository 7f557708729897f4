import { ActionIcon, Badge, CloseButton, Group, Menu, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { counted } from '../../parts/counted.ts';
import { IconArchive, IconArchiveOff, IconArrowLeft, IconDots, IconMail, IconTrash } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { exactTime } from '../../parts/time-words.ts';
import { useIsInTeam } from '../../shell/viewer.ts';
import { AssignMenu } from './assign-menu.tsx';
import style from './inbox.module.css';
import { isReplying } from './inbox-view.ts';
import { LabelMenu } from './label-menu.tsx';
import { PresenceNote } from './presence-note.tsx';
import { ReplyItems } from './reply-items.tsx';
import { shortTime } from './row-time.ts';
import { Tool } from './selection-bar.tsx';
import { SnoozeMenu } from './snooze-menu.tsx';
import { findReplied, type OpenThread, type ThreadMessage } from './thread-documents.ts';
import { TrashTools, trashEnd } from './trash-tools.tsx';
import type { Inbox } from './use-inbox.ts';

/** Subject, labels and actions of the conversation. */
export function ThreadHead({
  inbox,
  thread,
  messages,
}: {
  inbox: Inbox;
  thread: OpenThread;
  messages: readonly ThreadMessage[];
}) {
  const { acts, back, isLabelling, setLabelling, isSnoozing, setSnoozing } = inbox;
  const isMeant = inbox.selected.length === 0;
  const { id, isArchived, messageCount, claim } = thread;
  const isInTeam = useIsInTeam();
  const last = findReplied(messages);
  const subject = thread.subject || 'No subject';
  const archive = () => {
    void acts.archive([id], !isArchived);
    back();
  };
  const isTrashed = thread.trashedAt !== null;
  const remove = () => {
    void acts.trash([id]);
    back();
  };
  const unread = () => {
    void acts.markRead([id], false);
    back();
  };
  return (
    <Group className={style['head'] ?? ''} px="xs" py={5} gap="xs" wrap="nowrap">
      <ActionIcon
        component={Link}
        href={inbox.pathOf({ threadId: null })}
        variant="subtle"
        color="main"
        size="lg"
        aria-label="Back to list (Esc)"
      >
        <IconArrowLeft size={18} aria-hidden />
      </ActionIcon>
      <div className={style['subject']}>
        <Title order={2} size="h4" title={subject}>
          {subject}
        </Title>
        <Group gap={6} wrap="nowrap" miw={0}>
          <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
            {counted(messageCount, 'message')}
            {isArchived ? ', archived' : ''}
            {thread.snoozedUntil === null ? '' : `, snoozed until ${shortTime(thread.snoozedUntil)}`}
            {thread.remindAt === null ? '' : `, reminder ${shortTime(thread.remindAt)}`}
            {thread.returnedBy === 'REMINDER' ? ', no one replied' : ''}
            {thread.trashedAt === null ? '' : `, in the trash until ${trashEnd(thread.trashedAt)}`}
          </Text>
          {claim !== null && (
            <Text size="xs" c="dimmed" className="postroom-wrap" title={`Claimed until ${exactTime(claim.expiresAt)}`}>
              {claim.holder} is answering
            </Text>
          )}
          <PresenceNote threadId={id} isReplying={isReplying(inbox.view)} />
          {thread.labels.map((label) => (
            <Badge
              key={label}
              variant="default"
              tt="none"
              fw={600}
              radius="sm"
              rightSection={
                <CloseButton
                  {...needs('organize')}
                  size={16}
                  iconSize={12}
                  aria-label={`Remove label ${label}`}
                  onClick={() => void acts.label([id], [], [label])}
                />
              }
            >
              {label}
            </Badge>
          ))}
        </Group>
      </div>
      {isTrashed ? (
        <TrashTools ids={[id]} acts={acts} then={back} />
      ) : (
        <>
          <Group gap={6} wrap="nowrap">
            <Tool label={isArchived ? 'Unarchive (e)' : 'Archive (e)'} onClick={archive}>
              {isArchived ? <IconArchiveOff size={18} aria-hidden /> : <IconArchive size={18} aria-hidden />}
            </Tool>
            <Tool label="Delete (#)" onClick={remove}>
              <IconTrash size={18} aria-hidden />
            </Tool>
          </Group>
          <Group gap={6} wrap="nowrap" visibleFrom="xs">
            <Tool isOwnMark={isInTeam} label="Mark as unread (u)" onClick={unread}>
              <IconMail size={18} aria-hidden />
            </Tool>
          </Group>
          <AssignMenu assignee={thread.assignee} assign={(to) => void acts.assign([id], to)} />
          <SnoozeMenu
            isSnoozed={thread.snoozedUntil !== null}
            isOpen={isSnoozing && isMeant}
            setOpen={setSnoozing}
            snooze={(until) => {
              void acts.snooze([id], until);
              if (until !== null) back();
            }}
            remindAt={thread.remindAt}
            remind={(at) => void acts.remind(id, at)}
          />
          <LabelMenu
            labels={inbox.frame?.labels ?? []}
            given={[thread.labels]}
            isOpen={isLabelling && isMeant}
            setOpen={setLabelling}
            change={(add, remove) => void acts.label([id], add, remove)}
          />
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon variant="subtle" color="main" size="lg" aria-label="Actions for this conversation">
                <IconDots size={18} aria-hidden />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              {last !== undefined && (
                <>
                  <ReplyItems emailId={last.id} compose={(compose) => inbox.go({ compose })} />
                  <Menu.Divider />
                </>
              )}
              <Menu.Item {...needs('organize')} leftSection={<IconArchive size={16} />} onClick={archive}>
                {isArchived ? 'Unarchive' : 'Archive'}
              </Menu.Item>
              <Menu.Item
                {...needs(isInTeam ? 'notes' : 'organize')}
                leftSection={<IconMail size={16} />}
                onClick={unread}
              >
                Mark as unread
              </Menu.Item>
              <Menu.Item {...needs('organize')} leftSection={<IconTrash size={16} />} onClick={remove}>
                Delete
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </>
      )}
    </Group>
  );
}
