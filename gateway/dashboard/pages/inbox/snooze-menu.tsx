import { ActionIcon, Button, Divider, Popover, Stack, Text, TextInput } from '@mantine/core';
import { type SubmitEvent, useState } from 'react';
import { IconClock } from '../../parts/icons.ts';
import { shortTime } from './row-time.ts';

/** Times in words, which the service reads in the time zone of the browser. */
const TIMES = [
  ['In 3 hours', 'in 3 hours'],
  ['Tomorrow morning', 'tomorrow at 9am'],
  ['Monday morning', 'next Monday at 9am'],
  ['In a week', 'in 7 days'],
] as const;
const REMINDERS = [
  ['In 2 days', 'in 2 days'],
  ['In a week', 'in 7 days'],
] as const;

export interface SnoozeMenuProps {
  isSnoozed: boolean;
  isOpen: boolean;
  setOpen: (isOpen: boolean) => void;
  /** null: back to the inbox */
  snooze: (until: string | null) => void;
  /** when it comes back unless someone replies; absent if reminders are not offered */
  remindAt?: string | null;
  remind?: (at: string | null) => void;
}

/** Takes conversations out of the inbox until a time, and sets a reminder for one that no one answers. */
export function SnoozeMenu({ isSnoozed, isOpen, setOpen, snooze, remindAt = null, remind }: SnoozeMenuProps) {
  const [typed, setTyped] = useState('');
  const choose = (run: () => void) => () => {
    setOpen(false);
    setTyped('');
    run();
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (typed.trim() !== '') choose(() => snooze(typed.trim()))();
  };
  const item = (label: string, run: () => void) => (
    <Button key={label} variant="subtle" color="gray" size="xs" justify="flex-start" fullWidth onClick={choose(run)}>
      {label}
    </Button>
  );
  return (
    <Popover
      opened={isOpen}
      onChange={setOpen}
      position="bottom-end"
      width={250}
      transitionProps={{ duration: 0 }}
      trapFocus
      returnFocus
      withRoles
    >
      <Popover.Target>
        <ActionIcon
          variant="subtle"
          color="main"
          size="lg"
          aria-label="Snooze"
          title="Snooze (b)"
          onClick={() => setOpen(!isOpen)}
        >
          <IconClock size={18} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label="Snooze">
        <Stack gap={2}>
          <form onSubmit={submit}>
            <TextInput
              size="xs"
              label="Snooze until"
              placeholder="Friday at 2pm, in 3 days"
              value={typed}
              maxLength={200}
              mb={4}
              onChange={(event) => setTyped(event.currentTarget.value)}
              data-autofocus
            />
          </form>
          {TIMES.map(([label, words]) => item(label, () => snooze(words)))}
          {isSnoozed && item('Back to the inbox now', () => snooze(null))}
          {remind !== undefined && (
            <>
              <Divider my={4} />
              <Text size="xs" c="dimmed">
                {remindAt === null ? 'Remind me if no one replies' : `Reminder ${shortTime(remindAt)}`}
              </Text>
              {REMINDERS.map(([label, words]) => item(`${label} without a reply`, () => remind(words)))}
              {remindAt !== null && item('Remove reminder', () => remind(null))}
            </>
          )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
