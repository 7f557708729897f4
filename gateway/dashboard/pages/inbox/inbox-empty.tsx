import { Anchor, Button, Code, Group, Paper, Popover, Stack, Text } from '@mantine/core';
import type { ReactElement, ReactNode } from 'react';
import { useQuery } from 'urql';
import { Command } from '../../parts/command.tsx';
import { MainButton, QuietButton } from '../../parts/controls.tsx';
import { Icon, type IconName } from '../../parts/icons.ts';
import { EmptyState } from '../../parts/page.tsx';
import { Fine, Hint, Small, TextLink } from '../../parts/text.tsx';
import { useIsInTeam, useRight } from '../../shell/viewer.ts';
import { FIRST_MAIL, type InboxFrame, SUGGESTED_SEARCH } from './inbox-documents.ts';
import { type InboxView, OPERATORS, readWantedThreads } from './inbox-view.ts';

interface InboxEmptyProps {
  view: InboxView;
  frame: InboxFrame | undefined;
  /** removes all conditions */
  clear: () => void;
  /** adds an operator to the search */
  insert: (text: string) => void;
  searchFor: (search: string) => void;
}

/** Shown when the list is empty: the reason and the next step. */
export function InboxEmpty({ view, frame, clear, insert, searchFor }: InboxEmptyProps) {
  const { folder, search, label, address, assigned } = view;
  const maySetUp = useRight('domains');
  if (search !== '')
    return (
      <Note icon="search-off" title="No results" about={`No email matches ${search}`}>
        <Suggestion view={view} searchFor={searchFor} />
        <QuietButton label="Clear search" size="xs" onClick={clear} />
        <Paper withBorder p="sm" w="100%">
          <OperatorList insert={insert} />
        </Paper>
      </Note>
    );
  if (label !== null || address !== null || assigned !== null)
    return (
      <Note icon="mail-off" title="No conversations" about="No conversation has this label, address and assignee.">
        <QuietButton label="Show all conversations" size="xs" onClick={clear} />
      </Note>
    );
  const empty = EMPTY_FOLDERS[folder];
  if (empty !== undefined) return <Note icon={empty[0]} title={empty[1]} about={empty[2]} />;
  if (frame === undefined) return null;
  if (!maySetUp) return <Note icon="inbox" title="The inbox is empty" about="New mail appears here automatically." />;
  if (frame.domains.edges.length === 0)
    return (
      <EmptyState
        icon="world"
        title="No domains yet"
        about="To receive mail, add a domain and create an address on it. A trusted domain works at once."
      >
        <MainButton label="Add domain" href="/domains" />
      </EmptyState>
    );
  return <FirstMail />;
}

const EMPTY_FOLDERS: { [Folder in InboxView['folder']]?: [IconName, title: string, about: string] } = {
  trash: ['trash', 'The trash is empty', 'Deleted conversations stay here for 30 days. To delete one, press #.'],
  archived: ['mail-off', 'The archive is empty', 'Archived conversations appear here. To archive one, press e.'],
  snoozed: [
    'clock',
    'Nothing is snoozed',
    'Snoozed conversations wait here until their time or a reply. To snooze one, press b.',
  ],
  sent: ['mail-off', 'No sent mail', 'Conversations that you wrote in appear here.'],
  unread: ['mail-off', 'No unread mail', 'New mail appears here automatically.'],
};

/** Offers the search with words of the mail, if a word was mistyped. */
function Suggestion({ view, searchFor }: { view: InboxView; searchFor: (search: string) => void }) {
  const [{ data }] = useQuery({ query: SUGGESTED_SEARCH, variables: { ...readWantedThreads(view, useIsInTeam()) } });
  const suggested = readSuggestion(data?.inbox.suggestedSearch, view.folder);
  if (suggested === null) return null;
  return (
    <Small role="status">
      Did you mean{' '}
      <Anchor component="button" type="button" fw={600} size="sm" onClick={() => searchFor(suggested)}>
        {suggested}
      </Anchor>
      ?
    </Small>
  );
}

/** Returns the search without what a folder adds to it. */
function readSuggestion(suggested: string | null | undefined, folder: InboxView['folder']): string | null {
  if (suggested == null) return null;
  const added = `${OPERATORS[folder] ?? ''} `.trimStart();
  return suggested.startsWith(added) ? suggested.slice(added.length) : suggested;
}

/** How to get a first mail: commands that send one to an address of the workspace. */
export function FirstMail({ title = 'No mail yet' }: { title?: string }) {
  const [{ data }] = useQuery({ query: FIRST_MAIL, variables: {}, requestPolicy: 'cache-and-network' });
  if (data === undefined) return null;
  const first = data.viewer.firstMail;
  if (first === null)
    return (
      <EmptyState icon="inbox" title="No addresses yet" about="None of your addresses can receive mail yet.">
        <MainButton label="Create address" href="/addresses" />
      </EmptyState>
    );
  return (
    <EmptyState
      icon="inbox"
      title={title}
      about="Mail to your addresses appears here as soon as it arrives. Send the first email:"
    >
      <Stack gap="xs" w="100%">
        <Command label="Copy swaks command" text={first.swaks} />
        <Command label="Copy curl command" text={first.curl} />
        <Hint ta="center">
          Or <TextLink href="/inbox?compose=new">write an email</TextLink> to {first.address} from here.
        </Hint>
      </Stack>
    </EmptyState>
  );
}

type NoteProps = { icon: IconName; title: string; about: string; children?: ReactNode };

/** Like EmptyState, but small enough for the list pane. */
function Note({ icon, title, about, children }: NoteProps) {
  return (
    <Stack align="center" gap="xs" p="md">
      <Icon name={icon} size={30} stroke={1.5} />
      <Text fw={600}>{title}</Text>
      <Hint ta="center" className="postroom-wrap">
        {about}
      </Hint>
      {children}
    </Stack>
  );
}

/** Search operators, each with an example that can be inserted into the field. */
const SEARCH_OPERATORS = [
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

type SearchHelpProps = { target: ReactElement; close: () => void; insert: (text: string) => void };

/** The search operators beside their button, `target`. It is loaded when the user opens it, so it starts open. */
export function SearchHelp({ target, close, insert }: SearchHelpProps) {
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
function OperatorList({ insert }: { insert: (text: string) => void }) {
  return (
    <Stack gap={4}>
      <Fine>Words match the subject, people and text. One email has to match everything.</Fine>
      {SEARCH_OPERATORS.map(({ text, about }) => (
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
