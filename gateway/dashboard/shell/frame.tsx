import { Burger, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useLiveState } from '../live/live-context.tsx';
import { readStored } from '../parts/browser-storage.ts';
import { IconButton, NEEDED, type NeededRight } from '../parts/controls.tsx';
import { Icon, type IconName } from '../parts/icons.ts';
import { ApprovalCount, DraftCount, MentionNotices, UnreadCount } from './counts.tsx';
import style from './frame.module.css';
import { FieldComing, useShortcuts } from './keys.ts';
import { later, useIdleLoading } from './loading.tsx';
import { findChangeRight, findGuidePath, findPage, isShown, places } from './places.ts';
import { SavedViews } from './saved-views.tsx';
import { useViewer, type Viewer } from './viewer.ts';

const DesktopNotices = later(async () => (await import('./desktop-notices.tsx')).DesktopNotices);
const AccountMenu = later(
  async () => (await import('./account-menu.tsx')).AccountMenu,
  ({ target }) => target,
);
const CommandPalette = later(
  async () => (await import('./command-palette.tsx')).CommandPalette,
  ({ close }) => <FieldComing cancel={close} />,
);
const ShortcutsHelp = later(async () => (await import('./shortcuts-help.tsx')).ShortcutsHelp);
/** What the user is likely to open next, most likely first. */
const IDLE = [CommandPalette.load, ShortcutsHelp.load, AccountMenu.load];

/** Layout of all pages: skip links, navigation, and what can be opened over each page. */
export function Frame({ children }: { children: ReactNode }) {
  const [isNavigationOpen, setNavigationOpen] = useState(false);
  const [overlay, setOverlay] = useState<'palette' | 'help' | null>(null);
  // Read at each change of page, so that a change in the settings holds at once.
  const hasNotices = readStored('postroom-desktop-notices') === 'yes';
  const [location, navigate] = useLocation();
  const main = useRef<HTMLElement>(null);
  const previous = useRef(location);
  useEffect(() => {
    setNavigationOpen(false);
    // Moves the focus to the new page, for keyboard and screen reader users.
    const hasOwnFocus =
      document.activeElement?.closest('main, [role=dialog]') != null && document.activeElement !== main.current;
    if (findPage(previous.current, '') !== findPage(location, '') && !hasOwnFocus)
      main.current?.focus({ preventScroll: true });
    previous.current = location;
  }, [location]);
  useHiddenControls();
  useIdleLoading(IDLE);
  const openPalette = () => setOverlay('palette');
  const openHelp = () => setOverlay('help');
  useShortcuts({
    'Mod+k': openPalette,
    '?': openHelp,
    ...Object.fromEntries(
      places.flatMap((group) => group.places).map(({ key, path }) => [`g ${key}`, () => navigate(path)]),
    ),
  });
  const close = (closing: 'palette' | 'help') => setOverlay((now) => (now === closing ? null : now));
  return (
    <>
      <div className={style['frame']}>
        <SkipLinks location={location} />
        <header className={style['bar']}>
          <Burger
            opened={isNavigationOpen}
            onClick={() => setNavigationOpen(!isNavigationOpen)}
            size="sm"
            aria-label="Navigation"
            aria-expanded={isNavigationOpen}
          />
          <Link href="/" aria-label="Postroom, overview" style={{ display: 'flex' }}>
            <img src="/postroom.svg" alt="" width={24} height={24} />
          </Link>
          <IconButton
            label="Search or go to"
            icon="search"
            variant="default"
            size="lg"
            ml="auto"
            onClick={openPalette}
          />
        </header>
        <nav className={style['side']} aria-label="Main" data-open={isNavigationOpen || undefined}>
          <div className={style['top']}>
            <img src="/postroom.svg" alt="" width={22} height={22} />
            <span className={style['name']}>Postroom</span>
            <LiveDot />
          </div>
          <UnstyledButton className={style['find'] ?? ''} onClick={openPalette} aria-keyshortcuts="Control+K">
            <Icon name="search" size={15} />
            <span className={style['word']}>Search</span>
            <kbd className={style['keys']}>Ctrl K</kbd>
          </UnstyledButton>
          <Navigation location={location} />
          <Link href={findGuidePath(location)} className={style['place'] ?? ''} title="Guide to this page">
            <Icon name="help" size={17} stroke={1.7} />
            <span className={style['label']}>Guide to this page</span>
          </Link>
          <AccountButton />
        </nav>
        <main className={style['main']} id="main" ref={main} tabIndex={-1}>
          <RoleNote location={location} />
          {children}
        </main>
        <BottomBar location={location} />
      </div>
      {overlay === 'palette' && <CommandPalette close={() => close('palette')} openHelp={openHelp} />}
      <MentionNotices />
      {hasNotices && <DesktopNotices />}
      {overlay === 'help' && <ShortcutsHelp close={() => close('help')} />}
    </>
  );
}

/** Hides what the person may not use, also in dialogs and menus, which lie outside the frame. */
function useHiddenControls() {
  const { person } = useViewer();
  const lacked = person == null ? '' : NEEDED.filter((right) => !hasNeeded(person, right)).join(' ');
  useEffect(() => {
    document.documentElement.dataset['lacks'] = lacked;
    return () => {
      delete document.documentElement.dataset['lacks'];
    };
  }, [lacked]);
}

function hasNeeded({ rights, isLimited }: NonNullable<Viewer['person']>, needed: (typeof NEEDED)[number]): boolean {
  return needed === 'everything' ? !isLimited : rights.includes(needed);
}

