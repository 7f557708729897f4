import { Alert, Button, Checkbox, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { graphql } from '../../graphql.ts';
import { IconRotateClockwise2 } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { useAct } from '../../parts/use-act.ts';
import { ReprocessDiff, type ReprocessedEmail } from './reprocess-diff.tsx';

const REPROCESS = graphql(`
  mutation DashboardReprocess($input: ReprocessEmailsInput!) {
    reprocessEmails(input: $input) {
      __typename
      ... on ReprocessEmailsPayload {
        emails {
          emailId
          changes { step field before after differsAt }
          endpoint { id name }
          delivery { id }
          error { code message }
        }
      }
    }
  }
`);

type Step = 'PARSE' | 'THREAD' | 'ROUTE';
const STEPS: { value: Step; label: string; about: string; isOfReceived: boolean }[] = [
  { value: 'PARSE', label: 'Parse', about: 'Parses the stored source again.', isOfReceived: true },
  {
    value: 'THREAD',
    label: 'Thread',
    about: 'Assigns the email to a thread as if it had just arrived.',
    isOfReceived: false,
  },
  {
    value: 'ROUTE',
    label: 'Route',
    about: 'Applies the current guard rules and routes, and delivers the email again.',
    isOfReceived: true,
  },
];

/** A button with a dialog that asks which steps to repeat. A dry run previews the changes. */
export function ReprocessDialog({ emailId, isReceived }: { emailId: string; isReceived: boolean }) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button
        {...needs('imports')}
        size="xs"
        variant="default"
        leftSection={<IconRotateClockwise2 size={16} aria-hidden />}
        onClick={open}
      >
        Reprocess
      </Button>
      <Modal opened={isOpen} onClose={close} title="Reprocess email" size="lg">
        <ReprocessForm emailId={emailId} isReceived={isReceived} onClose={close} />
      </Modal>
    </>
  );
}

function ReprocessForm({
  emailId,
  isReceived,
  onClose,
}: {
  emailId: string;
  isReceived: boolean;
  onClose: () => void;
}) {
  const offered = STEPS.filter((step) => isReceived || !step.isOfReceived);
  const [steps, setSteps] = useState<string[]>(offered.map(({ value }) => value));
  const [result, setResult] = useState<{ isDryRun: boolean; email: ReprocessedEmail } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const { act, isBusy } = useAct(REPROCESS, { quiet: true });
  const run = async (isDryRun: boolean) => {
    const wanted = offered.map(({ value }) => value).filter((step) => steps.includes(step));
    const { payload, problem: found } = await act({ input: { emailIds: [emailId], steps: wanted, isDryRun } });
    setProblem(found?.message ?? null);
    const email = payload?.emails[0];
    setResult(email === undefined ? null : { isDryRun, email });
  };
  const choose = (chosen: string[]) => {
    setSteps(chosen);
    setResult(null);
  };
  const isChecked = result?.isDryRun === true && result.email.error === null;
  return (
    <Stack gap="md">
      <Text size="sm">
        Runs these steps again with the current rules and settings. Your own changes to the email are kept. Preview the
        result first.
      </Text>
      <Checkbox.Group label="Steps" value={steps} onChange={choose}>
        <Stack gap="xs" mt="xs">
          {offered.map(({ value, label, about }) => (
            <Checkbox key={value} value={value} label={label} description={about} />
          ))}
        </Stack>
      </Checkbox.Group>
      {problem !== null && (
        <Alert color="red" variant="outline" role="alert" title="The email was not reprocessed">
          {problem}
        </Alert>
      )}
      <div aria-live="polite">{result !== null && <ReprocessDiff {...result} />}</div>
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Close
        </Button>
        <Button
          variant={isChecked ? 'default' : 'filled'}
          disabled={steps.length === 0}
          loading={isBusy}
          onClick={() => void run(true)}
        >
          Preview changes
        </Button>
        {isChecked && (
          <Button loading={isBusy} onClick={() => void run(false)}>
            Reprocess email
          </Button>
        )}
      </Group>
    </Stack>
  );
}
