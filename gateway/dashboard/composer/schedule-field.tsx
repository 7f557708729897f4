import { Button, Group, Text, TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { Schedule } from '../../../core/sending/schedule.ts';
import { exactTime } from '../parts/time-words.ts';
import { timeZone } from './draft.ts';

/** A local date and time, as a field of the browser writes it. */
const LOCAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/;
const REFUSALS = {
  'unknown time zone': 'Postroom does not know the time zone of this browser.',
  unreadable: 'This is not a valid time. Try "tomorrow at 9am", "in 2 hours" or "2026-02-01 09:00".',
  'too soon': 'Choose a time at least one minute from now.',
  'too late': 'Choose a time at most one year from now.',
};

/** Returns the scheduled instant, or why the text is not valid. */
function meaningOf(schedule: Schedule): ScheduleMeaning {
  if (schedule.refusal === null) return { at: schedule.at, refusal: null };
  if (schedule.refusal !== 'ambiguous') return { at: null, refusal: REFUSALS[schedule.refusal] };
  return { at: null, refusal: `This can mean ${schedule.readings.join(' or ')}. Enter one of these.` };
}

/** Parses a time like the service does. Null while it is empty or being parsed. */
export interface ScheduleMeaning {
  at: Date | null;
  refusal: string | null;
}

/** Fields for the send time, by the calendar or in words; shows the resulting instant. */
export function ScheduleField({
  value,
  onChange,
  remove,
  error,
}: {
  value: string;
  onChange: (value: string) => void;
  /** removes the send time and the fields */
  remove: () => void;
  error?: string | undefined;
}) {
  const meaning = useMeaning(value);
  return (
    <div>
      <Group gap="xs" align="flex-end">
        <TextInput
          type="datetime-local"
          label="Date and time"
          value={LOCAL.test(value) ? value : ''}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
        <TextInput
          label="Send at"
          description={`A date or words, in the time zone ${timeZone}`}
          placeholder="tomorrow at 9am"
          value={value}
          maxLength={200}
          onChange={(event) => onChange(event.currentTarget.value)}
          error={error ?? meaning?.refusal}
          data-autofocus
          flex={1}
        />
        <Button variant="default" onClick={remove}>
          Remove time
        </Button>
      </Group>
      <Text size="xs" c="dimmed" mt={4} aria-live="polite">
        {meaning?.at != null && `Will be sent ${exactTime(meaning.at.toISOString())}`}
      </Text>
    </div>
  );
}

/** Parses the time with the code of the service, which is loaded on first use. */
function useMeaning(text: string): ScheduleMeaning | null {
  const [meaning, setMeaning] = useState<ScheduleMeaning | null>(null);
  useEffect(() => {
    let isCurrent = true;
    setMeaning(null);
    if (text.trim() === '') return;
    void import('../../../core/sending/schedule.ts').then(({ readSchedule }) => {
      if (isCurrent) setMeaning(meaningOf(readSchedule(text, timeZone, new Date())));
    });
    return () => {
      isCurrent = false;
    };
  }, [text]);
  return meaning;
}
