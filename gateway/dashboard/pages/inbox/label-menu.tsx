import { ActionIcon, Button, Checkbox, Popover, ScrollArea, Stack, Text, TextInput } from '@mantine/core';
import { type SubmitEvent, useState } from 'react';
import { IconPlus, IconTag } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import type { LabelCount } from './inbox-documents.ts';

/** Maximum characters of a label. */
const MAX_LABEL_LENGTH = 64;

export interface LabelMenuProps {
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
    ...new Map([...labels.map(({ name }) => name), ...given.flat()].map((name) => [keyOf(name), name])).values(),
  ];
  const shown = names.filter((name) => keyOf(name).includes(keyOf(wanted)));
  const isNew = wanted !== '' && !names.some((name) => keyOf(name) === keyOf(wanted));
  const has = (name: string) => given.filter((own) => own.some((label) => keyOf(label) === keyOf(name))).length;
  const toggle = (name: string) => (has(name) === given.length ? change([], [name]) : change([name], []));
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (wanted === '') return;
    const existing = names.find((name) => keyOf(name) === keyOf(wanted));
    change([existing ?? wanted], []);
    setTyped('');
    setOpen(false);
  };
  return (
    <Popover
      opened={isOpen}
      onChange={setOpen}
      position="bottom-end"
      width={260}
      transitionProps={{ duration: 0 }}
      trapFocus
      returnFocus
      withRoles
    >
      <Popover.Target>
        <ActionIcon
          {...needs('organize')}
          variant="subtle"
          color="main"
          size="lg"
          aria-label="Labels"
          title="Labels (l)"
          onClick={() => setOpen(!isOpen)}
        >
          <IconTag size={18} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label="Labels">
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
              <Button type="submit" size="compact-sm" variant="default" mt="xs" leftSection={<IconPlus size={14} />}>
                {`Add "${wanted}"`}
              </Button>
            )}
          </form>
          {shown.length > 0 ? (
            <ScrollArea.Autosize mah={220}>
              <Stack gap={8} p={2}>
                {shown.map((name) => (
                  <Checkbox
                    key={keyOf(name)}
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
            !isNew && (
              <Text size="xs" c="dimmed">
                No labels yet. Type a word to create one.
              </Text>
            )
          )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

function keyOf(label: string): string {
  return label.toLowerCase();
}
