import { Anchor, Button, Card, Group, SimpleGrid, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { IconApi, IconBrandGraphql, IconExternalLink, IconFileText } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Command } from '../../parts/command.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { useViewer } from '../../shell/viewer.ts';

/** The ways for programs: the explorer of the graph, the reference of the REST interface, and a first request of each. */
export function ReferencePage() {
  const { service } = useViewer();
  const base = String(service.publicUrl).replace(/\/$/, '');
  return (
    <>
      <PageHeader
        title="Explorer and reference"
        about="Everything that these pages do, programs can do: one service behind two interfaces, with the same keys and the same rights."
      />
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
        <Way
          icon={IconBrandGraphql}
          title="GraphQL explorer"
          about="Write queries with completion, run the published operations (an inbox, a thread, search, sending, live events), and read the schema. It works with your session; no key is needed."
          path="/graphql"
          open="Open the explorer"
        >
          <Command
            label="Copy the GraphQL request"
            text={`curl ${base}/graphql \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"query":"{ inbox(first: 5) { edges { node { id unreadCount latestMessage { subject } } } } }"}'`}
          />
        </Way>
        <Way
          icon={IconApi}
          title="REST reference"
          about="Every route of /api/e2 with its fields, answers and errors; requests can be tried from the page."
          path="/api/e2/docs"
          open="Open the reference"
        >
          <Command
            label="Copy the REST request"
            text={`curl ${base}/api/e2/emails \\
  -H "Authorization: Bearer $KEY"`}
          />
          <Text size="sm">
            For generators:{' '}
            <Anchor href="/api/e2/openapi.json" underline="always">
              the OpenAPI document
            </Anchor>
            . The published clients <code>resend</code> and <code>inboundemail</code> work with the base URL{' '}
            <code>{base}/api/e2</code>.
          </Text>
        </Way>
        <Way
          icon={IconFileText}
          title="Events as they happen"
          about="One feed of everything that happens, without gaps: by pages, by long polling and as a stream. Go on behind the last cursor that came."
          path={null}
          open=""
        >
          <Command
            label="Copy the stream request"
            text={`curl -N '${base}/api/e2/events?after=latest' \\
  -H "Authorization: Bearer $KEY" -H 'Accept: text/event-stream'`}
          />
        </Way>
      </SimpleGrid>
    </>
  );
}

function Way({
  icon: Icon,
  title,
  about,
  path,
  open,
  children,
}: {
  icon: typeof IconApi;
  title: string;
  about: string;
  path: string | null;
  open: string;
  children: ReactNode;
}) {
  return (
    <Card withBorder padding="lg" bg="var(--postroom-raised)" component="section" aria-label={title}>
      <Stack gap="sm">
        <Group gap="sm">
          <ThemeIcon variant="light" size="lg" aria-hidden>
            <Icon size={20} stroke={1.6} />
          </ThemeIcon>
          <Title order={2}>{title}</Title>
        </Group>
        <Text size="sm" c="dimmed">
          {about}
        </Text>
        {path !== null && (
          <Button
            component="a"
            href={path}
            target="_blank"
            rel="noopener"
            variant="default"
            leftSection={<IconExternalLink size={16} aria-hidden />}
            w="fit-content"
          >
            {open}
          </Button>
        )}
        {children}
      </Stack>
    </Card>
  );
}