/** What a thumb reaches on a phone, for those who may; who approves and does not send has the approvals. Wider pages have the navigation. */
const BOTTOM: { path: string; label: string; icon: IconName; right?: NeededRight; unless?: NeededRight }[] = [
  { path: '/', label: 'Overview', icon: 'gauge' },
  { path: '/inbox', label: 'Inbox', icon: 'inbox' },
  { path: '/inbox?compose=new', label: 'Write', icon: 'pencil-plus', right: 'send' },
  { path: '/approvals', label: 'Approvals', icon: 'checks', right: 'approve', unless: 'send' },
  { path: '/activity', label: 'Activity', icon: 'activity' },
];

function BottomBar({ location }: { location: string }) {
  const current = findPage(location, useSearch());
  const { person } = useViewer();
  const may = (right: NeededRight) => person == null || hasNeeded(person, right);
  const shown = BOTTOM.filter(
    ({ right, unless }) => (right === undefined || may(right)) && (unless === undefined || !may(unless)),
  );
  return (
    <nav className={style['bottom']} aria-label="Quick">
      {shown.map(({ path, label, icon }) => (
        <Link
          key={path}
          href={path}
          className={style['quick'] ?? ''}
          aria-current={path === current ? 'page' : undefined}
        >
          <Icon name={icon} size={22} stroke={1.7} />
          {label}
        </Link>
      ))}
    </nav>
  );
}

/** Links that the first Tab shows: to the content, and in the inbox to the first conversation. */
function SkipLinks({ location }: { location: string }) {
  const toList = () => document.querySelector<HTMLElement>('[role=grid] [role=row][tabindex="0"]');
  return (
    <>
      {location.startsWith('/inbox') && (
        <a
          className="postroom-skip"
          href="#main"
          onClick={(event) => {
            const row = toList();
            if (row === null) return;
            event.preventDefault();
            row.focus();
          }}
        >
          Skip to conversations
        </a>
      )}
      <a className="postroom-skip" href="#main">
        Skip to content
      </a>
    </>
  );
}

/** The places. One Tab stop; arrow keys move through it. */
function Navigation({ location }: { location: string }) {
  const person = useViewer().person ?? null;
  const current = findPage(location, useSearch());
  const [focused, setFocused] = useState<string | null>(null);
  const all = places.flatMap((group) => group.places.map(({ path }) => path));
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // With the layout of the next frame, instead of one of its own before it.
    const frame = requestAnimationFrame(() => {
      list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
    });
    return () => cancelAnimationFrame(frame);
  }, [current]);
  const tabStop = focused ?? (all.includes(current) ? current : '/');
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const links = [...event.currentTarget.querySelectorAll<HTMLElement>('a')];
    const at = links.findIndex((link) => link === document.activeElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
    if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    links[(next + links.length) % links.length]?.focus();
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the keys move between its links
    <div
      ref={list}
      className={style['nav']}
      role="group"
      aria-label="Pages"
      onKeyDown={onKeyDown}
      onBlur={() => setFocused(null)}
    >
      {places.map((group, index) => (
        <div key={group.heading ?? ''}>
          {index === 1 && <SavedViews />}
          {group.heading !== null && <div className={style['heading']}>{group.heading}</div>}
          {group.places
            .filter((place) => isShown(place, person))
            .map(({ path, label, icon }) => (
              <Link
                key={path}
                href={path}
                className={style['place'] ?? ''}
                tabIndex={path === tabStop ? 0 : -1}
                onFocus={() => setFocused(path)}
                aria-current={path === current ? 'page' : undefined}
                title={label}
              >
                <Icon name={icon} size={17} stroke={1.7} />
                <span className={style['label']}>{label}</span>
                {path === '/inbox' && <UnreadCount />}
                {path === '/drafts' && <DraftCount />}
                {path === '/approvals' && <ApprovalCount />}
              </Link>
            ))}
        </div>
      ))}
    </div>
  );
}

/** Says why a member cannot change what the page shows. */
function RoleNote({ location }: { location: string }) {
  const { person } = useViewer();
  const change = findChangeRight(location);
  if (person == null || change === null || person.rights.includes(change.right)) return null;
  return (
    <div className={style['note']} role="note">
      You can look at this page. {change.who} can change it; your role is {person.role.toLowerCase()}.
    </div>
  );
}

function LiveDot() {
  const state = useLiveState();
  const words = {
    connecting: ['Connecting', 'Connecting to live events.'],
    live: ['Live', 'This page updates automatically.'],
    waiting: ['Reconnecting', 'The connection was lost. Postroom reconnects automatically and no events are missed.'],
  } as const;
  const [label, about] = words[state];
  return (
    <span className={style['live']} role="status" data-live={state} title={`${label}: ${about}`}>
      <VisuallyHidden>{label}</VisuallyHidden>
    </span>
  );
}

/** Account button. Its menu is loaded on first use. */
function AccountButton() {
  const { email: ofAccount, person } = useViewer();
  const email = person?.email ?? ofAccount;
  const [isOpen, setOpen] = useState(false);
  const button = (
    <UnstyledButton
      className={style['account'] ?? ''}
      aria-label={`Account ${email ?? ''} ${person?.workspaceName ?? ''}`.trim()}
      aria-haspopup="menu"
      aria-expanded={isOpen}
      onClick={() => setOpen(!isOpen)}
    >
      <Icon name="user" size={16} />
      <span className={style['who']}>
        <span className={style['email']}>{email}</span>
        {person != null && <span className={style['workspace']}> {person.workspaceName}</span>}
      </span>
    </UnstyledButton>
  );
  return isOpen ? <AccountMenu email={email} target={button} close={() => setOpen(false)} /> : button;
}
