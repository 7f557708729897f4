import { ActionIcon, CloseButton, Group, TextInput } from '@mantine/core';
import { lazy, type RefObject, type SubmitEvent, Suspense, useEffect, useImperativeHandle, useState } from 'react';
import { IconHelp, IconSearch } from '../../parts/icons.ts';

const SearchHelp = lazy(async () => ({ default: (await import('./search-help.tsx')).SearchHelp }));

export interface InboxSearchProps {
  search: string;
  setSearch: (search: string) => void;
  field: RefObject<HTMLInputElement | null>;
  /** receives a function that inserts an operator into the field */
  inserter: RefObject<((text: string) => void) | null>;
}

/** Search field with a list of its operators. The search runs when it is submitted. */
export function InboxSearch({ search, setSearch, field, inserter }: InboxSearchProps) {
  const [typed, setTyped] = useState(search);
  useEffect(() => setTyped(search), [search]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setSearch(typed.trim());
  };
  const insert = (text: string) => {
    setTyped((before) => (before.trim() === '' ? text : `${before.trimEnd()} ${text}`));
    field.current?.focus();
  };
  useImperativeHandle(inserter, () => insert);
  return (
    <form onSubmit={submit}>
      {/* A search landmark by role: the element of that name is not known everywhere. */}
      <div role="search">
        <TextInput
          ref={field}
          type="search"
          aria-label="Search mail"
          placeholder="Search, for example from:ann has:attachment"
          value={typed}
          maxLength={500}
          onChange={(event) => setTyped(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.currentTarget.blur();
          }}
          leftSection={<IconSearch size={16} aria-hidden />}
          rightSectionWidth={64}
          rightSection={
            <Group gap={2} wrap="nowrap">
              {typed !== '' && (
                <CloseButton
                  size="sm"
                  aria-label="Clear search"
                  onClick={() => {
                    setTyped('');
                    setSearch('');
                    field.current?.focus();
                  }}
                />
              )}
              <HelpButton insert={insert} />
            </Group>
          }
        />
      </div>
    </form>
  );
}

/** Button of the search operators, which are loaded on first use. */
function HelpButton({ insert }: { insert: (text: string) => void }) {
  const [isOpen, setOpen] = useState(false);
  const button = (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="sm"
      aria-label="Search operators"
      aria-haspopup="dialog"
      aria-expanded={isOpen}
      onClick={() => setOpen(!isOpen)}
    >
      <IconHelp size={18} aria-hidden />
    </ActionIcon>
  );
  if (!isOpen) return button;
  return (
    <Suspense fallback={button}>
      <SearchHelp target={button} close={() => setOpen(false)} insert={insert} />
    </Suspense>
  );
}
