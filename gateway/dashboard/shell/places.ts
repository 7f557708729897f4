import {
  IconActivity,
  IconApi,
  IconAt,
  IconBan,
  IconBook,
  IconBuilding,
  IconCalendarClock,
  IconChecks,
  IconFingerprint,
  IconGauge,
  IconHistory,
  IconInbox,
  IconKey,
  IconListCheck,
  IconMailOff,
  IconPencil,
  IconPlugConnected,
  IconSend,
  IconSettings,
  IconShieldHalf,
  type IconType,
  IconUsers,
  IconWorld,
} from '../parts/icons.ts';

/** One entry of the navigation. */
export interface NavigationItem {
  path: string;
  label: string;
  icon: IconType;
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
      { path: '/', label: 'Overview', icon: IconGauge, key: 'o' },
      { path: '/inbox', label: 'Inbox', icon: IconInbox, key: 'i' },
      { path: '/inbox?in=sent', label: 'Sent', icon: IconSend, key: 's' },
      { path: '/drafts', label: 'Drafts', icon: IconPencil, key: 'd' },
      { path: '/approvals', label: 'Approvals', icon: IconChecks, key: 'p' },
      { path: '/scheduled', label: 'Scheduled', icon: IconCalendarClock, key: 'l' },
      { path: '/held', label: 'Held and blocked', icon: IconListCheck, key: 'h' },
      { path: '/refused', label: 'Refused at the door', icon: IconMailOff, key: 'f', isOfWhole: true },
      { path: '/activity', label: 'Activity', icon: IconActivity, key: 'a' },
    ],
  },
  {
    heading: 'Receiving and routing',
    places: [
      { path: '/domains', label: 'Domains', icon: IconWorld, key: 'n' },
      { path: '/addresses', label: 'Addresses', icon: IconAt, key: 'm' },
      { path: '/endpoints', label: 'Endpoints', icon: IconPlugConnected, key: 'e' },
      { path: '/rules', label: 'Guard rules', icon: IconShieldHalf, key: 'r' },
      { path: '/suppressions', label: 'Suppressions', icon: IconBan, key: 'b' },
    ],
  },
  {
    heading: 'Developers',
    places: [
      { path: '/keys', label: 'API keys', icon: IconKey, key: 'k', right: 'keys' },
      { path: '/requests', label: 'Requests', icon: IconHistory, key: 'q', right: 'requests' },
      { path: '/audit', label: 'Audit log', icon: IconFingerprint, key: 'v', right: 'audit' },
      { path: '/reference', label: 'Reference', icon: IconApi, key: 'x' },
      { path: '/docs', label: 'Guides', icon: IconBook, key: 'u' },
      { path: '/customers', label: 'Customers', icon: IconBuilding, key: 'c', right: 'workspaces' },
      { path: '/members', label: 'Members', icon: IconUsers, key: 't' },
      { path: '/settings', label: 'Settings', icon: IconSettings, key: ',' },
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
