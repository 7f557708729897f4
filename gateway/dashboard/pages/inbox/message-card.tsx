import {
  Avatar,
  Badge,
  Group,
  Menu,
  Modal,
  Radio,
  ScrollArea,
  Skeleton,
  Stack,
  TextInput,
  UnstyledButton,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useQuery } from 'urql';
import { graphql, mutation } from '../../graphql.ts';
import { ActButton, Question } from '../../parts/buttons.tsx';
import { IconButton } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icons.ts';
import { MenuAction } from '../../parts/menu-action.tsx';
import { showNotice } from '../../parts/notify.tsx';
import { ErrorNote } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { CautionAlert, Fine, Hint, Small, Strong, TextLink } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { counted, relativeTime } from '../../parts/words.ts';
import { later } from '../../shell/loading.tsx';
import { useIsInTeam } from '../../shell/viewer.ts';
import { RELEASE } from '../activity/email-documents.ts';
import style from './inbox.module.css';
import type { Composing } from './inbox-view.ts';
import { useDeleteMessage, useMarkSpam } from './message-acts.tsx';
import { MessageBody } from './message-body.tsx';
import cardStyle from './message-card.module.css';
import { isMessageUnread } from './own-reads.ts';
import { makeInitials, showName } from './people.ts';
import { useNow } from './row-time.ts';
import type { OpenThread, ThreadMessage } from './thread-documents.ts';

const MessageViews = later(
  async () => (await import('./message-views.tsx')).MessageViews,
  () => <Skeleton h={180} aria-label="Loading the views" />,
);

/** Mantine's colors for initials have less contrast than WCAG AA requires. */
const INITIALS = { placeholder: { color: 'var(--mantine-color-text)' } };

