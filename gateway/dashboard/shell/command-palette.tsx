import '@mantine/spotlight/styles.css';
import { guides } from 'virtual:guides';
import { useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { createSpotlight, Spotlight, type SpotlightActionData } from '@mantine/spotlight';
import { useEffect, useState } from 'react';
import { useQuery } from 'urql';
import { useLocation } from 'wouter';
import { graphql } from '../graphql.ts';
import { Icon, type IconName } from '../parts/icons.ts';
import { FieldComing, hasShortcut, runShortcut, SELECTION } from './keys.ts';
import { isShown, places } from './places.ts';
import { signOut } from './session-news.ts';
import { CONVERSATION_ACTIONS } from './shortcuts-help.tsx';
import { useViewer } from './viewer.ts';

const FOUND = graphql(`
  query PaletteThreads($search: String!) {
    inbox(first: 6, search: $search, filter: { archived: ANY }) {
      edges { node { id subject latestMessage { id preview from { name address } } } }
    }
  }
`);

const ADDRESSES = graphql(`query PaletteAddresses { emailAddresses(first: 100) { edges { node { id address } } } }`);

/** Threads are searched when the user pauses for this long, and from this many characters on. */
const TYPING_MS = 180;
const SEARCH_FROM = 2;
const MAX_ADDRESSES = 5;
const MAX_GUIDES = 5;
/** Words that people type for a page or action, beside those of its name, by its path or id. */
const SYNONYMS: Record<string, string> = {
  '/': 'home dashboard statistics charts health',
  '/inbox': 'mail messages conversations threads received',
  '/inbox?in=sent': 'outbox outgoing',
  '/drafts': 'unfinished',
  '/approvals': 'review confirm agents',
  '/scheduled': 'later queue batch planned',
  '/held': 'quarantine spam blocked release delayed queue',
  '/activity': 'log events history timeline search emails delivery',
  '/domains': 'dns records dkim spf dmarc mx verify',
  '/addresses': 'mailbox alias catch-all forward reply',
  '/endpoints': 'webhook webhooks url callback forward http',
  '/rules': 'filter filters spam block allow guard',
  '/suppressions': 'bounce bounces complaints unsubscribe blocklist',
  '/keys': 'token tokens secret credentials smtp password permissions scopes',
  '/requests': 'api log debug http',
  '/reference': 'graphql rest openapi swagger playground',
  '/refused': 'rejected refused bounce spam',
  '/audit': 'history who changed log security',
  '/members': 'team people users roles invite invitation',
  '/docs': 'help manual documentation support how to',
  '/settings':
    'password passkey second factor two-factor 2fa totp profile account sessions retention export erase delete limits preferences',
  write: 'compose new message send mail',
  domain: 'new dns',
  address: 'new mailbox alias',
  endpoint: 'new webhook url',
  rule: 'new filter spam block',
  key: 'new token secret',
  light: 'appearance color mode',
  dark: 'appearance color mode night',
  'keys-help': 'help hotkeys',
  'sign-out': 'log out logout leave',
  'key e': 'done',
  'key b': 'later remind',
  'key #': 'trash remove',
  'key l': 'tag label',
};
const [store, palette] = createSpotlight();
const HIDDEN = { position: 'absolute', clipPath: 'inset(50%)' } as const;
const LINE = {
  display: '-webkit-box',
  WebkitBoxOrient: 'vertical',
  WebkitLineClamp: 1,
  overflow: 'hidden',
  overflowWrap: 'anywhere',
} as const;
const ICON = { size: 18, stroke: 1.7, 'aria-hidden': true } as const;

/** Finds pages, actions, addresses and conversations by their words. It is loaded when it is opened for the first time. */
export function CommandPalette({ close, openHelp }: { close: () => void; openHelp: () => void }) {
  const [location, navigate] = useLocation();
  const { setColorScheme } = useMantineColorScheme();
  const [typed, setTyped] = useState('');
  const [isFocused, setFocused] = useState(false);
  const query = typed.trim();
  const [search] = useDebouncedValue(query, TYPING_MS);
  const isSearching = search.length >= SEARCH_FROM;
  const [{ data }] = useQuery({ query: FOUND, variables: { search }, pause: !isSearching });
  const [{ data: own }] = useQuery({ query: ADDRESSES, variables: {} });
  const [isSelecting, setSelecting] = useState(false);
  useEffect(() => {
    setSelecting(hasShortcut(SELECTION));
    palette.open();
  }, []);

  const person = useViewer().person ?? null;
  const go = (path: string) => () => navigate(path);
  const command = (id: string, label: string, icon: IconName, onClick: () => void): SpotlightActionData => ({
    id,
    label,
    leftSection: <Icon name={icon} {...ICON} />,
    onClick,
  });
  const pages = places
    .flatMap((group) => group.places)
    .filter((place) => isShown(place, person))
    .map(({ path, label, icon, key }) => ({
      ...command(path, label, icon, go(path)),
      rightSection: <span aria-hidden>{`g ${key}`}</span>,
    }));
  const withRight = (right: string, action: SpotlightActionData) =>
    person?.rights.includes(right) === true ? [action] : [];
  const actions = [
    ...withRight('send', command('write', 'Write email', 'pencil-plus', go('/inbox?compose=new'))),
    ...withRight('domains', command('domain', 'Add domain', 'world', go('/domains?new'))),
    ...withRight('domains', command('address', 'Create address', 'at', go('/addresses?new'))),
    ...withRight('endpoints', command('endpoint', 'Create endpoint', 'plug-connected', go('/endpoints?new=webhook'))),
    ...withRight('policies', command('rule', 'Create guard rule', 'shield-half', go('/rules/new'))),
    ...withRight('keys', command('key', 'Create API key', 'key', go('/keys?new'))),
    command('light', 'Use light theme', 'sun', () => setColorScheme('light')),
    command('dark', 'Use dark theme', 'moon', () => setColorScheme('dark')),
    command('keys-help', 'Show keyboard shortcuts', 'keyboard', openHelp),
    command('sign-out', 'Sign out', 'logout', () => void signOut()),
  ];
  const ofConversation = /^\/inbox\/./.test(location)
    ? CONVERSATION_ACTIONS.flatMap(({ keys: [key = ''], about, right }) =>
        withRight(right, {
          ...command(`key ${key}`, about, 'mail', () => runShortcut(key)),
          rightSection: <span aria-hidden>{key}</span>,
        }),
      )
    : [];
  const addresses = (own?.emailAddresses.edges ?? []).map(({ node }) => ({
    ...command(`address ${node.id}`, node.address, 'at', go(`/inbox?address=${encodeURIComponent(node.address)}`)),
    description: 'Show its mail in the inbox',
  }));
  const threads = (isSearching ? (data?.inbox.edges ?? []) : []).map(({ node }) => ({
    ...command(node.id, node.subject || '(no subject)', 'mail', go(`/inbox/${node.id}`)),
    description: [node.latestMessage?.from.name ?? node.latestMessage?.from.address, node.latestMessage?.preview]
      .filter((text) => text)
      .join(' · '),
  }));
  const help = guides.flatMap(({ name, title, headings }) => [
    command(`/docs/${name}`, `Guide: ${title}`, 'book', go(`/docs/${name}`)),
    ...headings.map(({ id, text }) =>
      command(`/docs/${name}#${id}`, `Guide: ${title}: ${text}`, 'book', go(`/docs/${name}#${id}`)),
    ),
  ]);
  const wanted = query.toLowerCase().split(/\s+/);
  const matching = (list: SpotlightActionData[]) =>
    list.filter(({ id, label }) => {
      const words = `${label ?? ''} ${SYNONYMS[id] ?? ''}`.toLowerCase();
      return wanted.every((word) => words.includes(word));
    });
  const groups = [
    { group: 'This conversation', actions: isSelecting ? [] : matching(ofConversation) },
    { group: 'Go to', actions: matching(pages) },
    { group: 'Actions', actions: matching(actions) },
    { group: 'Addresses', actions: query === '' ? [] : matching(addresses).slice(0, MAX_ADDRESSES) },
    { group: 'Conversations', actions: threads },
    { group: 'Guides', actions: query === '' ? [] : matching(help).slice(0, MAX_GUIDES) },
    {
      group: 'Search',
      actions:
        query === ''
          ? []
          : [command('search', `Search mail for "${query}"`, 'search', go(`/inbox?q=${encodeURIComponent(query)}`))],
    },
  ].filter((group) => group.actions.length > 0);
  const shown = groups.flatMap((group) => group.actions.map(({ id }) => id)).join(' ');
  // What Enter runs is marked in the page, and lost with the row: the first one takes its place when results arrive.
  useEffect(() => {
    const rows = [...document.querySelectorAll(`#${store.getState().listId || 'none'} [data-action]`)];
    const selected = Math.max(
      rows.findIndex((row) => row.hasAttribute('data-selected')),
      0,
    );
    if (query === '') return;
    rows[selected]?.setAttribute('data-selected', 'true');
    store.updateState((state) => ({ ...state, selected }));
  }, [query, shown]);
  return (
    <>
      {!isFocused && <FieldComing cancel={close} />}
      <Spotlight
        store={store}
        actions={groups}
        // Filtered above: conversations are found by their text, which is not shown.
        filter={(_query, all) => all}
        query={typed}
        onQueryChange={setTyped}
        onSpotlightClose={close}
        shortcut={null}
        scrollable
        maxHeight={420}
        title="Command palette"
        // The title names the dialog for screen readers only; a mail takes two lines.
        styles={{ header: HIDDEN, actionLabel: LINE, actionDescription: LINE }}
        nothingFound="Nothing found"
        searchProps={{
          placeholder: 'Search pages, actions, addresses and mail',
          'aria-label': 'Search pages, actions, addresses and mail',
          onFocus: () => setFocused(true),
          leftSection: <Icon name="search" {...ICON} />,
        }}
      />
    </>
  );
}
