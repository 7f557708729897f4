import { ActionIcon, Avatar, Badge, Group, Menu, Skeleton, Stack, Text, UnstyledButton } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { Link } from 'wouter';
import {
  IconArrowMoveRight,
  IconArrowsSplit,
  IconBan,
  IconCode,
  IconDots,
  IconFileDescription,
  IconPaperclip,
  IconTrash,
} from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { useIsInTeam } from '../../shell/viewer.ts';
import { HeldNote } from './held-note.tsx';
import style from './inbox.module.css';
import type { Composing } from './inbox-view.ts';
import { MessageBody } from './message-body.tsx';
import cardStyle from './message-card.module.css';
import { MoveDialog } from './move-dialog.tsx';
import { isMessageUnread } from './own-reads.ts';
import { initialsOf, nameOf } from './people.ts';
import { ReplyItems } from './reply-items.tsx';
import { SplitDialog } from './split-dialog.tsx';
import type { OpenThread, ThreadMessage } from './thread-documents.ts';
import { useDeleteMessage } from './use-delete-message.ts';
import { useMarkSpam } from './use-mark-spam.ts';

const MessageViews = lazy(async () => ({ default: (await import('./message-views.tsx')).MessageViews }));

/** Mantine's colors for initials have less contrast than WCAG AA requires. */
const INITIALS = { placeholder: { color: 'var(--mantine-color-text)' } };

export interface MessageCardProps {
  message: ThreadMessage;
  thread: OpenThread;
  /** whether it is the first message of the conversation */
  isFirst: boolean;
  isUnfolded: boolean;
  toggle: () => void;
  compose: (composing: Composing) => void;
  opened: (threadId: string) => void;
  /** ids of this message and the later ones */
  following: readonly ThreadMessage[];
}

/** A message: one line when collapsed, otherwise complete. */
export function MessageCard(props: MessageCardProps) {
  const { message, thread, isFirst, isUnfolded, toggle, compose, opened, following } = props;
  const { id, from, type, preview, hasFiles } = message;
  const [dialog, setDialog] = useState<'split' | 'move' | null>(null);
  const [hasViews, setViews] = useState(false);
  const remove = useDeleteMessage();
  const markSpam = useMarkSpam();
  const isOwn = type !== 'RECEIVED';
  const isUnread = isMessageUnread(message, useIsInTeam());
  return (
    <article
      className={cardStyle['message']}
      data-message={id}
      data-unread={isUnread || undefined}
      aria-label={`Message from ${nameOf(from)}`}
    >
      <Group gap="sm" px="sm" py={6} wrap="nowrap" align="flex-start">
        <UnstyledButton
          onClick={toggle}
          aria-expanded={isUnfolded}
          style={{ flex: 1, minWidth: 0, display: 'flex', gap: '0.75rem' }}
        >
          <Avatar
            size={32}
            radius="xl"
            name={nameOf(from)}
            color={isOwn ? 'gray' : 'initials'}
            styles={INITIALS}
            aria-hidden
          >
            {initialsOf(from)}
          </Avatar>
          <span style={{ flex: 1, minWidth: 0 }}>
            <span className={style['line']}>
              {isUnread && <span className={style['dot']} aria-hidden />}
              {isUnread && <span className={style['words']}>Unread. </span>}
              <Text component="span" size="sm" fw={600} truncate>
                {nameOf(from)}
              </Text>
              {isOwn && (
                <Badge variant="default" size="sm" tt="none" fw={600}>
                  Sent
                </Badge>
              )}
              {message.guardStatus !== null && (
                <Badge color="orange" variant="outline" c="var(--mantine-color-text)" size="sm" tt="none" fw={600}>
                  Held
                </Badge>
              )}
              {message.isTest && (
                <Badge variant="default" size="sm" tt="none" fw={600}>
                  Test
                </Badge>
              )}
              {!isUnfolded && hasFiles && <IconPaperclip size={14} aria-label="has attachments" />}
            </span>
            <Text component="span" size="xs" c="dimmed" truncate display="block">
              {isUnfolded ? from.address : preview || 'No text'}
            </Text>
          </span>
        </UnstyledButton>
        <Text size="xs" c="dimmed" component="span" style={{ whiteSpace: 'nowrap' }} pt={2}>
          <RelativeTime at={message.createdAt} />
        </Text>
        {isUnfolded && (
          <ActionIcon
            variant={hasViews ? 'light' : 'subtle'}
            color="gray"
            aria-label="Show preview, source, headers and checks"
            title="Preview, source, headers and checks"
            aria-pressed={hasViews}
            onClick={() => setViews(!hasViews)}
          >
            <IconCode size={18} aria-hidden />
          </ActionIcon>
        )}
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" aria-label={`Actions for the message from ${nameOf(from)}`}>
              <IconDots size={18} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <ReplyItems emailId={id} compose={compose} />
            <Menu.Divider />
            {!isFirst && (
              <Menu.Item
                {...needs('organize', 'everything')}
                leftSection={<IconArrowsSplit size={16} />}
                onClick={() => setDialog('split')}
              >
                Split conversation here
              </Menu.Item>
            )}
            <Menu.Item
              {...needs('organize', 'everything')}
              leftSection={<IconArrowMoveRight size={16} />}
              onClick={() => setDialog('move')}
            >
              Move message
            </Menu.Item>
            <Menu.Divider />
            <Menu.Item component={Link} href={`/emails/${id}`} leftSection={<IconFileDescription size={16} />}>
              Show message details
            </Menu.Item>
            {thread.trashedAt === null && !isOwn && (
              <Menu.Item {...needs('organize')} leftSection={<IconBan size={16} />} onClick={() => void markSpam(id)}>
                Mark as spam
              </Menu.Item>
            )}
            {thread.trashedAt === null && (
              <Menu.Item {...needs('organize')} leftSection={<IconTrash size={16} />} onClick={() => void remove(id)}>
                Delete message
              </Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      </Group>
      {message.guardStatus !== null && <HeldNote emailId={id} />}
      {isUnfolded && (
        <Stack gap={6} px="sm" pb="sm">
          {hasViews ? (
            <Suspense fallback={<Skeleton h={180} aria-label="Loading the views" />}>
              <MessageViews message={message} />
            </Suspense>
          ) : (
            <MessageBody message={message} />
          )}
        </Stack>
      )}
      {dialog === 'split' && (
        <SplitDialog close={() => setDialog(null)} threadId={thread.id} messages={following} opened={opened} />
      )}
      {dialog === 'move' && (
        <MoveDialog close={() => setDialog(null)} message={message} threadId={thread.id} opened={opened} />
      )}
    </article>
  );
}
