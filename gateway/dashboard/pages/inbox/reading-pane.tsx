import { Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { nameMode } from '../../composer/draft.ts';
import { IconButton } from '../../parts/controls.tsx';
import { Fine, Hint } from '../../parts/text.tsx';
import { FieldComing } from '../../shell/keys.ts';
import { later } from '../../shell/loading.tsx';
import style from './inbox.module.css';
import type { Composing } from './inbox-view.ts';
import { indexOfThread, rowAt } from './thread-pages.ts';
import type { Inbox } from './use-inbox.ts';

// The list is shown before the code of a conversation is loaded.
const Reading = later(
  async () => (await import('./thread-view.tsx')).Reading,
  ({ waiting }) => waiting,
);

/** The open conversation, or a hint to open one, and below it what is being written. */
export function ReadingPane({ inbox }: { inbox: Inbox }) {
  const { threadId, compose } = inbox.view;
  const composing = compose === null || compose.mode === 'new' ? null : compose;
  const { pages } = inbox.list;
  const listed = threadId === null ? null : rowAt(pages, indexOfThread(pages, threadId));
  const waiting = <Waiting subject={listed === null ? null : listed.node.subject || '(no subject)'} />;
  const close = () => {
    inbox.go({ compose: null });
    // The focus was in the composer, which is gone.
    requestAnimationFrame(() => document.querySelector<HTMLElement>('[data-messages]')?.focus({ preventScroll: true }));
  };
  return (
    <section
      className={`${style['pane']} ${style['reading']}`}
      aria-label="Conversation"
      data-reading={threadId !== null || undefined}
      data-composing={composing !== null || undefined}
    >
      {threadId === null ? (
        <NothingOpen />
      ) : (
        <Reading key={threadId} inbox={inbox} threadId={threadId} waiting={waiting} />
      )}
      {composing !== null && (
        <DockedComposer key={`${composing.mode} ${composing.emailId}`} composing={composing} close={close} />
      )}
    </section>
  );
}

/** The outline of a conversation that loads, with the subject that the list has. */
function Waiting({ subject }: { subject: string | null }) {
  return (
    <div className={style['thread']} aria-busy>
      <Stack p="xs">
        {subject === null ? (
          <Skeleton h={26} w="60%" />
        ) : (
          <Title order={2} size="h4" lineClamp={2}>
            {subject}
          </Title>
        )}
        <Skeleton h={90} />
        <Skeleton h={160} />
      </Stack>
    </div>
  );
}

function NothingOpen() {
  return (
    <Stack align="center" justify="center" gap="xs" flex={1} mih={0} p="md" data-nothing>
      <svg className={style['rack']} viewBox="0 0 96 74" aria-hidden>
        <path d="M2 2h92v70H2zM32.7 2v70M63.3 2v70M2 25.3h92M2 48.7h92" />
        <path d="M37.5 31h21v12.5h-21zl10.5 7 10.5-7" />
      </svg>
      <Text fw={600}>No conversation selected</Text>
      <Hint ta="center">Choose a conversation from the list. Press ? to see the keyboard shortcuts.</Hint>
    </Stack>
  );
}

const Composer = later(
  async () => (await import('../../composer/composer.tsx')).Composer,
  ({ close }) => <FieldComing cancel={close} />,
);

/**
 * The composer of a reply or a forwarded email, below the open conversation. It stays when another conversation is opened, and shows its
 * buttons however long the email is.
 */
function DockedComposer({ composing, close }: { composing: Exclude<Composing, { mode: 'new' }>; close: () => void }) {
  const { mode, emailId, draftId } = composing;
  const [isSmall, setSmall] = useState(false);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Esc does what the button does
    <section
      className={style['dock']}
      aria-label={nameMode(mode)}
      data-small={isSmall || undefined}
      onKeyDown={(event) => isEscape(event) && close()}
    >
      <Group justify="space-between" px="sm" py={4} wrap="nowrap">
        <Title order={3} size="h5">
          {nameMode(mode)}
        </Title>
        {isSmall && <Fine truncate>The draft is kept</Fine>}
        <Group gap={2} wrap="nowrap">
          <IconButton
            label={isSmall ? 'Show composer' : 'Minimize composer'}
            icon={isSmall ? 'chevron-up' : 'chevron-down'}
            aria-expanded={!isSmall}
            onClick={() => setSmall(!isSmall)}
          />
          <IconButton label="Close and keep draft" icon="x" onClick={close} />
        </Group>
      </Group>
      <div className={style['dockBody']} hidden={isSmall}>
        <Composer mode={mode} emailId={emailId} draftId={draftId} close={close} />
      </div>
    </section>
  );
}

/** Returns whether Esc was pressed for the composer, and not to close a list of suggestions or a menu in it. */
function isEscape({ key, target, defaultPrevented, currentTarget }: KeyboardEvent): boolean {
  if (key !== 'Escape' || defaultPrevented || !(target instanceof Element) || !currentTarget.contains(target))
    return false;
  const list = target.getAttribute('aria-controls');
  const isListOpen = list !== null && document.getElementById(list)?.checkVisibility() === true;
  return target.getAttribute('aria-expanded') !== 'true' && !isListOpen;
}
