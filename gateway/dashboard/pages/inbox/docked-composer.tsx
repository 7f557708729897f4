import { ActionIcon, Group, Text, Title } from '@mantine/core';
import { type KeyboardEvent, lazy, Suspense, useState } from 'react';
import { titleOf } from '../../composer/draft.ts';
import { IconChevronDown, IconChevronUp, IconX } from '../../parts/icons.ts';
import { FieldComing } from '../../shell/keys.ts';
import style from './inbox.module.css';
import type { Composing } from './inbox-view.ts';

const Composer = lazy(async () => ({ default: (await import('../../composer/composer.tsx')).Composer }));

/**
 * The composer of a reply or a forwarded email, below the open conversation. It stays when another conversation is opened, and shows its
 * buttons however long the email is.
 */
export function DockedComposer({
  composing,
  close,
}: {
  composing: Exclude<Composing, { mode: 'new' }>;
  close: () => void;
}) {
  const { mode, emailId, draftId } = composing;
  const [isSmall, setSmall] = useState(false);
  const Icon = isSmall ? IconChevronUp : IconChevronDown;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Esc does what the button does
    <section
      className={style['dock']}
      aria-label={titleOf(mode)}
      data-small={isSmall || undefined}
      onKeyDown={(event) => isEscape(event) && close()}
    >
      <Group justify="space-between" px="sm" py={4} wrap="nowrap">
        <Title order={3} size="h5">
          {titleOf(mode)}
        </Title>
        {isSmall && (
          <Text size="xs" c="dimmed" truncate>
            The draft is kept
          </Text>
        )}
        <Group gap={2} wrap="nowrap">
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={isSmall ? 'Show composer' : 'Minimize composer'}
            aria-expanded={!isSmall}
            onClick={() => setSmall(!isSmall)}
          >
            <Icon size={18} aria-hidden />
          </ActionIcon>
          <ActionIcon variant="subtle" color="gray" aria-label="Close and keep draft" onClick={close}>
            <IconX size={18} aria-hidden />
          </ActionIcon>
        </Group>
      </Group>
      <div className={style['dockBody']} hidden={isSmall}>
        <Suspense fallback={<FieldComing cancel={close} />}>
          <Composer mode={mode} emailId={emailId} draftId={draftId} close={close} />
        </Suspense>
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
