import type { IconName } from '../parts/icons.ts';

/** One entry of the navigation. */
export interface NavigationItem {
  path: string;
  label: string;
  icon: IconName;
  /** the key that opens it after `g` */
  key: string;
  /** the right without which it is not shown; absent: everyone sees it */
  right?: string;
  /** it shows what belongs to the workspace as a whole, so members who are limited to domains or addresses do not see it */
  isOfWhole?: true;
}

/** Returns whether a person sees an entry. */
export function isShown(
  { right, isOfWhole }: NavigationItem,
  person: { rights: readonly string[]; isLimited: boolean } | null,
): boolean {
  if (person === null) return right === undefined;
  return (right === undefined || person.rights.includes(right)) && !(isOfWhole === true && person.isLimited);
}

/** Groups of navigation entries, each with its heading (null: none). */
export const places: { heading: string | null; places: NavigationItem[] }[] = [
  {
    heading: null,
    places: [
      { path: '/', label: 'Overview', icon: 'gauge', key: 'o' },
      { path: '/inbox', label: 'Inbox', icon: 'inbox', key: 'i' },
      { path: '/inbox?in=sent', label: 'Sent', icon: 'send', key: 's' },
      { path: '/drafts', label: 'Drafts', icon: 'pencil', key: 'd' },
      { path: '/approvals', label: 'Approvals', icon: 'checks', key: 'p' },
      { path: '/scheduled', label: 'Scheduled', icon: 'calendar-clock', key: 'l' },
      { path: '/held', label: 'Held and blocked', icon: 'list-check', key: 'h' },
      { path: '/refused', label: 'Refused at the door', icon: 'mail-off', key: 'f', isOfWhole: true },
      { path: '/activity', label: 'Activity', icon: 'activity', key: 'a' },
    ],
  },
  {
    heading: 'Receiving and routing',
    places: [
      { path: '/domains', label: 'Domains', icon: 'world', key: 'n' },
      { path: '/addresses', label: 'Addresses', icon: 'at', key: 'm' },
      { path: '/endpoints', label: 'Endpoints', icon: 'plug-connected', key: 'e' },
      { path: '/rules', label: 'Guard rules', icon: 'shield-half', key: 'r' },
      { path: '/suppressions', label: 'Suppressions', icon: 'ban', key: 'b' },
    ],
  },
  {
    heading: 'Developers',
    places: [
      { path: '/keys', label: 'API keys', icon: 'key', key: 'k', right: 'keys' },
      { path: '/requests', label: 'Requests', icon: 'history', key: 'q', right: 'requests' },
      { path: '/audit', label: 'Audit log', icon: 'fingerprint', key: 'v', right: 'audit' },
      { path: '/reference', label: 'Reference', icon: 'api', key: 'x' },
      { path: '/docs', label: 'Guides', icon: 'book', key: 'u' },
      { path: '/customers', label: 'Customers', icon: 'building', key: 'c', right: 'workspaces' },
      { path: '/members', label: 'Members', icon: 'users', key: 't' },
      { path: '/settings', label: 'Settings', icon: 'settings', key: ',' },
    ],
  },
];

/** Returns the path of the navigation entry that a URL belongs to. */
export function findPage(pathname: string, search: string): string {
  const section = `/${pathname.split('/')[1] ?? ''}`;
  return section === '/inbox' && new URLSearchParams(search).get('in') === 'sent' ? '/inbox?in=sent' : section;
}

/** The guide of each section of the dashboard. */
const GUIDES: Record<string, string> = {
  '/': 'dashboard',
  '/welcome': 'first-steps',
  '/inbox': 'search',
  '/activity': 'testing-mail',
  '/emails': 'testing-mail',
  '/drafts': 'drafts',
  '/approvals': 'approvals',
  '/scheduled': 'rest',
  '/held': 'routing',
  '/refused': 'screening',
  '/domains': 'domains',
  '/addresses': 'reply-addresses',
  '/endpoints': 'endpoints',
  '/rules': 'routing',
  '/suppressions': 'rest',
  '/keys': 'api-keys',
  '/requests': 'requests',
  '/audit': 'audit',
  '/reference': 'graphql',
  '/customers': 'workspaces',
  '/members': 'teams',
  '/settings': 'accounts',
};

/** What changes on each page need, and who has that. */
const CHANGES: Record<string, { right: string; who: string }> = {
  '/inbox': { right: 'organize', who: 'Agents, developers, admins and the owner' },
  '/drafts': { right: 'send', who: 'Agents, developers, admins and the owner' },
  '/scheduled': { right: 'send', who: 'Agents, developers, admins and the owner' },
  '/approvals': { right: 'approve', who: 'Approvers, admins and the owner' },
  '/domains': { right: 'domains', who: 'Admins and the owner' },
  '/addresses': { right: 'domains', who: 'Admins and the owner' },
  '/endpoints': { right: 'endpoints', who: 'Developers, admins and the owner' },
  '/rules': { right: 'policies', who: 'Admins and the owner' },
  '/suppressions': { right: 'policies', who: 'Admins and the owner' },
  '/keys': { right: 'keys', who: 'Developers, admins and the owner' },
  '/members': { right: 'members', who: 'Admins and the owner' },
};

/** Returns what changes on the page of a URL need; null if every member can make them. */
export function findChangeRight(pathname: string): { right: string; who: string } | null {
  return CHANGES[`/${pathname.split('/')[1] ?? ''}`] ?? null;
}

/** Returns the path of the guide to the page of a URL. */
export function findGuidePath(pathname: string): string {
  const guide = GUIDES[`/${pathname.split('/')[1] ?? ''}`];
  return guide === undefined ? '/docs' : `/docs/${guide}`;
}
