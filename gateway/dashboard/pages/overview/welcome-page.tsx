import { Group, Loader, SimpleGrid, Skeleton, Stack, Stepper, Tabs, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { graphql, mutation, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { Command } from '../../parts/command.tsx';
import { MainButton, QuietButton } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icons.ts';
import { EmptyState, ErrorNote, Page } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Section } from '../../parts/section.tsx';
import { Hint, Small, SmallLink } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { useViewer } from '../../shell/viewer.ts';
import { CREATE_ADDRESS } from '../addresses/address-form.tsx';
import { CREATE_DOMAIN } from '../domains/domain-records.tsx';

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
    kinds: ['EMAIL_RECEIVED', 'EMAIL_THREADED'],
    types: ['EmailAddress', 'Email'],
  });
  const isWide = useMediaQuery('(min-width: 48em)', true, { getInitialValueInEffect: false });
  const address = data?.emailAddresses.edges.find(({ node }) => node.isReceiving)?.node.address;
  const arrived = data?.emails.edges[0]?.node ?? null;
  return (
    <Page title="First email" about="Send an email to your service and watch it arrive. It takes a minute.">
      {error !== undefined && data === undefined && <ErrorNote error={error} retry={refresh} />}
      {data === undefined && error === undefined && <Skeleton height={320} />}
      {data !== undefined && address === undefined && (
        <EmptyState
          icon="at"
          title="Create an address first"
          about={`To receive mail, add a domain and create an address on it.${
            data.viewer.suggestedDomain === null ? '' : ` ${data.viewer.suggestedDomain} needs no DNS records.`
          }`}
        >
          <Group justify="center">
            {data.viewer.suggestedDomain !== null && <FirstAddress domain={data.viewer.suggestedDomain} />}
            <QuietButton label="Add domain" needed="domains" href="/domains?new" />
            <QuietButton label="Create address" href="/addresses" />
          </Group>
        </EmptyState>
      )}
      {address !== undefined && (
        <Stack gap="lg">
          <Stepper active={arrived === null ? 1 : 3} size="sm" orientation={isWide ? 'horizontal' : 'vertical'}>
            <Stepper.Step label="Address" description={address} />
            <Stepper.Step label="Email" description={arrived === null ? 'send one now' : 'sent'} />
            <Stepper.Step label="Arrival" description={arrived === null ? 'waiting' : 'arrived'} />
          </Stepper>
          <FirstMail address={address} />
          <SimpleGrid cols={{ base: 1, md: arrived === null ? 1 : 2 }} spacing="lg">
            <FirstArrival mail={arrived} address={address} />
            {arrived !== null && <NextSteps />}
          </SimpleGrid>
        </Stack>
      )}
    </Page>
  );
}

/** Creates the domain that needs no DNS records, and an address on it, by one click. */
function FirstAddress({ domain }: { domain: string }) {
  const add = useAct(CREATE_DOMAIN);
  const create = useAct(CREATE_ADDRESS, { done: `hello@${domain} receives mail.` });
  const both = async () => {
    const { payload } = await add.act({ domain });
    if (payload !== null) await create.act({ address: `hello@${domain}`, domainId: payload.domain.id });
  };
  return (
    <MainButton
      label={`Get hello@${domain}`}
      needed="domains"
      loading={add.isBusy || create.isBusy}
      onClick={() => void both()}
    />
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
    <Section title="Next steps">
      <Stack gap="sm">
        {steps.map(([path, title, about]) => (
          <div key={path}>
            <SmallLink href={path} fw={600}>
              {title}
            </SmallLink>
            <Hint>{about}</Hint>
          </div>
        ))}
      </Stack>
    </Section>
  );
}

const SIMULATE = mutation('simulateInbound', 'emailId email { id }');

/** Ways to send the first mail to an address: two commands and a button. */
function FirstMail({ address }: { address: string }) {
  const { service } = useViewer();
  const { act, isBusy } = useAct(SIMULATE, { done: 'A test email is being processed.' });
  const smtp = `${service.smtpHost}:${service.smtpPort}`;
  const simulate = () =>
    act({
      recipient: address,
      from: 'Ada Lovelace <ada@example.com>',
      subject: 'The first mail',
      text: 'It works.\n\nAda',
    });
  return (
    <Section title={`Send an email to ${address}`}>
      <Hint mb="sm">
        From a terminal on this machine, over SMTP as any mail server would; or let Postroom make one.
      </Hint>
      <Tabs defaultValue="curl" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="curl">curl</Tabs.Tab>
          <Tabs.Tab value="swaks">swaks</Tabs.Tab>
          <Tabs.Tab value="test">Without a terminal</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="curl" pt="sm">
          <Command
            label="Copy curl command"
            text={`printf 'From: Ada <ada@example.com>\\nTo: ${address}\\nSubject: Hello\\n\\nA first mail.\\n' |
  curl -sS smtp://${smtp} --mail-from ada@example.com --mail-rcpt ${address} --crlf -T -`}
          />
        </Tabs.Panel>
        <Tabs.Panel value="swaks" pt="sm">
          <Command
            label="Copy swaks command"
            text={`swaks --server ${smtp} --from ada@example.com --to ${address} \\
  --header 'Subject: Hello' --body 'A first mail'`}
          />
        </Tabs.Panel>
        <Tabs.Panel value="test" pt="sm">
          <Group>
            <MainButton label="Send test email" needed="endpoints" onClick={() => void simulate()} loading={isBusy} />
            <Hint>It is processed like every email and is marked as a test.</Hint>
          </Group>
        </Tabs.Panel>
      </Tabs>
    </Section>
  );
}

type ArrivedMail = ResultOf<typeof WELCOME>['emails']['edges'][number]['node'];

/** The latest received message, updated live, or a note that there is none yet. */
function FirstArrival({ mail, address }: { mail: ArrivedMail | null; address: string }) {
  return (
    <Section title={mail === null ? 'Waiting for your first email' : 'Your email has arrived'} aria-live="polite">
      {mail === null ? (
        <Group gap="sm" wrap="nowrap">
          <Loader size="sm" type="dots" aria-hidden />
          <Small>Mail to {address} appears here the moment that it comes in. There is nothing to reload.</Small>
        </Group>
      ) : (
        <Group justify="space-between" gap="sm">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Icon name="mail-check" size={28} stroke={1.5} />
            <div>
              <Text fw={600} className="postroom-wrap">
                {mail.subject || '(no subject)'}
              </Text>
              <Hint className="postroom-wrap">
                {mail.from.name ?? mail.from.address}, <RelativeTime at={mail.createdAt} />
              </Hint>
            </div>
          </Group>
          <Group gap="xs">
            {mail.thread !== null && <MainButton label="Open email" href={`/inbox/${mail.thread.id}`} size="xs" />}
            <QuietButton label="Show timeline" href={`/emails/${mail.id}`} size="xs" />
          </Group>
        </Group>
      )}
    </Section>
  );
}
