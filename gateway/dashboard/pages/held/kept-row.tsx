import { Anchor, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { nameOf, subjectOf } from '../activity/email-words.ts';
import { ListCard } from '../activity/list-card.tsx';

interface KeptRowProps {
  email: {
    id: string;
    subject: string;
    preview: string;
    createdAt: string;
    envelopeRecipient: string | null;
    from: { name: string | null; address: string };
  };
  /** why the email is kept */
  reason: ReactNode;
  /** what can be done with it */
  children: ReactNode;
}

/** An email that is kept apart from the inbox: held by a rule, or spam. */
export function KeptRow({ email, reason, children }: KeptRowProps) {
  const { id, preview, createdAt, envelopeRecipient, from } = email;
  return (
    <ListCard id={id}>
      <Group justify="space-between" align="flex-start" gap="sm">
        <Stack gap={2} miw={0} flex="1 1 18rem">
          <Anchor component={Link} href={`/emails/${id}`} fw={600} c="inherit" className="postroom-wrap">
            {subjectOf(email)}
          </Anchor>
          <Text size="sm" c="dimmed" className="postroom-wrap">
            {nameOf(from)} to {envelopeRecipient}, <RelativeTime at={createdAt} />
          </Text>
          <Text size="sm" lineClamp={2} className="postroom-wrap">
            {preview}
          </Text>
          {reason}
        </Stack>
        {children}
      </Group>
    </ListCard>
  );
}
