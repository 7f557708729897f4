import { Anchor, Button, Card, Group, Skeleton, Stack, Stepper, Text, Title } from '@mantine/core';
import { IconAt } from '@tabler/icons-react';
import { Link } from 'wouter';
import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { FirstArrival } from './first-arrival.tsx';
import { FirstMail } from './first-mail.tsx';

const WELCOME = graphql(`
  query DashboardWelcome {
    emailAddresses(first: 20) { edges { node { id address isReceiving } } }
    emails(first: 1, filter: { type: RECEIVED }) {
      edges { node { id subject createdAt from { name address } thread { id } } }
    }
  }
`);

/** The first minute: how to send the first mail, and that mail as it arrives. */
export function WelcomePage() {
  const { data, error, refresh } = useLiveQuery({
    query: WELCOME,
    variables: {},
    kinds: ['EMAIL_RECEIVED', 'EMAIL_THREADED'],
    types: ['EmailAddress', 'Email'],
  });
  const address = data?.emailAddresses.edges.find(({ node }) => node.isReceiving)?.node.address;
  const arrived = data?.emails.edges[0]?.node ?? null;
  return (
    <>
      <PageHeader
        title="The first mail"
        about="Send a mail to your own service and see it come in. It takes a minute."
      />
      {error !== undefined && data === undefined && <ErrorNote error={error} retry={refresh} />}
      {data === undefined && error === undefined && <Skeleton height={320} />}
      {data !== undefined && address === undefined && (
        <EmptyState
          icon={IconAt}
          title="First, an address"
          about="Add a domain and make an address on it; then mail can come in. On one machine, inbox.test needs no DNS."
        >
          <Group>
            <Button component={Link} href="/domains">
              Add a domain
            </Button>
            <Button component={Link} href="/addresses" variant="default">
              Make an address
            </Button>
          </Group>
        </EmptyState>
      )}
      {address !== undefined && (
        <Stack gap="lg" maw={860}>
          <Stepper active={arrived === null ? 1 : 3} size="sm">
            <Stepper.Step label="An address" description={address} />
            <Stepper.Step label="A mail to it" description={arrived === null ? 'send one now' : 'sent'} />
            <Stepper.Step label="It arrives" description={arrived === null ? 'waiting' : 'here it is'} />
          </Stepper>
          <FirstMail address={address} />
          <FirstArrival mail={arrived} address={address} />
          {arrived !== null && <NextSteps />}
        </Stack>
      )}
    </>
  );
}

const steps = [
  [
    '/endpoints',
    'Have mail delivered to your program',
    'An endpoint gets each mail as a signed webhook; or forwards it to people.',
  ],
  ['/keys', 'Make an API key', 'For reading and sending by REST, GraphQL or the published clients.'],
  ['/domains', 'Bring your own domain', 'The page shows the DNS records to publish, and sees them as they appear.'],
  ['/inbox', 'Open the inbox', 'Read, search, reply and file threads here.'],
] as const;

function NextSteps() {
  return (
    <Card withBorder padding="lg" bg="var(--postroom-raised)" component="section" aria-labelledby="next-title">
      <Title order={2} id="next-title" mb="sm">
        What next
      </Title>
      <Stack gap="sm">
        {steps.map(([path, title, about]) => (
          <div key={path}>
            <Anchor component={Link} href={path} fw={600} size="sm">
              {title}
            </Anchor>
            <Text size="sm" c="dimmed">
              {about}
            </Text>
          </div>
        ))}
      </Stack>
    </Card>
  );
}
