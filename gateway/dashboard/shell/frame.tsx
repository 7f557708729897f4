import { ActionIcon, AppShell, Badge, Box, Burger, Group, NavLink, Text, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconActivity,
  IconAt,
  IconBan,
  IconBook,
  IconCalendarClock,
  IconChecks,
  IconGauge,
  IconInbox,
  IconKey,
  IconListCheck,
  IconPencil,
  IconPlugConnected,
  IconSettings,
  IconShieldHalf,
  IconUser,
  IconWorld,
} from '@tabler/icons-react';
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { graphql } from '../graphql.ts';
import { useLiveState } from '../live/live-context.tsx';
import { useLiveQuery } from '../live/use-live-query.ts';
import { useViewer } from './viewer.ts';

const AccountMenu = lazy(async () => ({ default: (await import('./account-menu.tsx')).AccountMenu }));

/** Layout of all pages: header, navigation, skip link. */
export function Frame({ children }: { children: ReactNode }) {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const [location] = useLocation();
  const main = useRef<HTMLElement>(null);
  const previous = useRef(location);
  useEffect(() => {
    close();
    // Moves the focus to the new page, for keyboard and screen reader users.
    if (sectionOf(previous.current) !== sectionOf(location)) main.current?.focus({ preventScroll: true });
    previous.current = location;
  }, [location, close]);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 236, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <a className="postroom-skip" href="#main">
        Skip to content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Navigation" />
            <Link href="/" aria-label="Postroom, overview" style={{ display: 'flex' }}>
              <img src="/postroom.svg" alt="" width={28} height={28} />
            </Link>
            <Text fw={650} visibleFrom="xs">
              Postroom
            </Text>
            <LiveBadge />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <AccountButton />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar aria-label="Main">
        <Box p="xs" style={{ overflowY: 'auto' }}>
          {places.map((group) => (
            <div key={group.heading ?? ''}>
              {group.heading !== null && (
                <Text size="xs" c="dimmed" fw={600} px="sm" pt="md" pb={4}>
                  {group.heading}
                </Text>
              )}
              {group.places.map(({ path, label, icon: Icon }) => (
                <NavLink
                  key={path}
                  component={Link}
                  href={path}
                  label={label}
                  leftSection={<Icon size={18} stroke={1.7} aria-hidden />}
                  rightSection={
                    path === '/drafts' ? <DraftCount /> : path === '/approvals' ? <ApprovalCount /> : undefined
                  }
                  active={sectionOf(location) === path}
                  aria-current={sectionOf(location) === path ? 'page' : undefined}
                  py={6}
                />
              ))}
            </div>
          ))}
        </Box>
      </AppShell.Navbar>
      <AppShell.Main id="main" ref={main} tabIndex={-1} style={{ outline: 'none' }}>
        {children}
      </AppShell.Main>
    </AppShell>
  );
}

function sectionOf(location: string): string {
  return `/${location.split('/')[1] ?? ''}`;
}

const DRAFT_COUNT = graphql(`
  query DraftCount { drafts(first: 1) { totalCount } }
`);

function DraftCount() {
  const { data } = useLiveQuery({
    query: DRAFT_COUNT,
    variables: {},
    kinds: ['EMAIL_SENT', 'EMAIL_SCHEDULED'],
    types: ['Draft', 'DeleteDraftPayload', 'SendDraftPayload'],
  });
  const count = data?.drafts.totalCount ?? 0;
  return count === 0 ? null : (
    <Badge variant="default" size="sm" aria-label={count === 1 ? '1 draft' : `${count} drafts`}>
      {count}
    </Badge>
  );
}

const APPROVAL_COUNT = graphql(`
  query ApprovalCount { emails(first: 1, filter: { status: AWAITING_APPROVAL, timeRange: ALL }) { totalCount } }
`);

function ApprovalCount() {
  const { data } = useLiveQuery({
    query: APPROVAL_COUNT,
    variables: {},
    kinds: ['EMAIL_APPROVAL_REQUESTED', 'EMAIL_APPROVED', 'EMAIL_REJECTED', 'EMAIL_CANCELLED'],
    types: ['Email', 'ApproveEmailPayload', 'RejectEmailPayload'],
  });
  const count = data?.emails.totalCount ?? 0;
  return count === 0 ? null : (
    <Badge variant="default" size="sm" aria-label={count === 1 ? '1 email to approve' : `${count} emails to approve`}>
      {count}
    </Badge>
  );
}

function LiveBadge() {
  const state = useLiveState();
  const words = {
    connecting: ['Connecting', 'gray', 'Connecting to live events.'],
    live: ['Live', 'green', 'This page updates automatically.'],
    waiting: [
      'Reconnecting',
      'yellow',
      'The connection was lost. Postroom reconnects automatically and no events are missed.',
    ],
  } as const;
  const [label, color, about] = words[state];
  return (
    <Tooltip label={about}>
      <Badge variant="dot" color={color} role="status" visibleFrom="xs" data-live={state}>
        {label}
      </Badge>
    </Tooltip>
  );
}

/** Account button. Its menu is loaded on first use. */
function AccountButton() {
  const { email } = useViewer();
  const [isOpen, setOpen] = useState(false);
  const button = (
    <ActionIcon
      variant="default"
      size="lg"
      aria-label={`Account ${email ?? ''}`}
      aria-haspopup="menu"
      aria-expanded={isOpen}
      onClick={() => setOpen(!isOpen)}
    >
      <IconUser size={18} aria-hidden />
    </ActionIcon>
  );
  return isOpen ? (
    <Suspense fallback={button}>
      <AccountMenu email={email} target={button} close={() => setOpen(false)} />
    </Suspense>
  ) : (
    button
  );
}

/** One entry of the navigation. */
interface Place {
  path: string;
  label: string;
  icon: typeof IconInbox;
}

/** Groups of navigation entries, each with its heading (null: none). */
const places: { heading: string | null; places: Place[] }[] = [
  {
    heading: null,
    places: [
      { path: '/', label: 'Overview', icon: IconGauge },
      { path: '/inbox', label: 'Inbox', icon: IconInbox },
      { path: '/activity', label: 'Activity', icon: IconActivity },
      { path: '/drafts', label: 'Drafts', icon: IconPencil },
      { path: '/approvals', label: 'Approvals', icon: IconChecks },
      { path: '/scheduled', label: 'Scheduled', icon: IconCalendarClock },
      { path: '/held', label: 'Held and blocked', icon: IconListCheck },
    ],
  },
  {
    heading: 'Receiving and routing',
    places: [
      { path: '/domains', label: 'Domains', icon: IconWorld },
      { path: '/addresses', label: 'Addresses', icon: IconAt },
      { path: '/endpoints', label: 'Endpoints', icon: IconPlugConnected },
      { path: '/rules', label: 'Guard rules', icon: IconShieldHalf },
      { path: '/suppressions', label: 'Suppressions', icon: IconBan },
    ],
  },
  {
    heading: 'Developers',
    places: [
      { path: '/keys', label: 'API keys', icon: IconKey },
      { path: '/reference', label: 'Explorer and reference', icon: IconBook },
      { path: '/settings', label: 'Settings', icon: IconSettings },
    ],
  },
];
