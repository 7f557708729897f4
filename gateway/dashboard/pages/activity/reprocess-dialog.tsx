import { Checkbox, Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { mutation, type ResultOf } from '../../graphql.ts';
import { DialogButton } from '../../parts/buttons.tsx';
import { Block } from '../../parts/command.tsx';
import { MainButton, QuietButton } from '../../parts/controls.tsx';
import { Trouble } from '../../parts/form.tsx';
import { ErrorAlert, Fine, Small, Strong } from '../../parts/text.tsx';
import { type PayloadOf, useAct } from '../../parts/use-act.ts';

const REPROCESS = mutation(
  'reprocessEmails',
  'emails { emailId changes { step field before after differsAt } endpoint { id name } delivery { id } error { code message } }',
);

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
export function ReprocessDialog(email: { emailId: string; isReceived: boolean }) {
  return (
    <DialogButton label="Reprocess" title="Reprocess email" icon="rotate-clockwise-2" needed="imports" dialogSize="lg">
      {(close) => <ReprocessForm {...email} onClose={close} />}
    </DialogButton>
  );
}

type ReprocessFormProps = { emailId: string; isReceived: boolean; onClose: () => void };

function ReprocessForm({ emailId, isReceived, onClose }: ReprocessFormProps) {
  const offered = STEPS.filter((step) => isReceived || !step.isOfReceived);
  const [steps, setSteps] = useState<string[]>(offered.map(({ value }) => value));
  const [result, setResult] = useState<{ isDryRun: boolean; email: ReprocessedEmail } | null>(null);
  const { act, isBusy, problem } = useAct(REPROCESS, { quiet: true });
  const run = async (isDryRun: boolean) => {
    const wanted = offered.map(({ value }) => value).filter((step) => steps.includes(step));
    const { payload } = await act({ emailIds: [emailId], steps: wanted, isDryRun });
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
      <Small>
        Runs these steps again with the current rules and settings. Your own changes to the email are kept. Preview the
        result first.
      </Small>
      <Checkbox.Group label="Steps" value={steps} onChange={choose}>
        <Stack gap="xs" mt="xs">
          {offered.map(({ value, label, about }) => (
            <Checkbox key={value} value={value} label={label} description={about} />
          ))}
        </Stack>
      </Checkbox.Group>
      <Trouble text={problem?.message} title="The email was not reprocessed" />
      <div aria-live="polite">{result !== null && <ReprocessDiff {...result} />}</div>
      <Group justify="flex-end">
        <QuietButton label="Close" onClick={onClose} />
        <QuietButton
          label="Preview changes"
          variant={isChecked ? 'default' : 'filled'}
          disabled={steps.length === 0}
          loading={isBusy}
          onClick={() => void run(true)}
        />
        {isChecked && <MainButton label="Reprocess email" loading={isBusy} onClick={() => void run(false)} />}
      </Group>
    </Stack>
  );
}

/** Actual or previewed result of reprocessing an email. */
type ReprocessedEmail = PayloadOf<ResultOf<typeof REPROCESS>>['emails'][number];

/** Changed fields, before and after. */
function ReprocessDiff({ isDryRun, email }: { isDryRun: boolean; email: ReprocessedEmail }) {
  const { changes, endpoint, delivery, error } = email;
  const words = isDryRun
    ? changes.length === 0
      ? 'Nothing would change.'
      : `${changes.length} ${changes.length === 1 ? 'field' : 'fields'} would change.`
    : changes.length === 0
      ? 'Done. Nothing changed.'
      : `Done. ${changes.length} ${changes.length === 1 ? 'field' : 'fields'} changed.`;
  return (
    <Stack gap="sm" data-reprocessed={isDryRun ? 'dry' : 'done'}>
      {error !== null && <ErrorAlert title="A step failed">{error.message}</ErrorAlert>}
      <Text fw={600}>{words}</Text>
      {endpoint !== null && (
        <Small>
          {isDryRun
            ? `It would be delivered to “${endpoint.name}”.`
            : delivery === null
              ? `It is routed to “${endpoint.name}”.`
              : `It is being delivered to “${endpoint.name}”.`}
        </Small>
      )}
      {changes.map(({ step, field, before, after, differsAt }) => (
        <Paper key={`${step} ${field}`} withBorder p="sm">
          <Strong>
            {field}{' '}
            <Fine span>
              ({step.toLowerCase()}
              {differsAt === null ? '' : `, from character ${differsAt}`})
            </Fine>
          </Strong>
          <SimpleGrid cols={{ base: 1, sm: 2 }} mt="xs">
            <Side label={`${field} now`} text={before} />
            <Side label={`${field} after`} text={after} />
          </SimpleGrid>
        </Paper>
      ))}
    </Stack>
  );
}

function Side({ label, text }: { label: string; text: string | null }) {
  return (
    <div>
      <Fine>{label}</Fine>
      {text === null ? <Small>nothing</Small> : <Block text={text} label={label} />}
    </div>
  );
}