interface MessageCardProps {
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
      aria-label={`Message from ${showName(from)}`}
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
            name={showName(from)}
            color={isOwn ? 'gray' : 'initials'}
            styles={INITIALS}
            aria-hidden
          >
            {makeInitials(from)}
          </Avatar>
          <span style={{ flex: 1, minWidth: 0 }}>
            <span className={style['line']}>
              {isUnread && <span className={style['dot']} aria-hidden />}
              {isUnread && <span className={style['words']}>Unread. </span>}
              <Strong component="span" truncate dir="auto">
                {showName(from)}
              </Strong>
              {isOwn && (
                <Badge variant="default" size="sm" fw={600}>
                  Sent
                </Badge>
              )}
              {message.guardStatus !== null && (
                <Badge color="orange" variant="outline" c="var(--mantine-color-text)" size="sm" fw={600}>
                  Held
                </Badge>
              )}
              {message.isTest && (
                <Badge variant="default" size="sm" fw={600}>
                  Test
                </Badge>
              )}
              {!isUnfolded && hasFiles && <Icon name="paperclip" size={14} aria-label="has attachments" />}
            </span>
            <Fine component="span" truncate display="block" dir="auto" ta="left">
              {isUnfolded ? from.address : preview || 'No text'}
            </Fine>
          </span>
        </UnstyledButton>
        <Fine component="span" style={{ whiteSpace: 'nowrap' }} pt={2}>
          <RelativeTime at={message.createdAt} />
        </Fine>
        {isUnfolded && (
          <IconButton
            label="Show preview, source, headers and checks"
            icon="code"
            variant={hasViews ? 'light' : 'subtle'}
            color="gray"
            title="Preview, source, headers and checks"
            aria-pressed={hasViews}
            onClick={() => setViews(!hasViews)}
          />
        )}
        <Menu position="bottom-end">
          <Menu.Target>
            <IconButton label={`Actions for the message from ${showName(from)}`} icon="dots" />
          </Menu.Target>
          <Menu.Dropdown>
            <ReplyItems emailId={id} compose={compose} />
            <Menu.Divider />
            {!isFirst && (
              <MenuAction
                label="Split conversation here"
                icon="arrows-split"
                needed={['organize', 'everything']}
                onClick={() => setDialog('split')}
              />
            )}
            <MenuAction
              label="Move message"
              icon="arrow-move-right"
              needed={['organize', 'everything']}
              onClick={() => setDialog('move')}
            />
            <Menu.Divider />
            <MenuAction label="Show message details" icon="file-description" href={`/emails/${id}`} />
            {thread.trashedAt === null && !isOwn && (
              <MenuAction label="Mark as spam" icon="ban" needed="organize" onClick={() => void markSpam(id)} />
            )}
            {thread.trashedAt === null && (
              <MenuAction label="Delete message" icon="trash" needed="organize" onClick={() => void remove(id)} />
            )}
          </Menu.Dropdown>
        </Menu>
      </Group>
      {message.guardStatus !== null && <HeldNote emailId={id} />}
      {isUnfolded && (
        <Stack gap={6} px="sm" pb="sm">
          {hasViews ? <MessageViews message={message} /> : <MessageBody message={message} />}
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

const REPLY_MODES = [
  { mode: 'reply', label: 'Reply', icon: 'corner-up-left' },
  { mode: 'reply-all', label: 'Reply to all', icon: 'corner-up-left-double' },
  { mode: 'forward', label: 'Forward', icon: 'arrow-forward-up' },
] as const;

/** Items of a menu that reply to or forward an email. */
export function ReplyItems({ emailId, compose }: { emailId: string; compose: (composing: Composing) => void }) {
  return REPLY_MODES.map(({ mode, label, icon }) => (
    <MenuAction key={mode} label={label} icon={icon} needed="send" onClick={() => compose({ mode, emailId })} />
  ));
}

/** Shown above a message that a guard rule holds, with the way to the inbox. */
function HeldNote({ emailId }: { emailId: string }) {
  return (
    <CautionAlert mx="sm" mb="sm" title="Held by a guard rule">
      <Group justify="space-between" gap="sm">
        <Small>
          It is not in the inbox and was not delivered to an endpoint. See <TextLink href="/held">held mail</TextLink>.
        </Small>
        <ActButton
          {...RELEASE}
          icon={undefined}
          variant="default"
          input={{ id: emailId }}
          done="The email is released and in your inbox."
        />
      </Group>
    </CautionAlert>
  );
}

const SPLIT = mutation('splitThread', 'newThread { id } thread { id }');
const JOIN_AGAIN = mutation('mergeThreads', 'thread { id }');

/** Maximum number of messages that one split can move. */
const MAX_SPLIT = 500;

interface SplitDialogProps {
  close: () => void;
  threadId: string;
  /** the messages that move */
  messages: readonly ThreadMessage[];
  opened: (threadId: string) => void;
}

/** Asks before a conversation is split at a message, and splits it. */
function SplitDialog({ close, threadId, messages, opened }: SplitDialogProps) {
  const { act } = useAct(SPLIT);
  const { act: join } = useAct(JOIN_AGAIN, { done: 'The conversations were merged again' });
  const split = async () => {
    const emailIds = messages.slice(0, MAX_SPLIT).map(({ id }) => id);
    const { payload } = await act({ threadId, emailIds });
    const newId = payload?.newThread?.id;
    if (newId === undefined) return payload !== null;
    opened(newId);
    showNotice('The conversation was split. This is the new one.', {
      undo: () =>
        void join({ threadIds: [threadId, newId] }).then(({ payload: whole }) => whole && opened(whole.thread.id)),
    });
    return true;
  };
  return (
    <Modal opened onClose={close} title="Split conversation here?" centered>
      <Question confirm="Split" focus="confirm" act={split} close={close}>
        <Small>
          {messages.length === 1
            ? 'This message becomes a separate conversation.'
            : `This message and the ${messages.length - 1} after it become a separate conversation.`}{' '}
          Later replies are added to the new conversation.
        </Small>
      </Question>
    </Modal>
  );
}

const CANDIDATES = graphql(`
  query InboxMoveCandidates($search: String) {
    threads(first: 20, filter: { search: $search }) {
      edges { node { id normalizedSubject lastMessageAt messageCount participants { name address } } }
    }
  }
`);

const MOVE = mutation('moveEmails', 'thread { id }');

const TYPING_MS = 200;

interface MoveDialogProps {
  close: () => void;
  message: ThreadMessage;
  threadId: string;
  opened: (threadId: string) => void;
}

/** Moves a message to another conversation, which the user searches by subject or participants. */
function MoveDialog({ close, message, threadId, opened }: MoveDialogProps) {
  const now = useNow(null);
  const [typed, setTyped] = useState('');
  const [target, setTarget] = useState('');
  const [search] = useDebouncedValue(typed.trim(), TYPING_MS);
  const [{ data, fetching, error }, again] = useQuery({
    query: CANDIDATES,
    variables: { search: search === '' ? null : search },
    requestPolicy: 'cache-and-network',
  });
  const { act } = useAct(MOVE);
  const candidates = (data?.threads.edges ?? []).map(({ node }) => node).filter(({ id }) => id !== threadId);
  const move = async () => {
    const { payload } = await act({ threadId: target, emailIds: [message.id] });
    if (payload === null) return false;
    opened(payload.thread.id);
    showNotice('The message was moved to this conversation.');
    return true;
  };
  return (
    <Modal opened onClose={close} title="Move message" centered size="lg">
      <Question
        confirm="Move"
        focus="field"
        isDisabled={!candidates.some(({ id }) => id === target)}
        act={move}
        close={close}
      >
        <TextInput
          label="Conversation"
          description="Part of the subject or of an address"
          value={typed}
          maxLength={100}
          onChange={(event) => setTyped(event.currentTarget.value)}
          data-autofocus
        />
        <ScrollArea.Autosize mah={320}>
          <Radio.Group value={target} onChange={setTarget} aria-label="Conversations">
            <Stack gap="xs" p={2}>
              {candidates.map(({ id, normalizedSubject, participants, lastMessageAt, messageCount }) => (
                <Radio
                  key={id}
                  value={id}
                  label={normalizedSubject || '(no subject)'}
                  description={`${participants.slice(0, 3).map(showName).join(', ')} · ${counted(messageCount, 'message')} · ${relativeTime(lastMessageAt, now)}`}
                />
              ))}
            </Stack>
          </Radio.Group>
          {error !== undefined && <ErrorNote error={error} retry={() => again({ requestPolicy: 'network-only' })} />}
          {!fetching && error === undefined && candidates.length === 0 && <Hint>No matching conversations.</Hint>}
        </ScrollArea.Autosize>
      </Question>
    </Modal>
  );
}
