import {
  ActionIcon,
  AppShell,
  Badge,
  Burger,
  Group,
  Menu,
  NavLink,
  ScrollArea,
  Text,
  Tooltip,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconLogout, IconMoon, IconSettings, IconSun, IconSunMoon, IconUser } from '@tabler/icons-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { useLiveState } from '../live/live-context.tsx';
import { places } from './navigation.ts';
import { useViewer } from './session.tsx';
import { signOut } from './sign-out.ts';

/** The page around a page: header, navigation, and where the keyboard begins. */
export function Frame({ children }: { children: ReactNode }) {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const [location] = useLocation();
  const main = useRef<HTMLElement>(null);
  const previous = useRef(location);
  useEffect(() => {
    close();
    // Whoever went to another page by keyboard or screen reader begins there.
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
            <SchemeMenu />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar aria-label="Main">
        <ScrollArea p="xs">
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
                  active={sectionOf(location) === path}
                  aria-current={sectionOf(location) === path ? 'page' : undefined}
                  py={6}
                />
              ))}
            </div>
          ))}
        </ScrollArea>
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

function LiveBadge() {
  const state = useLiveState();
  const words = {
    connecting: ['Connecting', 'gray', 'The feed of events is being opened.'],
    live: ['Live', 'green', 'What happens appears by itself.'],
    waiting: [
      'Reconnecting',
      'yellow',
      'The connection is gone and is tried again. Nothing that happens meanwhile is missed.',
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

function SchemeMenu() {
  const { setColorScheme } = useMantineColorScheme();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="default" size="lg" aria-label="Light or dark">
          <IconSunMoon size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconSun size={16} />} onClick={() => setColorScheme('light')}>
          Light
        </Menu.Item>
        <Menu.Item leftSection={<IconMoon size={16} />} onClick={() => setColorScheme('dark')}>
          Dark
        </Menu.Item>
        <Menu.Item leftSection={<IconSunMoon size={16} />} onClick={() => setColorScheme('auto')}>
          As the system
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function AccountMenu() {
  const { email } = useViewer();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="default" size="lg" aria-label={`Account ${email ?? ''}`}>
          <IconUser size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{email}</Menu.Label>
        <Menu.Item component={Link} href="/settings" leftSection={<IconSettings size={16} />}>
          Settings
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
