import { Anchor, Card, Group, SimpleGrid, Stack, ThemeIcon, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Command } from '../../parts/command.tsx';
import { QuietButton } from '../../parts/controls.tsx';
import { Icon, type IconName } from '../../parts/icons.ts';
import { Page } from '../../parts/page.tsx';
import { Hint, Small } from '../../parts/text.tsx';
import { baseUrl, useViewer } from '../../shell/viewer.ts';

/** Access for programs: the GraphQL explorer, the REST reference, and a sample request of each. */
export function ReferencePage() {
  const { service } = useViewer();
  const base = baseUrl(service);
  return (
    <Page
      title="Explorer and reference"
      about="Programs can do everything that this dashboard does. REST and GraphQL use the same API keys and permissions."
    >
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
        <Way
          icon="brand-graphql"
          title="GraphQL explorer"
          about="Write queries with completion, run the published operations, and read the schema. The explorer uses your session; you need no API key."
          path="/graphql"
          open="Open explorer"
        >
          <Command
            label="Copy GraphQL request"
            text={`curl ${base}/graphql \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"query":"{ inbox(first: 5) { edges { node { id unreadCount latestMessage { subject } } } } }"}'`}
          />
        </Way>
        <Way
          icon="api"
          title="REST reference"
          about="Describes every route of /api/e2 with its fields, responses and errors, and lets you try requests."
          path="/api/e2/docs"
          open="Open reference"
        >
          <Command
            label="Copy REST request"
            text={`curl ${base}/api/e2/emails \\
  -H "Authorization: Bearer $KEY"`}
          />
          <Small>
            For code generators:{' '}
            <Anchor href="/api/e2/openapi.json" underline="always">
              OpenAPI document
            </Anchor>
            . The published clients <code>resend</code> and <code>inboundemail</code> work with the base URL{' '}
            <code>{base}/api/e2</code>.
          </Small>
        </Way>
        <Way
          icon="file-text"
          title="Live events"
          about="One feed of all events without gaps, as pages, by long polling or as a stream. Continue from the last cursor that you received."
          path={null}
          open=""
        >
          <Command
            label="Copy stream request"
            text={`curl -N '${base}/api/e2/events?after=latest' \\
  -H "Authorization: Bearer $KEY" -H 'Accept: text/event-stream'`}
          />
        </Way>
      </SimpleGrid>
    </Page>
  );
}

interface WayProps {
  icon: IconName;
  title: string;
  about: string;
  path: string | null;
  open: string;
  children: ReactNode;
}

function Way({ icon, title, about, path, open, children }: WayProps) {
  return (
    <Card withBorder padding="lg" bg="var(--postroom-raised)" component="section" aria-label={title}>
      <Stack gap="sm">
        <Group gap="sm">
          <ThemeIcon variant="light" size="lg" aria-hidden>
            <Icon name={icon} size={20} stroke={1.6} />
          </ThemeIcon>
          <Title order={2}>{title}</Title>
        </Group>
        <Hint>{about}</Hint>
        {path !== null && (
          <QuietButton label={open} icon="external-link" href={path} target="_blank" rel="noopener" w="fit-content" />
        )}
        {children}
      </Stack>
    </Card>
  );
}
