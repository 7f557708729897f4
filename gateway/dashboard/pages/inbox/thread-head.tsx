import { CloseButton, Group, Menu, Title } from '@mantine/core';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { useClient } from 'urql';
import { graphql, mutation, type ResultOf } from '../../graphql.ts';
import { pause, subscribe } from '../../live/live-events.ts';
import { IconButton, needs } from '../../parts/controls.tsx';
import { MenuAction } from '../../parts/menu-action.tsx';
import { Fine, Tag } from '../../parts/text.tsx';
import { counted, exactTime } from '../../parts/words.ts';
import { useIsInTeam, useRight } from '../../shell/viewer.ts';
import style from './inbox.module.css';
import { isReplying } from './inbox-view.ts';
import { ReplyItems } from './message-card.tsx';
import { useTeam } from './people.ts';
import { shortTime } from './row-time.ts';
import { Tool, TrashTools, trashEnd } from './selection-bar.tsx';
import { findReplied, type OpenThread, type ThreadMessage } from './thread-documents.ts';
import { AssignMenu, LabelMenu, SnoozeMenu } from './thread-menus.tsx';
import type { Inbox } from './use-inbox.ts';

type ThreadHeadProps = { inbox: Inbox; thread: OpenThread; messages: readonly ThreadMessage[] };

/** Subject, labels and actions of the conversation. */
export function ThreadHead({ inbox, thread, messages }: ThreadHeadProps) {
  const { acts, back, isLabelling, setLabelling, isSnoozing, setSnoozing } = inbox;
  const isMeant = inbox.selected.length === 0;
  const { id, isArchived, messageCount, claim } = thread;
  const isInTeam = useIsInTeam();
  const last = findReplied(messages);
  const subject = thread.subject || '(no subject)';
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
      <IconButton
        label="Back to list (Esc)"
        icon="arrow-left"
        href={inbox.pathOf({ threadId: null })}
        color="main"
        size="lg"
      />
      <div className={style['subject']}>
        <Title order={2} size="h4" title={subject} dir="auto">
          {subject}
        </Title>
        <Group gap="2px 6px" miw={0}>
          <Fine style={{ whiteSpace: 'nowrap' }}>
            {counted(messageCount, 'message')}
            {isArchived ? ', archived' : ''}
            {thread.snoozedUntil === null ? '' : `, snoozed until ${shortTime(thread.snoozedUntil)}`}
            {thread.remindAt === null ? '' : `, reminder ${shortTime(thread.remindAt)}`}
            {thread.returnedBy === 'REMINDER' ? ', no one replied' : ''}
            {thread.trashedAt === null ? '' : `, in the trash until ${trashEnd(thread.trashedAt)}`}
          </Fine>
          {claim !== null && (
            <Fine className="postroom-wrap" title={`Claimed until ${exactTime(claim.expiresAt)}`}>
              {claim.holder} is replying
            </Fine>
          )}
          <PresenceNote threadId={id} isReplying={isReplying(inbox.view)} />
          {thread.labels.map((label) => (
            <Tag
              key={label}
              h={26}
              pr={0}
              rightSection={
                <CloseButton
                  {...needs('organize')}
                  size={24}
                  iconSize={14}
                  aria-label={`Remove label ${label}`}
                  onClick={() => void acts.label([id], [], [label])}
                />
              }
            >
              <bdi>{label}</bdi>
            </Tag>
          ))}
        </Group>
      </div>
      {isTrashed ? (
        <TrashTools ids={[id]} acts={acts} then={back} />
      ) : (
        <>
          <Group gap={6} wrap="nowrap">
            <Tool
              label={isArchived ? 'Unarchive (e)' : 'Archive (e)'}
              onClick={archive}
              icon={isArchived ? 'archive-off' : 'archive'}
            />
            <Tool label="Delete (#)" onClick={remove} icon="trash" />
          </Group>
          <Group gap={6} wrap="nowrap" visibleFrom="xs">
            <Tool isOwnMark={isInTeam} label="Mark as unread (u)" onClick={unread} icon="mail" />
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
              <IconButton label="Actions for this conversation" icon="dots" color="main" size="lg" />
            </Menu.Target>
            <Menu.Dropdown>
              {last !== undefined && (
                <>
                  <ReplyItems emailId={last.id} compose={(compose) => inbox.go({ compose })} />
                  <Menu.Divider />
                </>
              )}
              <MenuAction
                label={isArchived ? 'Unarchive' : 'Archive'}
                icon="archive"
                needed="organize"
                onClick={archive}
              />
              <MenuAction
                label="Mark as unread"
                icon="mail"
                needed={isInTeam ? 'notes' : 'organize'}
                onClick={unread}
              />
              <MenuAction label="Delete" icon="trash" needed="organize" onClick={remove} />
            </Menu.Dropdown>
          </Menu>
        </>
      )}
    </Group>
  );
}

