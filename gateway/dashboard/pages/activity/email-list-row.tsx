import { Anchor, Badge, Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import { IconArrowDownLeft, IconArrowUpRight, IconCalendarClock, IconPaperclip } from '../../parts/icons.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import styles from './email-list.module.css';
import type { EmailRow } from './email-row-fragment.ts';
import { deliveryWords, nameOf, recipientWords, standingOf, subjectOf } from './email-words.ts';

const directions = {
  RECEIVED: { icon: IconArrowDownLeft, label: 'Received' },
  SENT: { icon: IconArrowUpRight, label: 'Sent' },
  SCHEDULED: { icon: IconCalendarClock, label: 'Scheduled' },
} as const;

/** An email in a list: direction, participants and status. */
export function EmailListRow({ email }: { email: EmailRow }) {
  const { icon: Icon, label } = directions[email.type];
  const to = email.envelopeRecipient ?? email.to.map(({ address }) => address).join(', ');
  const delivery = email.deliveries.edges[0]?.node;
  const recipients = recipientWords(email.recipients);
  return (
    <li className={styles['row']} data-email={email.id}>
      <Icon size={18} role="img" aria-label={label} />
      <div className={styles['people']}>
        <Text size="sm" truncate="end" title={email.from.address}>
          {nameOf(email.from)}
        </Text>
        <Text size="xs" c="dimmed" truncate="end" title={to}>
          to {to}
        </Text>
      </div>
      <div className={styles['subject']}>
        <Anchor component={Link} href={`/emails/${email.id}`} className={styles['link']} size="sm" fw={600} c="inherit">
          {subjectOf(email)}
        </Anchor>
      </div>
      <div className={styles['badges']}>
        {email.hasFiles && <IconPaperclip size={16} role="img" aria-label="Has attachments" />}
        {email.isTest && (
          <Badge variant="default" tt="none" radius="sm">
            test
          </Badge>
        )}
        <StatusBadge {...standingOf(email)} />
        {recipients !== null && (
          <Badge variant="default" tt="none" radius="sm" fw={600}>
            {recipients}
          </Badge>
        )}
        {delivery !== undefined && <StatusBadge {...deliveryWords(delivery)} />}
      </div>
      <Group className={styles['time'] ?? ''} justify="flex-end" gap={4}>
        <Text size="xs" c="dimmed" component="span">
          <RelativeTime at={email.createdAt} />
        </Text>
      </Group>
    </li>
  );
}
