import { Button, Code, Group, Paper, Skeleton, Stack, Tabs, Text, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useQuery } from 'urql';
import { Link, useParams, useSearchParams } from 'wouter';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { IconMailQuestion } from '../../parts/icons.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { AttachmentsTab } from './attachments-tab.tsx';
import { AuthenticationTab } from './authentication-tab.tsx';
import { HtmlTab, RawTab, TextTab } from './body-tabs.tsx';
import { ChecksTab } from './checks-tab.tsx';
import { DeliveriesTab } from './deliveries-tab.tsx';
import { EMAIL, type EmailHeadData, EXTRACTS } from './email-documents.ts';
import { EmailHead } from './email-head.tsx';
import { subjectOf } from './email-words.ts';
import { HeadersTab } from './headers-tab.tsx';
import { RecipientsTab } from './recipients-tab.tsx';
import { RoutingTab } from './routing-tab.tsx';
import { TimelineTab } from './timeline-tab.tsx';

interface Tab {
  name: string;
  label: string;
  show: (email: EmailHeadData) => ReactNode;
  isOf?: (email: EmailHeadData) => boolean;
}

const isReceived = ({ type }: EmailHeadData) => type === 'RECEIVED';
const tabs: Tab[] = [
  { name: 'timeline', label: 'Timeline', show: ({ id }) => <TimelineTab id={id} /> },
  { name: 'html', label: 'HTML', show: (email) => <HtmlTab id={email.id} subject={subjectOf(email)} /> },
  { name: 'text', label: 'Text', show: ({ id }) => <TextTab id={id} /> },
  { name: 'raw', label: 'Raw', show: ({ id }) => <RawTab id={id} /> },
  { name: 'headers', label: 'Headers', show: ({ id }) => <HeadersTab id={id} /> },
  { name: 'checks', label: 'Checks', show: ({ id }) => <ChecksTab id={id} /> },
  { name: 'attachments', label: 'Attachments', show: ({ id }) => <AttachmentsTab id={id} /> },
  {
    name: 'authentication',
    label: 'Authentication',
    show: ({ id }) => <AuthenticationTab id={id} />,
    isOf: isReceived,
  },
  { name: 'routing', label: 'Routing', show: ({ id }) => <RoutingTab id={id} />, isOf: isReceived },
  { name: 'deliveries', label: 'Deliveries', show: ({ id }) => <DeliveriesTab id={id} />, isOf: isReceived },
  {
    name: 'recipients',
    label: 'Recipients',
    show: ({ id }) => <RecipientsTab id={id} />,
    isOf: (email) => !isReceived(email),
  },
];

/** One email with all its details. */
export function EmailPage() {
  const { id } = useParams<{ id: string }>();
  const { data, error, isLoading, refresh } = useLiveQuery({
    query: EMAIL,
    variables: { id },
    kinds: 'all',
    concerns: ({ emailId }) => emailId === id,
  });
  const email = data?.email ?? null;
  if (email !== null)
    return (
      <>
        <PageHeader title={subjectOf(email)} back="/activity" />
        {error !== undefined && <ErrorNote error={error} retry={refresh} />}
        <EmailHead email={email} />
        <Stack gap="md">
          <ExtractsCard id={email.id} />
          <EmailTabs email={email} />
        </Stack>
      </>
    );
  return (
    <>
      <PageHeader title="Email" />
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {isLoading && <Skeleton height={240} aria-label="Loading" role="status" />}
      {data !== undefined && !isLoading && (
        <EmptyState
          icon={IconMailQuestion}
          title="Email not found"
          about="Your account has no email with this ID. It may have been deleted, or the link may be incomplete."
        >
          <Button component={Link} href="/activity">
            Show all emails
          </Button>
        </EmptyState>
      )}
    </>
  );
}

function EmailTabs({ email }: { email: EmailHeadData }) {
  const [parameters, setParameters] = useSearchParams();
  const shown = tabs.filter(({ isOf }) => isOf === undefined || isOf(email));
  const chosen = shown.find(({ name }) => name === parameters.get('tab')) ?? shown[0];
  return (
    <Tabs
      value={chosen?.name ?? null}
      onChange={(name) => setParameters(name === null ? {} : { tab: name })}
      keepMounted={false}
    >
      <Tabs.List aria-label="Parts of the email">
        {shown.map(({ name, label }) => (
          <Tabs.Tab key={name} value={name}>
            {name === 'attachments' && email.attachmentCount > 0 ? `${label} (${email.attachmentCount})` : label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {shown.map(({ name, show }) => (
        <Tabs.Panel key={name} value={name} pt="md">
          {show(email)}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

/** Number of links shown at first. */
const FIRST_LINKS = 3;

/** Codes and links found in a message, with copy buttons. Renders nothing if there are none. */
function ExtractsCard({ id }: { id: string }) {
  const [{ data }] = useQuery({ query: EXTRACTS, variables: { id } });
  const [isWhole, setWhole] = useState(false);
  const codes = data?.email?.extracts.codes ?? [];
  const links = data?.email?.extracts.links ?? [];
  if (codes.length === 0 && links.length === 0) return null;
  const shown = isWhole ? links : links.slice(0, FIRST_LINKS);
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="extracts-title" bg="var(--postroom-raised)">
      <Title order={2} id="extracts-title" mb="xs">
        Codes and links
      </Title>
      <Stack gap="xs">
        {codes.length > 0 && (
          <Group gap="md">
            {codes.map(({ code }) => (
              <Group key={code} gap={4} wrap="nowrap">
                <Code fz="md">{code}</Code>
                <CopyButton text={code} label={`Copy code ${code}`} />
              </Group>
            ))}
          </Group>
        )}
        {shown.map(({ url, text, isUnsubscribe }) => (
          <Group key={`${url} ${text}`} gap={4} wrap="nowrap" justify="space-between">
            <div>
              <Text size="sm" className="postroom-wrap">
                {isUnsubscribe ? `Unsubscribe: ${text ?? ''}` : text}
              </Text>
              <Text size="xs" c="dimmed" ff="monospace" className="postroom-wrap">
                {url}
              </Text>
            </div>
            <CopyButton text={url} label={`Copy link ${text ?? url}`} />
          </Group>
        ))}
        {links.length > FIRST_LINKS && (
          <Group>
            <Button size="xs" variant="default" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
              {isWhole ? 'Show fewer links' : `Show all ${links.length} links`}
            </Button>
          </Group>
        )}
      </Stack>
    </Paper>
  );
}
