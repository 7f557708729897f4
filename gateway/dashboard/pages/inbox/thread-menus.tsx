import { ActionIcon, Button, Checkbox, Divider, Menu, ScrollArea, Stack, TextInput } from '@mantine/core';
import { type SubmitEvent, useState } from 'react';
import { PopoverButton } from '../../parts/buttons.tsx';
import { QuietButton } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icons.ts';
import { Fine } from '../../parts/text.tsx';
import { Face } from '../../parts/thumbnail.tsx';
import { useRight } from '../../shell/viewer.ts';
import style from './inbox.module.css';
import type { LabelCount } from './inbox-documents.ts';
import { type Assignee, nameAssignee, useTeam } from './people.ts';
import { shortTime } from './row-time.ts';

/** Maximum characters of a label. */
const MAX_LABEL_LENGTH = 64;

interface LabelMenuProps {
  labels: readonly LabelCount[];
  /** labels of each selected thread */
  given: readonly (readonly string[])[];
  isOpen: boolean;
  setOpen: (isOpen: boolean) => void;
  change: (add: string[], remove: string[]) => void;
}

/** Adds and removes labels: checkboxes for existing ones, and a field for a new one. */
export function LabelMenu({ labels, given, isOpen, setOpen, change }: LabelMenuProps) {
  const [typed, setTyped] = useState('');
  const wanted = typed.trim();
  const names = [
    ...new Map([...labels.map(({ name }) => name), ...given.flat()].map((name) => [makeKey(name), name])).values(),
  ];
  const shown = names.filter((name) => makeKey(name).includes(makeKey(wanted)));
  const isNew = wanted !== '' && !names.some((name) => makeKey(name) === makeKey(wanted));
  const has = (name: string) => given.filter((own) => own.some((label) => makeKey(label) === makeKey(name))).length;
  const toggle = (name: string) => (has(name) === given.length ? change([], [name]) : change([name], []));
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (wanted === '') return;
    const existing = names.find((name) => makeKey(name) === makeKey(wanted));
    change([existing ?? wanted], []);
    setTyped('');
    setOpen(false);
  };
  return (
    <PopoverButton
      label="Labels"
      title="Labels (l)"
      icon="tag"
      needed="organize"
      room={260}
      isOpen={isOpen}
      setOpen={setOpen}
    >
      <Stack gap="xs">
        <form onSubmit={submit}>
          <TextInput
            size="xs"
            label="Find or add label"
            value={typed}
            maxLength={MAX_LABEL_LENGTH}
            onChange={(event) => setTyped(event.currentTarget.value)}
            data-autofocus
          />
          {isNew && (
            <QuietButton
              label={`Add "${wanted}"`}
              type="submit"
              size="compact-sm"
              mt="xs"
              leftSection={<Icon name="plus" size={14} />}
            />
          )}
        </form>
        {shown.length > 0 ? (
          <ScrollArea.Autosize mah={220}>
            <Stack gap={8} p={2}>
              {shown.map((name) => (
                <Checkbox
                  key={makeKey(name)}
                  size="xs"
                  label={name}
                  checked={has(name) === given.length}
                  indeterminate={has(name) > 0 && has(name) < given.length}
                  onChange={() => toggle(name)}
                />
              ))}
            </Stack>
          </ScrollArea.Autosize>
        ) : (
          !isNew && <Fine>No labels yet. Type a word to create one.</Fine>
        )}
      </Stack>
    </PopoverButton>
  );
}

function makeKey(label: string): string {
  return label.toLowerCase();
}

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

interface SnoozeMenuProps {
  isSnoozed: boolean;
  isOpen: boolean;
  setOpen: (isOpen: boolean) => void;
  /** null: back to the inbox */
  snooze: (until: string | null) => void;
  /** when it comes back unless someone replies; absent if reminders are not offered */
  remindAt?: string | null;
  remind?: (at: string | null) => void;
}

/** Takes conversations out of the inbox until a time, and sets a reminder for one that no one replies to. */
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
    <PopoverButton label="Snooze" title="Snooze (b)" icon="clock" room={250} isOpen={isOpen} setOpen={setOpen}>
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
            <Fine>{remindAt === null ? 'Remind me if no one replies' : `Reminder ${shortTime(remindAt)}`}</Fine>
            {REMINDERS.map(([label, words]) => item(`${label} without a reply`, () => remind(words)))}
            {remindAt !== null && item('Remove reminder', () => remind(null))}
          </>
        )}
      </Stack>
    </PopoverButton>
  );
}

interface AssignMenuProps {
  assignee: Assignee | null;
  /** null: to none */
  assign: (to: Assignee | null) => void;
}

/** Shows who works on the conversation, and assigns it; nothing in a workspace with one member. */
export function AssignMenu({ assignee, assign }: AssignMenuProps) {
  const { members, isTeam } = useTeam();
  const mayAssign = useRight('organize');
  if (!isTeam && assignee === null) return null;
  const called = assignee === null ? null : nameAssignee(assignee);
  const face = <Face name={called ?? ''} image={assignee?.image} size={24} />;
  if (!mayAssign) return called === null ? null : <span title={`Assigned to ${called}`}>{face}</span>;
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="main"
          size="lg"
          title={called === null ? 'Assign (i: to you)' : `Assigned to ${called}`}
        >
          {face}
          <span className={style['words']}>{called === null ? 'Assign' : `Assigned to ${called}`}</span>
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown mah={320} style={{ overflowY: 'auto' }}>
        {members.map(({ id, email, image, called: name, isYou }) => (
          <Menu.Item
            key={id}
            disabled={assignee?.id === id}
            leftSection={<Face name={name} image={image} size={20} />}
            onClick={() => assign({ id, email, image, name })}
          >
            {isYou ? 'Assign to me' : `Assign to ${name}`}
          </Menu.Item>
        ))}
        {assignee !== null && (
          <>
            <Menu.Divider />
            <Menu.Item onClick={() => assign(null)}>Remove assignment</Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
