import { ActionIcon, Group, Paper, Title } from '@mantine/core';
import { type KeyboardEvent, lazy, Suspense, useEffect, useImperativeHandle, useRef } from 'react';
import { titleOf } from '../../composer/draft.ts';
import { IconX } from '../../parts/icons.ts';
import { ThreadView } from './thread-view.tsx';
import type { Inbox } from './use-inbox.ts';
import { useThread } from './use-thread.ts';

const Composer = lazy(async () => ({ default: (await import('../../composer/composer.tsx')).Composer }));

/** The open conversation with its reply. */
export function Reading({ inbox, threadId }: { inbox: Inbox; threadId: string }) {
  const { view, go, pathOf, acts, answered } = inbox;
  const { compose } = view;
  const inSight = useThread(threadId);
  const { messages } = inSight;
  const answeredId = (messages.findLast(({ type }) => type === 'RECEIVED') ?? messages.at(-1))?.id ?? null;
  useImperativeHandle<string | null, string | null>(answered, () => answeredId, [answeredId]);
  const closeAnswer = () => {
    go({ compose: null });
    // The focus was in the composer, which is gone.
    requestAnimationFrame(() => document.querySelector<HTMLElement>('[data-messages]')?.focus({ preventScroll: true }));
  };
  return (
    <ThreadView
      inSight={inSight}
      labels={inbox.frame?.labels ?? []}
      acts={acts}
      isLabelling={inbox.isLabelling && inbox.selected.length === 0}
      setLabelling={inbox.setLabelling}
      back={inbox.back}
      backHref={pathOf({ threadId: null, compose: null })}
      compose={(composing) => go({ compose: composing })}
      opened={(id) => go({ threadId: id, compose: null })}
    >
      {compose !== null && compose.mode !== 'new' ? (
        <AnswerPanel title={titleOf(compose.mode)} close={closeAnswer}>
          <Suspense>
            <Composer
              key={`${compose.mode} ${compose.emailId}`}
              mode={compose.mode}
              emailId={compose.emailId}
              draftId={compose.draftId}
              close={closeAnswer}
            />
          </Suspense>
        </AnswerPanel>
      ) : undefined}
    </ThreadView>
  );
}

/** Container of the reply composer, which scrolls into view. */
function AnswerPanel({ title, close, children }: { title: string; close: () => void; children: React.ReactNode }) {
  const panel = useRef<HTMLDivElement>(null);
  // In braces, because React would take a returned value for a cleanup function.
  useEffect(() => {
    panel.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- Esc does what the button does
    <Paper withBorder p="sm" radius="md" ref={panel} onKeyDown={(event) => isEscape(event) && close()}>
      <Group justify="space-between" mb="xs">
        <Title order={3}>{title}</Title>
        <ActionIcon variant="subtle" color="gray" aria-label="Close and keep draft" onClick={close}>
          <IconX size={18} aria-hidden />
        </ActionIcon>
      </Group>
      {children}
    </Paper>
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
