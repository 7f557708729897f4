import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { IconCalendarClock } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { useAct } from '../../parts/use-act.ts';
import { RESCHEDULE } from './schedule-documents.ts';
import { timeInZone } from './time-in-zone.ts';

/** Examples of times that the service understands. */
const EXAMPLES = ['in 2 hours', 'tomorrow at 9am', 'friday at 9'];

/** A button with a dialog that asks for a new send time. */
export function RescheduleDialog({
  id,
  subject,
  scheduledAt,
  timezone,
}: {
  id: string;
  subject: string;
  scheduledAt: string;
  timezone: string;
}) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button
        {...needs('send')}
        size="xs"
        variant="default"
        leftSection={<IconCalendarClock size={16} aria-hidden />}
        onClick={open}
      >
        Reschedule
      </Button>
      <Modal opened={isOpen} onClose={close} title={`Reschedule “${subject}”`} centered>
        <Text size="sm" mb="sm">
          Currently scheduled for {timeInZone(scheduledAt, timezone)}.
        </Text>
        <RescheduleForm id={id} timezone={timezone} onDone={close} />
      </Modal>
    </>
  );
}

function RescheduleForm({ id, timezone, onDone }: { id: string; timezone: string; onDone: () => void }) {
  const { act, isBusy } = useAct(RESCHEDULE, { quiet: true, done: 'The email was rescheduled.' });
  const [problem, setProblem] = useState<string | null>(null);
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { scheduledAt: '', timezone },
    validate: { scheduledAt: (text) => (text.trim() === '' ? 'Choose a send time' : null) },
  });
  const submit = form.onSubmit(async (values) => {
    setProblem(null);
    const zone = values.timezone.trim();
    const outcome = await act({
      input: { id, scheduledAt: values.scheduledAt.trim(), timezone: zone === '' ? null : zone },
    });
    if (outcome.problem === null) return onDone();
    const { fields, message } = outcome.problem;
    const zoneProblem = fields['timezone'];
    const timeProblem = fields['scheduledAt'] ?? fields['scheduled_at'];
    if (zoneProblem !== undefined) form.setFieldError('timezone', zoneProblem);
    if (timeProblem !== undefined) form.setFieldError('scheduledAt', timeProblem);
    if (zoneProblem === undefined && timeProblem === undefined) setProblem(message);
  });
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {problem !== null && (
          <Alert color="red" variant="outline" role="alert">
            {problem}
          </Alert>
        )}
        <TextInput
          label="New time"
          description={`Words or ISO 8601: ${EXAMPLES.map((words) => `“${words}”`).join(', ')}. At least one minute and at most one year from now.`}
          placeholder="in 2 hours"
          data-autofocus
          autoComplete="off"
          maxLength={100}
          key={form.key('scheduledAt')}
          {...form.getInputProps('scheduledAt')}
        />
        <TextInput
          label="Time zone"
          description="IANA name of the time zone."
          maxLength={64}
          key={form.key('timezone')}
          {...form.getInputProps('timezone')}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy}>
            Reschedule
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
