import { Group, Paper, Stack } from '@mantine/core';
import { type ReactNode, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react';
import { toMode } from '../../composer/draft.ts';
import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { QuietButton } from '../../parts/controls.tsx';
import { ErrorNote } from '../../parts/page.tsx';
import { NotFound } from '../../parts/section.tsx';
import { Hint, PageLink, Small, Tag, WarningAlert } from '../../parts/text.tsx';
import { useIsInTeam } from '../../shell/viewer.ts';
import { APPROVAL_KINDS, WAITING_REPLIES } from '../approvals/approval-actions.tsx';
import style from './inbox.module.css';
import { type Composing, isReplying } from './inbox-view.ts';
import { MessageCard } from './message-card.tsx';
import { isMessageUnread, isShownUnread } from './own-reads.ts';
import { findReplied, MESSAGES, type OpenThread, type ThreadMessage } from './thread-documents.ts';
import { ThreadHead } from './thread-head.tsx';
import { ThreadNotes } from './thread-notes.tsx';
import type { Inbox } from './use-inbox.ts';
import { useThread } from './use-thread.ts';
import type { ThreadActs } from './use-thread-acts.ts';

/** A conversation is marked as read after it was visible for this long. Milliseconds. */
const READ_AFTER_MS = 600;

/** The open conversation: its messages, oldest first. `waiting` is shown until it is loaded. */
export function Reading({ inbox, threadId, waiting }: { inbox: Inbox; threadId: string; waiting: ReactNode }) {
  const { acts, go } = inbox;
  const inSight = useThread(threadId);
  const { thread, messages, earlierCount, error, refresh } = inSight;
  const compose = (composing: Composing) => go({ compose: composing });
  const opened = (movedTo: string) => go({ threadId: movedTo });
  const repliedId = findReplied(messages)?.id ?? null;
  const report = useEffectEvent(() => {
    if (thread !== undefined) inbox.reportOpened({ threadId, thread, repliedId });
    // A key must not act much later, when no one expects it.
    else if (error !== undefined) inbox.cancelWaiting();
  });
  useLayoutEffect(() => report(), [thread, repliedId, error]);
  useMarkShown(thread ?? null, messages.at(-1)?.id, acts);
  const unfolded = useUnfolded(messages);
  const scroll = useRef<HTMLDivElement>(null);
  const id = thread?.id ?? null;
  const hasMessages = messages.length > 0;
  // A long conversation opens at its first unread message, or else at the last one.
  useEffect(() => {
    if (id === null || !hasMessages) return;
    const places = [...(scroll.current?.querySelectorAll<HTMLElement>('[data-message]') ?? [])];
    const first = places.find((place) => place.dataset['unread'] !== undefined) ?? places.at(-1);
    if (first !== undefined && first !== places[0]) first.scrollIntoView({ block: 'start' });
  }, [id, hasMessages]);

  if (thread === undefined)
    return error === undefined ? (
      waiting
    ) : (
      <div className={style['thread']}>
        <ErrorNote error={error} retry={refresh} />
      </div>
    );
  if (thread === null)
    return (
      <div className={style['thread']}>
        <NotFound
          icon="mail-question"
          title="Conversation not found"
          about="It is not in this workspace, or its messages were moved to another conversation."
        >
          <PageLink href={inbox.pathOf({ threadId: null })}>Back to list</PageLink>
        </NotFound>
      </div>
    );
  return (
    <>
      <ThreadHead inbox={inbox} thread={thread} messages={messages} />
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, and the keyboard has to get there */}
      <div className={style['thread']} ref={scroll} tabIndex={0} data-messages role="region" aria-label="Messages">
        <Stack gap="xs">
          {earlierCount > 0 && (
            <QuietButton
              label={`Show ${Math.min(MESSAGES, earlierCount)} earlier of ${earlierCount}`}
              size="xs"
              loading={inSight.isReadingEarlier}
              onClick={() => void inSight.showEarlier()}
            />
          )}
          {messages.map((message, index) => (
            <MessageCard
              key={message.id}
              message={message}
              thread={thread}
              isFirst={index === 0 && earlierCount === 0}
              isUnfolded={unfolded.has(message)}
              toggle={() => unfolded.toggle(message.id)}
              compose={compose}
              opened={opened}
              following={messages.slice(index)}
            />
          ))}
          {error !== undefined && (
            <WarningAlert title="This may be out of date">
              <Small>The conversation could not be refreshed.</Small>
            </WarningAlert>
          )}
          <ThreadNotes threadId={thread.id} />
          {!isReplying(inbox.view) && (
            <>
              <ThreadApprovals threadId={thread.id} />
              <ThreadDrafts threadId={thread.id} compose={compose} />
              <ReplyBar messages={messages} compose={compose} />
            </>
          )}
        </Stack>
      </div>
    </>
  );
}

function ReplyBar({ messages, compose }: { messages: ThreadMessage[]; compose: (composing: Composing) => void }) {
  const last = findReplied(messages);
  if (last === undefined) return null;
  const emailId = last.id;
  return (
    <Group gap="xs">
      <QuietButton label="Reply" needed="send" size="sm" onClick={() => compose({ mode: 'reply', emailId })} />
      {last.to.length + last.cc.length > 1 && (
        <QuietButton
          label="Reply to all"
          needed="send"
          size="sm"
          onClick={() => compose({ mode: 'reply-all', emailId })}
        />
      )}
      <QuietButton label="Forward" needed="send" size="sm" onClick={() => compose({ mode: 'forward', emailId })} />
    </Group>
  );
}

