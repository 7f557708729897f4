import { Popover, ScrollArea, Stack, TextInput } from '@mantine/core';
import { type KeyboardEvent, useEffect, useEffectEvent, useState } from 'react';
import { QuietButton } from '../parts/controls.tsx';
import { Icon } from '../parts/icons.ts';
import { Fine, PageLink } from '../parts/text.tsx';
import type { Snippet } from './composer-documents.ts';

export interface SnippetMenuProps {
  snippets: readonly Snippet[];
  isOpen: boolean;
  setOpen: (isOpen: boolean) => void;
  choose: (snippet: Snippet) => void;
  /** called when the user leaves without a choice, with what was typed */
  leave: (typed: string) => void;
  /** called when the list is on the page */
  shown: () => void;
}

/** The button that inserts a snippet, with its list: what is typed finds one, Enter takes the first. */
export function SnippetMenu({ snippets, isOpen, setOpen, choose, leave, shown }: SnippetMenuProps) {
  const [typed, setTyped] = useState('');
  const wanted = typed.trim().toLowerCase();
  const found = snippets.filter(({ name, text }) => `${name}\n${text}`.toLowerCase().includes(wanted));
  const take = (snippet: Snippet) => {
    setOpen(false);
    setTyped('');
    choose(snippet);
  };
  const close = () => {
    setOpen(false);
    leave(typed);
    setTyped('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      // Esc closes the list, not the composer.
      event.stopPropagation();
      close();
    }
    if (event.key !== 'Enter' || found[0] === undefined || event.target instanceof HTMLButtonElement) return;
    event.preventDefault();
    event.stopPropagation();
    take(found[0]);
  };
  return (
    <Popover
      opened={isOpen}
      onChange={(open) => (open ? setOpen(true) : close())}
      closeOnEscape={false}
      position="bottom-end"
      width={280}
      trapFocus
      withRoles
    >
      <Popover.Target>
        <QuietButton
          label="Snippet"
          size="compact-xs"
          leftSection={<Icon name="bolt" size={14} />}
          title="Insert snippet (/)"
          onClick={() => setOpen(!isOpen)}
        />
      </Popover.Target>
      <Popover.Dropdown aria-label="Snippets" onKeyDown={onKeyDown}>
        <Stack gap={4}>
          <Shown tell={shown} />
          {snippets.length > 0 && (
            <TextInput
              size="xs"
              label="Find snippet"
              value={typed}
              maxLength={64}
              onChange={(event) => setTyped(event.currentTarget.value)}
              data-autofocus
              data-mantine-stop-propagation
            />
          )}
          <ScrollArea.Autosize mah={220}>
            {found.map((snippet) => (
              <QuietButton
                label={snippet.name}
                key={snippet.id}
                variant="subtle"
                color="gray"
                size="xs"
                justify="flex-start"
                fullWidth
                title={snippet.text}
                data-mantine-stop-propagation
                onClick={() => take(snippet)}
              />
            ))}
          </ScrollArea.Autosize>
          {found.length === 0 && (
            <Fine>
              {snippets.length === 0 ? 'No snippets yet. Create them in the settings.' : 'No snippet matches.'}
            </Fine>
          )}
          <PageLink href="/settings?tab=snippets" size="xs">
            Manage snippets
          </PageLink>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

function Shown({ tell }: { tell: () => void }): null {
  const told = useEffectEvent(tell);
  useEffect(() => told(), []);
  return null;
}