/** Says who else reads the conversation or replies to it, and shows others that the signed-in person does. */
function PresenceNote({ threadId, isReplying }: { threadId: string; isReplying: boolean }) {
  const present = usePresence(threadId, isReplying);
  const replying = present.filter(({ state }) => state === 'REPLYING').map(({ name }) => name);
  const reading = present.filter(({ state }) => state === 'READING').map(({ name }) => name);
  const text = [
    ...(replying.length > 0 ? [`${inWords(replying)} replying`] : []),
    ...(reading.length > 0 ? [`${inWords(reading)} reading`] : []),
  ].join(', ');
  return (
    <Fine truncate miw={0} title={text} role="status" fw={replying.length > 0 ? 600 : undefined}>
      {text}
    </Fine>
  );
}

/** Maximum names that are shown. */
const MAX_NAMES = 3;

/** Returns for example `Ann is`, `Ann and Bob are` or `Ann, Bob, Eve and 2 more are`. */
function inWords(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  const shown = more > 0 ? [...names.slice(0, MAX_NAMES), `${more} more`] : names;
  const last = shown.at(-1) ?? '';
  return shown.length < 2 ? `${last} is` : `${shown.slice(0, -1).join(', ')} and ${last} are`;
}

const SET = mutation('setThreadPresence', 'present { personId name state isYou }');

const FOLLOWED = `subscription InboxPresence($threadId: ID!) {
  threadPresence(threadId: $threadId) { personId name state isYou }
}`;

/** The text is sent; the parsed document provides the types. */
const PARSED = graphql(FOLLOWED);

type Present = ResultOf<typeof PARSED>['threadPresence'][number];

/** The presence ends after a minute unless it is renewed. Milliseconds. */
const RENEW_MS = 25_000;
/** Milliseconds until a lost subscription is opened again. */
const RETRY_MS = 10_000;

/** Shows others that the person reads or replies to a conversation while the page is visible; returns who else does. */
function usePresence(threadId: string, isReplying: boolean): Present[] {
  const client = useClient();
  const { isTeam } = useTeam();
  const isOn = useRight('notes') && isTeam;
  const [present, setPresent] = useState<Present[]>([]);
  const doing = useRef<'READING' | 'REPLYING'>('READING');
  doing.current = isReplying ? 'REPLYING' : 'READING';
  // One request at a time, so that none overtakes another.
  const sent = useRef<Promise<unknown>>(Promise.resolve());
  const tell = useEffectEvent((id: string, isGone: boolean) => {
    const state = isGone ? 'GONE' : doing.current;
    sent.current = sent.current.then(() => client.mutation(SET, { input: { threadId: id, state } }).toPromise());
  });
  useEffect(() => {
    if (!isOn) return;
    const renew = () => document.visibilityState === 'visible' && tell(threadId, false);
    const change = () => tell(threadId, document.visibilityState !== 'visible');
    const timer = window.setInterval(renew, RENEW_MS);
    document.addEventListener('visibilitychange', change);
    return () => {
      window.clearInterval(timer);
      document.removeEventListener('visibilitychange', change);
      tell(threadId, true);
    };
  }, [isOn, threadId]);
  useEffect(() => {
    if (isOn && document.visibilityState === 'visible') tell(threadId, false);
  }, [isOn, threadId, isReplying]);

  useEffect(() => {
    if (!isOn) return;
    const ending = new AbortController();
    void follow(threadId, ending.signal, setPresent);
    return () => {
      ending.abort();
      setPresent([]);
    };
  }, [isOn, threadId]);
  return present.filter(({ isYou }) => !isYou);
}

/** Subscribes, and again after the subscription was lost, until the signal is aborted. */
async function follow(threadId: string, signal: AbortSignal, show: (present: Present[]) => void): Promise<void> {
  const request = { query: FOLLOWED, variables: { threadId } };
  for (; !signal.aborted; await pause(RETRY_MS, signal)) {
    try {
      for await (const { threadPresence } of subscribe<{ threadPresence: Present[] }>(request, signal))
        show(threadPresence);
    } catch {
      // Who is present is shown again when the subscription is.
    }
  }
}