/** Returns which messages are expanded: the last one, any that were unread when first shown, and any that the user expanded. */
function useUnfolded(messages: ThreadMessage[]) {
  const isInTeam = useIsInTeam();
  const [chosen, setChosen] = useState<Record<string, boolean>>({});
  const unread = useRef(new Set<string>());
  for (const message of messages) if (isMessageUnread(message, isInTeam)) unread.current.add(message.id);
  const lastId = messages.at(-1)?.id;
  const has = ({ id }: ThreadMessage) => chosen[id] ?? (id === lastId || unread.current.has(id));
  return {
    has,
    toggle: (id: string) => {
      const message = messages.find((one) => one.id === id);
      if (message !== undefined) setChosen({ ...chosen, [id]: !has(message) });
    },
  };
}

/** Marks visible messages as read, once for each set of new messages, so that it does not override a user who marks the thread as unread again. */
function useMarkShown(thread: OpenThread | null, lastEmailId: string | undefined, acts: ThreadActs): void {
  const done = useRef<string | null>(null);
  const isInTeam = useIsInTeam();
  // Nothing changes in the trash.
  const isKept = thread !== null && thread.trashedAt === null;
  const isUnread = isKept && (thread.unreadCount > 0 || isShownUnread(thread, isInTeam));
  const unread = isUnread ? `${thread.id} ${thread.lastMessageAt}` : null;
  const mark = useRef(() => {});
  mark.current = () => {
    if (thread !== null && lastEmailId !== undefined) void acts.markShown(thread, lastEmailId);
  };
  useEffect(() => {
    if (unread === null || done.current === unread) return;
    let timer = 0;
    const begin = () => {
      window.clearTimeout(timer);
      if (document.visibilityState !== 'visible') return;
      timer = window.setTimeout(() => {
        done.current = unread;
        mark.current();
      }, READ_AFTER_MS);
    };
    begin();
    document.addEventListener('visibilitychange', begin);
    return () => {
      window.clearTimeout(timer);
      document.removeEventListener('visibilitychange', begin);
    };
  }, [unread]);
}

const THREAD_DRAFTS = graphql(`
  query ThreadDrafts($threadId: ID!) {
    drafts(first: 10, filter: { threadId: $threadId }) {
      edges { node { id kind preview isByKey originalEmail { id } } }
    }
  }
`);

/** The drafts of replies to messages of a conversation. */
function ThreadDrafts({ threadId, compose }: { threadId: string; compose: (composing: Composing) => void }) {
  const { data } = useLiveQuery({
    query: THREAD_DRAFTS,
    variables: { threadId },
    kinds: ['EMAIL_SENT', 'EMAIL_SCHEDULED'],
    types: ['Draft', 'DeleteDraftPayload', 'SendDraftPayload'],
  });
  return data?.drafts.edges.map(({ node: { id: draftId, kind, preview, isByKey, originalEmail } }) => {
    const mode = toMode(kind);
    if (mode === 'new' || originalEmail === null) return null;
    const mark = `${mode === 'forward' ? 'Forward' : 'Reply'}, draft${isByKey ? ' by API key' : ''}`;
    const open = () => compose({ mode, emailId: originalEmail.id, draftId });
    return (
      <UnsentReply key={draftId} label="Draft" mark={mark} preview={preview}>
        <QuietButton label="Open draft" needed="send" size="xs" onClick={open} style={UNSHRUNK} />
      </UnsentReply>
    );
  });
}

/** Replies to a conversation that wait for approval. */
function ThreadApprovals({ threadId }: { threadId: string }) {
  const { data } = useLiveQuery({
    query: WAITING_REPLIES,
    kinds: APPROVAL_KINDS,
    types: ['Email', 'ApproveEmailPayload', 'RejectEmailPayload'],
  });
  const replies = data?.waitingEmails.edges.filter(({ node }) => node.approval?.thread?.id === threadId);
  return replies?.map(({ node: { id, preview } }) => (
    <UnsentReply key={id} label="Awaiting approval" mark="Awaiting approval" preview={preview}>
      <QuietButton label="Review" size="xs" href="/approvals" style={UNSHRUNK} />
    </UnsentReply>
  ));
}

/** A long text takes no room from what is beside it. */
const UNSHRUNK = { flexShrink: 0 } as const;

type UnsentReplyProps = { label: string; mark: string; preview: string; children: ReactNode };

/** A line about a reply that is not sent, with what can be done about it. */
function UnsentReply({ label, mark, preview, children }: UnsentReplyProps) {
  return (
    <Paper withBorder px="md" py="xs" radius="md" component="section" aria-label={label}>
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Group gap="xs" wrap="nowrap" miw={0}>
          <Tag style={UNSHRUNK}>{mark}</Tag>
          <Hint truncate>{preview}</Hint>
        </Group>
        {children}
      </Group>
    </Paper>
  );
}
