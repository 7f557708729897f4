import { Button, Card, Group, Tabs, Text, Title } from '@mantine/core';
import { graphql } from '../../graphql.ts';
import { Command } from '../../parts/command.tsx';
import { needs } from '../../parts/needs.ts';
import { useAct } from '../../parts/use-act.ts';
import { useViewer } from '../../shell/viewer.ts';

const SIMULATE = graphql(`
  mutation DashboardFirstMail($input: SimulateInboundInput!) {
    simulateInbound(input: $input) { __typename ... on SimulateInboundPayload { emailId email { id } } }
  }
`);

/** Ways to send the first mail to an address: two commands and a button. */
export function FirstMail({ address }: { address: string }) {
  const { service } = useViewer();
  const { act, isBusy } = useAct(SIMULATE, { done: 'A test email is being processed.' });
  const smtp = `${service.smtpHost}:${service.smtpPort}`;
  const simulate = () =>
    act({
      input: {
        recipient: address,
        from: 'Ada Lovelace <ada@example.com>',
        subject: 'The first mail',
        text: 'It works.\n\nAda',
      },
    });
  return (
    <Card withBorder padding="lg" bg="var(--postroom-raised)" component="section" aria-labelledby="send-title">
      <Title order={2} id="send-title" mb="xs">
        Send an email to {address}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        From a terminal on this machine, over SMTP as any mail server would; or let Postroom make one.
      </Text>
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
            <Button {...needs('endpoints')} onClick={() => void simulate()} loading={isBusy}>
              Send test email
            </Button>
            <Text size="sm" c="dimmed">
              It is processed like every email and is marked as a test.
            </Text>
          </Group>
        </Tabs.Panel>
      </Tabs>
    </Card>
  );
}
