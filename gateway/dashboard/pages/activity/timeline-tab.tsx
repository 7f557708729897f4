import { Anchor, Text, Timeline } from '@mantine/core';
import { Link } from 'wouter';
import type { ResultOf } from '../../graphql.ts';
import {
  IconAlertTriangle,
  IconArrowFork,
  IconArrowsJoin,
  IconBan,
  IconBolt,
  IconCalendarClock,
  IconCheck,
  IconEye,
  IconFileSearch,
  IconInbox,
  IconPencil,
  IconPlayerPause,
  IconRefresh,
  IconSend,
  IconShieldCheck,
  type IconType,
  IconWebhook,
} from '../../parts/icons.ts';
import { exactTime, RelativeTime } from '../../parts/relative-time.tsx';
import { TIMELINE } from './email-documents.ts';
import { EmailPart } from './email-part.tsx';
import { durationOf } from './email-words.ts';

type Entry = NonNullable<ResultOf<typeof TIMELINE>['email']>['timeline']['entries'][number];

const icons: Partial<Record<Entry['kind'], IconType>> = {
  ACCEPTED: IconInbox,
  CREATED: IconPencil,
  AUTHENTICATED: IconShieldCheck,
  PARSED: IconFileSearch,
  THREADED: IconArrowsJoin,
  ROUTED: IconArrowFork,
  HELD: IconBan,
  DELIVERY_REQUESTED: IconRefresh,
  DELIVERY_ATTEMPT: IconWebhook,
  ACTION: IconBolt,
  SENDING_ATTEMPT: IconSend,
  QUEUED: IconSend,
  RESCHEDULED: IconCalendarClock,
  PAUSED: IconPlayerPause,
  READ: IconEye,
  UNREAD: IconEye,
  REPROCESSED: IconRefresh,
};

/** History of an email, oldest entry first. */
export function TimelineTab({ id }: { id: string }) {
  return (
    <EmailPart id={id} query={TIMELINE}>
      {({ timeline }) => (
        <>
          {timeline.isCut && (
            <Text size="sm" c="dimmed">
              Only the newest entries are shown.
            </Text>
          )}
          <Timeline
            bulletSize={28}
            lineWidth={2}
            active={timeline.entries.length - 1}
            color="gray"
            aria-label="Timeline"
          >
            {timeline.entries.map((entry, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: entries have no id, and are only added at the end
              <EntryItem key={at} entry={entry} />
            ))}
          </Timeline>
        </>
      )}
    </EmailPart>
  );
}

function EntryItem({ entry }: { entry: Entry }) {
  const { kind, at, title, detail, durationMs, isFailure, node } = entry;
  const Icon = isFailure ? IconAlertTriangle : (icons[kind] ?? IconCheck);
  const place = node === null ? null : placeOf(node);
  return (
    <Timeline.Item
      bullet={<Icon size={16} aria-hidden />}
      color={isFailure ? 'red.8' : 'postroom.7'}
      title={
        <Text component="span" fw={600} size="sm" className="postroom-wrap">
          {isFailure ? `Failure: ${title}` : title}
        </Text>
      }
      data-kind={kind}
    >
      {detail !== null && (
        <Text size="sm" className="postroom-wrap">
          {detail}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {exactTime(at)} (<RelativeTime at={at} />){durationMs === null ? '' : `, ${durationOf(durationMs)}`}
        {place !== null && (
          <>
            {' · '}
            <Anchor component={Link} href={place.path} size="xs" underline="always">
              {place.label}
            </Anchor>
          </>
        )}
      </Text>
    </Timeline.Item>
  );
}

/** Returns the page of the object of an entry, if there is one. */
function placeOf({ __typename: type, id }: { __typename: string; id: string }): { path: string; label: string } | null {
  if (type === 'Delivery') return { path: '?tab=deliveries', label: 'Deliveries' };
  if (type === 'Recipient') return { path: '?tab=recipients', label: 'Recipients' };
  if (type === 'Email') return { path: `/emails/${id}`, label: 'Open email' };
  if (type === 'Thread') return { path: `/inbox/${id}`, label: 'Open thread' };
  if (type === 'GuardRule') return { path: `/rules/${id}`, label: 'Open rule' };
  return type.endsWith('Endpoint') ? { path: `/endpoints/${id}`, label: 'Open endpoint' } : null;
}
