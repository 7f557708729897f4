import { Anchor, Button, Card, Group, Skeleton, Stack, Stepper, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { IconAt } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { useAct } from '../../parts/use-act.ts';
import { CREATE_ADDRESS } from '../addresses/address-documents.ts';
import { CREATE_DOMAIN } from '../domains/domain-documents.ts';
import { FirstArrival } from './first-arrival.tsx';
import { FirstMail } from './first-mail.tsx';

const WELCOME = graphql(`
  query DashboardWelcome {
    viewer { id suggestedDomain }
    emailAddresses(first: 20) { edges { node { id address isReceiving } } }
    emails(first: 1, filter: { type: RECEIVED }) {
      edges { node { id subject createdAt from { name address } thread { id } } }
    }
  }
`);

/** First page of a new account: how to send the first mail, and its arrival. */
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
      <PageHeader title="First email" about="Send an email to your service and watch it arrive. It takes a minute." />
      {error !== undefined && data === undefined && <ErrorNote error={error} retry={refresh} />}
      {data === undefined && error === undefined && <Skeleton height={320} />}
      {data !== undefined && address === undefined && (
        <EmptyState
          icon={IconAt}
          title="Create an address first"
          about={`To receive mail, add a domain and create an address on it.${
            data.viewer.suggestedDomain === null ? '' : ` ${data.viewer.suggestedDomain} needs no DNS records.`
          }`}
        >
          <Group justify="center">
            {data.viewer.suggestedDomain !== null && <FirstAddress domain={data.viewer.suggestedDomain} />}
            <Button {...needs('domains')} component={Link} href="/domains?new" variant="default">
              Add domain
            </Button>
            <Button component={Link} href="/addresses" variant="default">
              Create address
            </Button>
          </Group>
        </EmptyState>
      )}
      {address !== undefined && (
        <Stack gap="lg" maw={860}>
          <Stepper active={arrived === null ? 1 : 3} size="sm">
            <Stepper.Step label="Address" description={address} />
            <Stepper.Step label="Email" description={arrived === null ? 'send one now' : 'sent'} />
            <Stepper.Step label="Arrival" description={arrived === null ? 'waiting' : 'arrived'} />
          </Stepper>
          <FirstMail address={address} />
          <FirstArrival mail={arrived} address={address} />
          {arrived !== null && <NextSteps />}
        </Stack>
      )}
    </>
  );
}

/** Creates the domain that needs no DNS records, and an address on it, by one click. */
function FirstAddress({ domain }: { domain: string }) {
  const add = useAct(CREATE_DOMAIN);
  const create = useAct(CREATE_ADDRESS, { done: `hello@${domain} receives mail.` });
  const both = async () => {
    const { payload } = await add.act({ input: { domain } });
    if (payload !== null) await create.act({ input: { address: `hello@${domain}`, domainId: payload.domain.id } });
  };
  return (
    <Button {...needs('domains')} loading={add.isBusy || create.isBusy} onClick={() => void both()}>
      Get hello@{domain}
    </Button>
  );
}

const steps = [
  ['/endpoints', 'Create endpoint', 'Delivers each email to your program as a signed webhook, or forwards it.'],
  ['/keys', 'Create API key', 'Read and send email with REST, GraphQL or a published client.'],
  ['/domains', 'Add domain', 'Shows the DNS records to publish, and checks them.'],
  ['/inbox', 'Open the inbox', 'Read, search, reply to and organize conversations.'],
] as const;

function NextSteps() {
  return (
    <Card withBorder padding="lg" bg="var(--postroom-raised)" component="section" aria-labelledby="next-title">
      <Title order={2} id="next-title" mb="sm">
        Next steps
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
