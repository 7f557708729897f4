import { Button, Code, Group, Popover, Stack, Text } from '@mantine/core';
import type { ReactElement } from 'react';

/** Search operators, each with an example that can be inserted into the field. */
const OPERATORS = [
  { text: 'from:', about: 'the sender, such as from:ann or from:example.com' },
  { text: 'to:', about: 'a recipient' },
  { text: 'subject:', about: 'a word in the subject' },
  { text: 'domain:', about: 'a domain on either side' },
  { text: 'label:', about: 'a label, such as label:"to do"' },
  { text: 'assigned:me', about: 'assigned to you; also assigned:none, assigned:ann@example.com' },
  { text: 'has:attachment', about: 'with attachments' },
  { text: 'is:unread', about: 'unread; also is:read, is:archived' },
  { text: 'in:trash', about: 'in the trash' },
  { text: 'in:sent', about: 'sent by you; also in:received, in:scheduled' },
  { text: 'after:7d', about: 'in the last 7 days; after:2026-02-01' },
  { text: 'before:', about: 'older than a date, such as before:2026-02-01' },
  { text: '-', about: 'excludes a word or operator, such as -draft or -from:shop.test' },
  { text: '"annual report"', about: 'an exact phrase' },
];

/** The search operators beside their button, `target`. It is loaded when the user opens it, so it starts open. */
export function SearchHelp({
  target,
  close,
  insert,
}: {
  target: ReactElement;
  close: () => void;
  insert: (text: string) => void;
}) {
  return (
    <Popover
      opened
      onChange={(isOpen) => !isOpen && close()}
      position="bottom-end"
      width={340}
      trapFocus
      returnFocus
      withRoles
    >
      <Popover.Target>{target}</Popover.Target>
      <Popover.Dropdown aria-label="Search operators">
        <OperatorList
          insert={(text) => {
            close();
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
