import {
  IconActivity,
  IconAt,
  IconBan,
  IconBook,
  IconCalendarClock,
  IconGauge,
  IconInbox,
  IconKey,
  IconListCheck,
  IconPlugConnected,
  IconSettings,
  IconShieldHalf,
  IconWorld,
} from '@tabler/icons-react';

/** One entry of the navigation. */
export interface Place {
  path: string;
  label: string;
  icon: typeof IconInbox;
}

/** Groups of navigation entries, each with its heading (null: none). */
export const places: { heading: string | null; places: Place[] }[] = [
  {
    heading: null,
    places: [
      { path: '/', label: 'Overview', icon: IconGauge },
      { path: '/inbox', label: 'Inbox', icon: IconInbox },
      { path: '/activity', label: 'Activity', icon: IconActivity },
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
