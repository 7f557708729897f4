import { Button, Menu } from '@mantine/core';
import { IconBell, IconCalendar, IconCheck, IconChevronDown, IconClock, IconSend } from '../parts/icons.ts';

/** Times of the menu, in words that the service reads in the time zone of the browser. */
const LATER = [
  ['In one hour', 'in 1 hour'],
  ['Tomorrow morning', 'tomorrow at 9am'],
  ['Monday morning', 'next Monday at 9am'],
] as const;

export interface SendButtonProps {
  isBusy: boolean;
  isDisabled: boolean;
  /** whether the email has a send time */
  isScheduled: boolean;
  /** Sends now, or at a time in words. */
  send: (scheduledAt: string) => void;
  pickDate: () => void;
  /** when the conversation comes back unless someone replies, in words; empty: no reminder */
  remindAt: string;
  setReminder: (remindAt: string) => void;
}

/** Times of a reminder, in words that the service reads. */
const REMINDERS = [
  ['In 2 days', 'in 2 days'],
  ['In a week', 'in 7 days'],
  ['In a month', 'in 30 days'],
] as const;

/** Sends the email, or opens the menu of times to send it. */
export function SendButton(props: SendButtonProps) {
  const { isBusy, isDisabled, isScheduled, send, pickDate, remindAt, setReminder } = props;
  return (
    <Button.Group>
      <Button type="submit" loading={isBusy} disabled={isDisabled} leftSection={<IconSend size={16} aria-hidden />}>
        {isScheduled ? 'Schedule' : 'Send'}
      </Button>
      <Menu position="top-start" withinPortal={false} withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <Button px={8} ml={1} disabled={isBusy || isDisabled} aria-label="Send later">
            <IconChevronDown size={16} aria-hidden />
          </Button>
        </Menu.Target>
        {/* Esc closes the menu, not the composer. */}
        <Menu.Dropdown onKeyDown={(event) => event.key === 'Escape' && event.stopPropagation()}>
          <Menu.Item leftSection={<IconSend size={16} aria-hidden />} onClick={() => send('')}>
            {isScheduled ? 'Send now' : 'Send'}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Label>Send later</Menu.Label>
          {LATER.map(([label, words]) => (
            <Menu.Item key={words} leftSection={<IconClock size={16} aria-hidden />} onClick={() => send(words)}>
              {label}
            </Menu.Item>
          ))}
          <Menu.Item leftSection={<IconCalendar size={16} aria-hidden />} onClick={pickDate}>
            Pick a date
          </Menu.Item>
          <Menu.Divider />
          <Menu.Label>Remind me if no one replies</Menu.Label>
          {REMINDERS.map(([label, words]) => (
            <Menu.Item
              key={words}
              leftSection={words === remindAt ? <IconCheck size={16} /> : <IconBell size={16} />}
              onClick={() => setReminder(words === remindAt ? '' : words)}
            >
              {label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </Button.Group>
  );
}
