import { Anchor, Button, Paper, Stack, Text } from '@mantine/core';
import { IconInbox, IconMailOff, IconSearchOff, IconWorld } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useQuery } from 'urql';
import { Link } from 'wouter';
import { Command } from '../../parts/command.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FIRST_MAIL, type InboxFrame } from './inbox-documents.ts';
import { OperatorList } from './inbox-search.tsx';
import type { InboxView } from './inbox-view.ts';

/** What the list shows when it has nothing: why, and the next step. */
export function InboxEmpty({
  view,
  frame,
  clear,
  insert,
}: {
  view: InboxView;
  frame: InboxFrame | undefined;
  /** drops all conditions */
  clear: () => void;
  /** puts an operator into the search */
  insert: (text: string) => void;
}) {
  const { folder, search, label, address } = view;
  if (search !== '')
    return (
      <Note icon={IconSearchOff} title="Nothing found" about={`No email fits all of: ${search}`}>
        <Button size="xs" variant="default" onClick={clear}>
          Clear the search
        </Button>
        <Paper withBorder p="sm" w="100%">
          <OperatorList insert={insert} />
        </Paper>
      </Note>
    );
  if (label !== null || address !== null)
    return (
      <Note icon={IconMailOff} title="Nothing here" about="No conversation has this label or this address here.">
        <Button size="xs" variant="default" onClick={clear}>
          Show all
        </Button>
      </Note>
    );
  if (folder === 'archived')
    return (
      <Note
        icon={IconMailOff}
        title="The archive is empty"
        about="Archive a conversation by the key e, and it comes here."
      />
    );
  if (folder === 'unread') return <Note icon={IconMailOff} title="All read" about="New mail appears here by itself." />;
  if (frame === undefined) return null;
  if (frame.domains.edges.length === 0)
    return (
      <EmptyState
        icon={IconWorld}
        title="No domain yet"
        about="Mail comes to addresses on a domain of yours. Add one first; a trusted one works at once."
      >
        <Button component={Link} href="/domains">
          Add a domain
        </Button>
      </EmptyState>
    );
  return <FirstMail />;
}

function FirstMail() {
  const [{ data }] = useQuery({ query: FIRST_MAIL, variables: {}, requestPolicy: 'cache-and-network' });
  if (data === undefined) return null;
  const first = data.viewer.firstMail;
  if (first === null)
    return (
      <EmptyState icon={IconInbox} title="No address yet" about="Mail reaches none of your addresses yet.">
        <Button component={Link} href="/addresses">
          Add an address
        </Button>
      </EmptyState>
    );
  return (
    <EmptyState
      icon={IconInbox}
      title="No mail yet"
      about="Mail to your addresses appears here the moment it comes in. Send the first:"
    >
      <Stack gap="xs" w="100%">
        <Command label="Copy the swaks command" text={first.swaks} />
        <Command label="Copy the curl command" text={first.curl} />
        <Text size="sm" c="dimmed" ta="center">
          Or{' '}
          <Anchor component={Link} underline="always" href="/inbox?compose=new" size="sm">
            write an email
          </Anchor>{' '}
          to {first.address} from here.
        </Text>
      </Stack>
    </EmptyState>
  );
}

/** As EmptyState, small enough for the list's pane. */
function Note({
  icon: Icon,
  title,
  about,
  children,
}: {
  icon: typeof IconInbox;
  title: string;
  about: string;
  children?: ReactNode;
}) {
  return (
    <Stack align="center" gap="xs" p="md">
      <Icon size={30} stroke={1.5} aria-hidden />
      <Text fw={600}>{title}</Text>
      <Text size="sm" c="dimmed" ta="center" className="postroom-wrap">
        {about}
      </Text>
      {children}
    </Stack>
  );
}
