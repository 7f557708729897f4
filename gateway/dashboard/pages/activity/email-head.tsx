import { Anchor, Badge, Button, DataList, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { CopyButton } from '../../parts/copy-button.tsx';
import { counted } from '../../parts/counted.ts';
import { IconChevronDown } from '../../parts/icons.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { exactTime } from '../../parts/time-words.ts';
import { timeInZone } from '../scheduled/time-in-zone.ts';
import { EmailActions } from './email-actions.tsx';
import type { EmailHeadData } from './email-documents.ts';
import { recipientWords, sizeOf, standingOf } from './email-words.ts';

type Mailboxes = readonly { name: string | null; address: string }[];

/** Participants, status and actions of an email; all other facts on request, so that its route and its mail are seen at once. */
export function EmailHead({ email }: { email: EmailHeadData }) {
  const [isOpen, setOpen] = useState(false);
  const { from, to, cc, bcc, scheduledAt, timezone, guardRule, failureReason } = email;
  const recipients = recipientWords(email.recipients);
  const all = [...to, ...cc, ...bcc];
  return (
    <Stack component="section" gap="xs" mb="md" aria-label="Email">
      <Group gap="xs">
        <span role="status">
          <StatusBadge {...standingOf(email)} />
        </span>
        {recipients !== null && <Mark>{recipients}</Mark>}
        {email.isTest && <Mark>test</Mark>}
        {email.type === 'RECEIVED' && <Mark>{email.isRead ? 'read' : 'unread'}</Mark>}
        <Text size="sm" component="span" className="postroom-wrap">
          {mailboxText(from)} → {all.slice(0, SHOWN).map(mailboxText).join(', ')}
          {all.length > SHOWN && ` and ${counted(all.length - SHOWN, 'other')}`}
        </Text>
        <Text size="sm" c="dimmed" component="span">
          <RelativeTime at={email.createdAt} />
        </Text>
        {email.thread !== null && (
          <Anchor component={Link} href={`/inbox/${email.thread.id}`} size="sm" underline="always">
            Open thread
          </Anchor>
        )}
        <Button
          size="compact-xs"
          variant="default"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          rightSection={<IconChevronDown size={14} aria-hidden />}
        >
          Details
        </Button>
      </Group>
      {scheduledAt !== null && email.type === 'SCHEDULED' && (
        <Text size="sm">
          Scheduled for {timeInZone(scheduledAt, timezone ?? 'UTC')}, <RelativeTime at={scheduledAt} />
        </Text>
      )}
      {failureReason !== null && (
        <Text size="sm" className="postroom-wrap">
          Failure reason: {failureReason}
        </Text>
      )}
      {guardRule !== null && (
        <Text size="sm" className="postroom-wrap">
          Guard rule:{' '}
          <Anchor component={Link} href={`/rules/${guardRule.id}`} size="sm" underline="always">
            {guardRule.name}
          </Anchor>
        </Text>
      )}
      {isOpen && <Facts email={email} />}
      <EmailActions email={email} />
    </Stack>
  );
}

/** Recipients that are shown without the details. */
const SHOWN = 3;

function Facts({ email }: { email: EmailHeadData }) {
  const { from, to, cc, bcc, replyTo } = email;
  return (
    <DataList orientation="horizontal" labelWidth={110} my="xs">
      <Fact name="From">{mailboxText(from)}</Fact>
      <People name="To" mailboxes={to} />
      <People name="Cc" mailboxes={cc} />
      <People name="Bcc" mailboxes={bcc} />
      <People name="Reply-To" mailboxes={replyTo} />
      {email.envelopeRecipient !== null && <Fact name="Received for">{email.envelopeRecipient}</Fact>}
      <Fact name={email.type === 'RECEIVED' ? 'Received' : 'Written'}>{exactTime(email.createdAt)}</Fact>
      {email.sentAt !== null && <Fact name="Sent">{exactTime(email.sentAt)}</Fact>}
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
  );
}

function Mark({ children }: { children: ReactNode }) {
  return (
    <Badge variant="default" tt="none" radius="sm" fw={600}>
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
