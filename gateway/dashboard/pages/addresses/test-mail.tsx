import { Alert, Anchor, Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { useLive } from '../../live/live-context.tsx';
import { Command } from '../../parts/command.tsx';
import { IconCircleCheck } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { useAct } from '../../parts/use-act.ts';
import { useViewer } from '../../shell/viewer.ts';
import { type ShownAddress, SIMULATE } from './address-documents.ts';

const TEMPLATES = [
  { value: 'PLAIN', label: 'A short question' },
  { value: 'NEWSLETTER', label: 'A newsletter with HTML' },
  { value: 'ATTACHMENT', label: 'An invoice with attachments' },
  { value: 'ONE_TIME_CODE', label: 'A one-time code' },
  { value: 'SPAM', label: 'A message that looks like spam' },
] as const;

type Template = (typeof TEMPLATES)[number]['value'];

/** Simulates an incoming message to the address and shows its arrival, or shows a command that sends one. */
export function TestMail({ address }: { address: ShownAddress }) {
  const { service } = useViewer();
  const { act, isBusy } = useAct(SIMULATE, { quiet: true });
  const [template, setTemplate] = useState<Template>('PLAIN');
  const [trouble, setTrouble] = useState<string | null>(null);
  const [emailId, setEmailId] = useState<string | null>(null);
  const [arrived, setArrived] = useState<readonly string[]>([]);
  useLive(['EMAIL_RECEIVED', 'EMAIL_THREADED'], (event) => {
    const id = event?.emailId ?? null;
    if (id !== null) setArrived((before) => [...before.slice(-50), id]);
  });
  const send = async () => {
    setEmailId(null);
    setTrouble(null);
    const { payload, problem } = await act({ input: { to: address.address, template } });
    if (problem !== null) setTrouble(problem.message);
    else setEmailId(payload.emailId);
  };
  const isThere = emailId !== null && arrived.includes(emailId);
  return (
    <Stack gap="sm">
      <Group align="flex-end" gap="xs">
        <NativeSelect
          label="Test email"
          data={[...TEMPLATES]}
          value={template}
          onChange={(event) => {
            const { value } = event.currentTarget;
            const found = TEMPLATES.find((each) => each.value === value);
            if (found !== undefined) setTemplate(found.value);
          }}
        />
        <Button {...needs('endpoints')} loading={isBusy} onClick={() => void send()}>
          Send test email
        </Button>
      </Group>
      <div aria-live="polite">
        {trouble !== null && (
          <Alert color="red" variant="outline">
            {trouble}
          </Alert>
        )}
        {emailId !== null && (
          <Alert
            color={isThere ? 'green' : 'post.6'}
            variant="outline"
            icon={<IconCircleCheck aria-hidden />}
            title={isThere ? 'The test email arrived' : 'The test email was accepted'}
          >
            <Anchor component={Link} href={`/emails/${emailId}`} size="sm">
              Open email
            </Anchor>
          </Alert>
        )}
      </div>
      <Text size="sm">Or use a terminal:</Text>
      <Command
        label="Copy swaks command"
        text={`swaks --server ${service.smtpHost}:${service.smtpPort} --from ada@example.com --to ${address.address} --header 'Subject: Hello' --body 'A test'`}
      />
    </Stack>
  );
}
