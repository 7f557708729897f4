import { ActionIcon, Button, CloseButton, Code, Group, Popover, Stack, Text, TextInput } from '@mantine/core';
import { IconHelp, IconSearch } from '@tabler/icons-react';
import { type FormEvent, type RefObject, useEffect, useImperativeHandle, useState } from 'react';

/** What a search may be written of, each with an example that can be put into the field. */
export const OPERATORS = [
  { text: 'from:', about: 'the sender, as from:ann or from:example.com' },
  { text: 'to:', about: 'a recipient' },
  { text: 'subject:', about: 'a word of the subject' },
  { text: 'domain:', about: 'a domain on either side' },
  { text: 'label:', about: 'a label, as label:"to do"' },
  { text: 'has:attachment', about: 'with files' },
  { text: 'is:unread', about: 'not read yet; is:read, is:archived' },
  { text: 'in:sent', about: 'written by you; in:received, in:scheduled' },
  { text: 'after:7d', about: 'of the last 7 days; after:2026-02-01' },
  { text: 'before:', about: 'older, as before:2026-02-01' },
  { text: '-', about: 'without it, as -draft or -from:shop.test' },
  { text: '"annual report"', about: 'these words next to each other' },
];

export interface InboxSearchProps {
  search: string;
  setSearch: (search: string) => void;
  field: RefObject<HTMLInputElement | null>;
  /** told how to put an operator into the field */
  inserter: RefObject<((text: string) => void) | null>;
}

/** The search field, which says what it understands. The search runs when it is sent off. */
export function InboxSearch({ search, setSearch, field, inserter }: InboxSearchProps) {
  const [typed, setTyped] = useState(search);
  useEffect(() => setTyped(search), [search]);
  const submit = (event: FormEvent) => {
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
          placeholder="Search, as from:ann has:attachment"
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
                  aria-label="Clear the search"
                  onClick={() => {
                    setTyped('');
                    setSearch('');
                    field.current?.focus();
                  }}
                />
              )}
              <SearchHelp insert={insert} />
            </Group>
          }
        />
      </div>
    </form>
  );
}

function SearchHelp({ insert }: { insert: (text: string) => void }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={340} trapFocus returnFocus withRoles>
      <Popover.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-label="What can be searched for"
          onClick={() => setOpen(!isOpen)}
        >
          <IconHelp size={18} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label="What can be searched for">
        <OperatorList
          insert={(text) => {
            setOpen(false);
            insert(text);
          }}
        />
      </Popover.Dropdown>
    </Popover>
  );
}

/** The operators, each a button that puts it into the search. */
export function OperatorList({ insert }: { insert: (text: string) => void }) {
  return (
    <Stack gap={4}>
      <Text size="xs" c="dimmed">
        Words are looked for in subject, people and text. All that is given has to be true of one email.
      </Text>
      {OPERATORS.map(({ text, about }) => (
        <Group key={text} gap="xs" wrap="nowrap" align="baseline">
          <Button size="compact-xs" variant="default" miw={118} onClick={() => insert(text)} aria-label={`Add ${text}`}>
            <Code bg="transparent" p={0}>
              {text}
            </Code>
          </Button>
          <Text size="xs">{about}</Text>
        </Group>
      ))}
    </Stack>
  );
}
