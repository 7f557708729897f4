import { Button, Group } from '@mantine/core';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { IconPlayerPause, IconPlayerPlay } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { useAct } from '../../parts/use-act.ts';
import { RescheduleDialog } from './reschedule-dialog.tsx';
import { CANCEL, PAUSE, RESUME } from './schedule-documents.ts';

/** Actions on a scheduled email: pause or resume, reschedule, cancel. None once it is no longer scheduled. */
export function ScheduleActions({
  email,
}: {
  email: { id: string; subject: string; status: string; scheduledAt: string | null; timezone: string | null };
}) {
  const { id, subject, status, scheduledAt, timezone } = email;
  const pause = useAct(PAUSE, { done: 'The email is paused until you resume it.' });
  const resume = useAct(RESUME, { done: 'The email is scheduled again.' });
  const cancel = useAct(CANCEL, { done: 'The email was cancelled and will not be sent.' });
  const isPaused = status === 'PAUSED';
  if (scheduledAt === null || (status !== 'SCHEDULED' && !isPaused)) return null;
  return (
    <Group gap="xs">
      {isPaused ? (
        <Button
          {...needs('send')}
          size="xs"
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          loading={resume.isBusy}
          onClick={() => void resume.act({ id })}
        >
          Resume
        </Button>
      ) : (
        <Button
          {...needs('send')}
          size="xs"
          variant="default"
          leftSection={<IconPlayerPause size={16} aria-hidden />}
          loading={pause.isBusy}
          onClick={() => void pause.act({ id })}
        >
          Pause
        </Button>
      )}
      <RescheduleDialog id={id} subject={subject} scheduledAt={scheduledAt} timezone={timezone ?? 'UTC'} />
      <ConfirmButton
        {...needs('send')}
        label="Cancel email"
        question="Cancel this email?"
        about={`“${subject}” will not be sent. It stays readable in Activity.`}
        confirm="Cancel email"
        act={() => cancel.act({ id })}
      />
    </Group>
  );
}
