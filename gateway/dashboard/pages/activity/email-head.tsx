import { Anchor, Badge, DataList, Group, Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { CopyButton } from '../../parts/copy-button.tsx';
import { exactTime, RelativeTime } from '../../parts/relative-time.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { timeInZone } from '../scheduled/time-in-zone.ts';
import { EmailActions } from './email-actions.tsx';
import type { EmailHeadData } from './email-documents.ts';
import { recipientWords, sizeOf, standingOf } from './email-words.ts';

type Mailboxes = readonly { name: string | null; address: string }[];

/** Participants, date, status and actions of an email. */
export function EmailHead({ email }: { email: EmailHeadData }) {
  const { from, to, cc, bcc, replyTo, scheduledAt, timezone, guardRule, failureReason } = email;
  const recipients = recipientWords(email.recipients);
  return (
    <Paper withBorder p="md" mb="md" bg="var(--postroom-raised)" component="section" aria-label="Email">
      <Group gap="xs" mb="sm">
        <span role="status">
          <StatusBadge {...standingOf(email)} />
        </span>
        {recipients !== null && <Mark>{recipients}</Mark>}
        {email.isTest && <Mark>test</Mark>}
        {email.type === 'RECEIVED' && <Mark>{email.isRead ? 'read' : 'unread'}</Mark>}
        <Text size="sm" c="dimmed" component="span">
          <RelativeTime at={email.createdAt} />
        </Text>
      </Group>
      <DataList orientation="horizontal" labelWidth={110}>
        <Fact name="From">{mailboxText(from)}</Fact>
        <People name="To" mailboxes={to} />
        <People name="Cc" mailboxes={cc} />
        <People name="Bcc" mailboxes={bcc} />
        <People name="Reply-To" mailboxes={replyTo} />
        {email.envelopeRecipient !== null && <Fact name="Received for">{email.envelopeRecipient}</Fact>}
        <Fact name={email.type === 'RECEIVED' ? 'Received' : 'Written'}>{exactTime(email.createdAt)}</Fact>
        {scheduledAt !== null && email.type === 'SCHEDULED' && (
          <Fact name="Scheduled">
            {timeInZone(scheduledAt, timezone ?? 'UTC')}, <RelativeTime at={scheduledAt} />
          </Fact>
        )}
        {email.sentAt !== null && <Fact name="Sent">{exactTime(email.sentAt)}</Fact>}
        {guardRule !== null && (
          <Fact name="Guard rule">
            <Anchor component={Link} href={`/rules/${guardRule.id}`} size="sm" underline="always">
              {guardRule.name}
            </Anchor>
          </Fact>
        )}
        {failureReason !== null && <Fact name="Failure reason">{failureReason}</Fact>}
        {email.thread !== null && (
          <Fact name="Thread">
            <Anchor component={Link} href={`/inbox/${email.thread.id}`} size="sm" underline="always">
              Open thread
            </Anchor>
          </Fact>
        )}
        {email.tags.length > 0 && (
          <Fact name="Tags">{email.tags.map(({ name, value }) => `${name}: ${value}`).join(', ')}</Fact>
        )}
        <Fact name="Message-ID">
          <Group gap={4} wrap="nowrap">
            <Text size="sm" ff="monospace" className="postroom-wrap">
              {email.messageId}
            </Text>
            <CopyButton text={email.messageId} label="Copy Message-ID" />
          </Group>
        </Fact>
        {email.size !== null && <Fact name="Size">{sizeOf(email.size)}</Fact>}
      </DataList>
      <EmailActions email={email} />
    </Paper>
  );
}

function Mark({ children }: { children: ReactNode }) {
  return (
    <Badge variant="default" tt="none" radius="sm" fw={500}>
      {children}
    </Badge>
  );
}

function People({ name, mailboxes }: { name: string; mailboxes: Mailboxes }) {
  return mailboxes.length === 0 ? null : <Fact name={name}>{mailboxes.map(mailboxText).join(', ')}</Fact>;
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <DataList.Item>
      <DataList.ItemLabel>{name}</DataList.ItemLabel>
      <DataList.ItemValue className="postroom-wrap">{children}</DataList.ItemValue>
    </DataList.Item>
  );
}

function mailboxText({ name, address }: Mailboxes[number]): string {
  return name === null || name === '' ? address : `${name} <${address}>`;
}
