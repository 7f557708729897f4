import { ActionIcon, Button, CloseButton, Code, Group, Popover, Stack, Text, TextInput } from '@mantine/core';
import { IconHelp, IconSearch } from '@tabler/icons-react';
import { type RefObject, type SubmitEvent, useEffect, useImperativeHandle, useState } from 'react';

/** Search operators, each with an example that can be inserted into the field. */
const OPERATORS = [
  { text: 'from:', about: 'the sender, such as from:ann or from:example.com' },
  { text: 'to:', about: 'a recipient' },
  { text: 'subject:', about: 'a word in the subject' },
  { text: 'domain:', about: 'a domain on either side' },
  { text: 'label:', about: 'a label, such as label:"to do"' },
  { text: 'has:attachment', about: 'with attachments' },
  { text: 'is:unread', about: 'unread; also is:read, is:archived' },
  { text: 'in:trash', about: 'in the trash' },
  { text: 'in:sent', about: 'sent by you; also in:received, in:scheduled' },
  { text: 'after:7d', about: 'in the last 7 days; after:2026-02-01' },
  { text: 'before:', about: 'older than a date, such as before:2026-02-01' },
  { text: '-', about: 'excludes a word or operator, such as -draft or -from:shop.test' },
  { text: '"annual report"', about: 'an exact phrase' },
];

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
          aria-label="Search operators"
          onClick={() => setOpen(!isOpen)}
        >
          <IconHelp size={18} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label="Search operators">
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

/** The operators, each a button that adds it to the search. */
export function OperatorList({ insert }: { insert: (text: string) => void }) {
  return (
    <Stack gap={4}>
      <Text size="xs" c="dimmed">
        Words match the subject, people and text. One email has to match everything.
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
