import { Anchor, Text, Tooltip } from '@mantine/core';
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
import { Postmark } from '../../parts/postmark.tsx';
import { exactTime } from '../../parts/time-words.ts';
import { TIMELINE } from './email-documents.ts';
import { EmailPart } from './email-part.tsx';
import { durationOf } from './email-words.ts';
import style from './timeline.module.css';

type Entry = NonNullable<ResultOf<typeof TIMELINE>['email']>['timeline']['entries'][number];

const icons: Partial<Record<Entry['kind'], IconType>> = {
  ACCEPTED: IconInbox,
  CREATED: IconPencil,
  AUTHENTICATED: IconShieldCheck,
  SCREENED: IconShieldCheck,
  SPAM: IconBan,
  NOT_SPAM: IconShieldCheck,
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

/** Route of an email, oldest entry first. */
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
          <ol className={style['route']} aria-label="Timeline">
            {timeline.entries.map((entry, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: entries have no id, and are only added at the end
              <Stop key={at} entry={entry} previous={timeline.entries[at - 1]?.at ?? null} />
            ))}
          </ol>
        </>
      )}
    </EmailPart>
  );
}

const clock = new Intl.DateTimeFormat('en', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });

/** An entry, with its time; the day where it is another one than that of the entry before. */
function Stop({ entry, previous }: { entry: Entry; previous: string | null }) {
  const { kind, at, title, detail, durationMs, isFailure, node } = entry;
  const place = node === null ? null : placeOf(node);
  const date = new Date(at);
  const isNewDay = previous === null || day.format(date) !== day.format(new Date(previous));
  return (
    <li className={style['stop']} data-kind={kind}>
      <Tooltip label={exactTime(at)} events={{ hover: true, focus: true, touch: true }}>
        <time dateTime={at} className={style['time']}>
          {clock.format(date)}
          {isNewDay && <span className={style['after']}>{day.format(date)}</span>}
        </time>
      </Tooltip>
      <span className={style['line']}>
        <Postmark icon={isFailure ? IconAlertTriangle : (icons[kind] ?? IconCheck)} isFailure={isFailure} />
      </span>
      <div className={style['what']}>
        <Text fw={600} size="sm">
          {isFailure ? `Failure: ${title}` : title}
        </Text>
        {detail !== null && <Text size="sm">{detail}</Text>}
        {(durationMs !== null || place !== null) && (
          <Text size="xs" c="dimmed">
            {durationMs !== null && `took ${durationOf(durationMs)}`}
            {durationMs !== null && place !== null && ' · '}
            {place !== null && (
              <Anchor component={Link} href={place.path} size="xs" underline="always">
                {place.label}
              </Anchor>
            )}
          </Text>
        )}
      </div>
    </li>
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
