import { Button, Card, Group, Loader, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { IconMailCheck } from '../../parts/icons.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';

interface ArrivedMail {
  id: string;
  subject: string;
  createdAt: string;
  from: { name: string | null; address: string };
  thread: { id: string } | null;
}

/** The latest received message, updated live, or a note that there is none yet. */
export function FirstArrival({ mail, address }: { mail: ArrivedMail | null; address: string }) {
  return (
    <Card
      withBorder
      padding="lg"
      bg="var(--postroom-raised)"
      component="section"
      aria-labelledby="arrival-title"
      aria-live="polite"
    >
      <Title order={2} id="arrival-title" mb="sm">
        {mail === null ? 'Waiting for your first email' : 'Your email has arrived'}
      </Title>
      {mail === null ? (
        <Group gap="sm" wrap="nowrap">
          <Loader size="sm" type="dots" aria-hidden />
          <Text size="sm">Mail to {address} appears here the moment that it comes in. There is nothing to reload.</Text>
        </Group>
      ) : (
        <Group justify="space-between" gap="sm">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <IconMailCheck size={28} stroke={1.5} aria-hidden />
            <div>
              <Text fw={600} className="postroom-wrap">
                {mail.subject || '(no subject)'}
              </Text>
              <Text size="sm" c="dimmed" className="postroom-wrap">
                {mail.from.name ?? mail.from.address}, <RelativeTime at={mail.createdAt} />
              </Text>
            </div>
          </Group>
          <Group gap="xs">
            {mail.thread !== null && (
              <Button component={Link} href={`/inbox/${mail.thread.id}`} size="xs">
                Open email
              </Button>
            )}
            <Button component={Link} href={`/emails/${mail.id}`} variant="default" size="xs">
              Show timeline
            </Button>
          </Group>
        </Group>
      )}
    </Card>
  );
}
