import { Group } from '@mantine/core';
import { mutation } from '../../graphql.ts';
import { ActButton, ConfirmButton, DialogButton } from '../../parts/buttons.tsx';
import { RecordForm, useRecordForm } from '../../parts/form.tsx';
import { Small } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';

const CANCEL = mutation('cancelEmail', 'isChanged email { id status }');
const PAUSE = mutation('pauseEmail', 'isChanged email { id status }');
const RESUME = mutation('resumeEmail', 'isChanged email { id status }');

interface ScheduleActionsProps {
  email: { id: string; subject: string; status: string; scheduledAt: string | null; timezone: string | null };
}

/** Actions on a scheduled email: pause or resume, reschedule, cancel. None once it is no longer scheduled. */
export function ScheduleActions({ email }: ScheduleActionsProps) {
  const { id, subject, status, scheduledAt } = email;
  const timezone = email.timezone ?? 'UTC';
  const { act: cancel } = useAct(CANCEL, { done: 'The email was cancelled and will not be sent.' });
  const isPaused = status === 'PAUSED';
  if (scheduledAt === null || (status !== 'SCHEDULED' && !isPaused)) return null;
  return (
    <Group gap="xs">
      {isPaused ? (
        <ActButton
          label="Resume"
          needed="send"
          variant="filled"
          icon="player-play"
          mutation={RESUME}
          input={{ id }}
          done="The email is scheduled again."
        />
      ) : (
        <ActButton
          label="Pause"
          needed="send"
          icon="player-pause"
          mutation={PAUSE}
          input={{ id }}
          done="The email is paused until you resume it."
        />
      )}
      <DialogButton needed="send" icon="calendar-clock" label="Reschedule" title={`Reschedule “${subject}”`}>
        {(close) => (
          <>
            <Small mb="sm">Currently scheduled for {timeInZone(scheduledAt, timezone)}.</Small>
            <RescheduleForm id={id} timezone={timezone} close={close} />
          </>
        )}
      </DialogButton>
      <ConfirmButton
        needed="send"
        label="Cancel email"
        question="Cancel this email?"
        about={`“${subject}” will not be sent. It stays readable in Activity.`}
        act={() => cancel({ id })}
      />
    </Group>
  );
}

const RESCHEDULE = mutation('rescheduleEmail', 'email { id status scheduledAt timezone }');

/** Examples of times that the service understands. */
const EXAMPLES = ['in 2 hours', 'tomorrow at 9am', 'friday at 9'].map((words) => `“${words}”`).join(', ');

/** Asks for a new send time. */
function RescheduleForm({ id, timezone, close }: { id: string; timezone: string; close: () => void }) {
  const { act } = useAct(RESCHEDULE, { quiet: true, done: 'The email was rescheduled.' });
  const form = useRecordForm({
    values: { scheduledAt: '', timezone },
    validate: { scheduledAt: (text) => (text.trim() === '' ? 'Choose a send time' : null) },
    submit: (values) => act({ id, scheduledAt: values.scheduledAt.trim(), timezone: values.timezone.trim() || null }),
    rename: ({ scheduled_at: fault, ...fields }) => (fault === undefined ? fields : { ...fields, scheduledAt: fault }),
    saved: close,
  });
  return (
    <RecordForm form={form} submit="Reschedule" cancel={close} gap="sm">
      <form.Text
        name="scheduledAt"
        label="New time"
        description={`Words or ISO 8601: ${EXAMPLES}. At least one minute and at most one year from now.`}
        placeholder="in 2 hours"
        data-autofocus
        maxLength={100}
      />
      <form.Text name="timezone" label="Time zone" description="IANA name of the time zone." maxLength={64} />
    </RecordForm>
  );
}

/** Returns the full date and time in the zone of the request: "Friday, November 27, 2026 at 9:00 AM GMT+9 (Asia/Tokyo)". */
export function timeInZone(at: string, zone: string): string {
  try {
    const words = new Intl.DateTimeFormat('en', {
      weekday: 'long',
      year: 'numeric',
      month: 'long',
      day: 'numeric',
      hour: 'numeric',
      minute: '2-digit',
      timeZoneName: 'short',
      timeZone: zone,
    }).format(new Date(at));
    // UTC is both the offset and the name.
    return words.endsWith(zone) ? words : `${words} (${zone})`;
  } catch {
    // A zone that this browser does not know.
    return `${at} (${zone})`;
  }
}
