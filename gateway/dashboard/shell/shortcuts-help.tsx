import { Group, Kbd, Modal, SimpleGrid, Stack, Title } from '@mantine/core';
import { Small } from '../parts/text.tsx';
import { places } from './places.ts';

type Shortcut = { keys: string[]; about: string };

/** Keys that change a conversation. */
const CHANGES: Shortcut[] = [
  { keys: ['e'], about: 'Archive or unarchive' },
  { keys: ['b'], about: 'Snooze' },
  { keys: ['#'], about: 'Delete' },
  { keys: ['u'], about: 'Mark as unread or read' },
  { keys: ['l'], about: 'Edit labels' },
  { keys: ['i'], about: 'Assign to me, or remove' },
];
/** Keys that reply to a conversation. */
const REPLIES: Shortcut[] = [
  { keys: ['r'], about: 'Reply' },
  { keys: ['a'], about: 'Reply to all' },
  { keys: ['f'], about: 'Forward' },
];

/** The actions of an open conversation, with their keys and the right that each needs. */
export const CONVERSATION_ACTIONS = [
  ...REPLIES.map((shortcut) => ({ ...shortcut, right: 'send' })),
  ...CHANGES.map((shortcut) => ({ ...shortcut, right: 'organize' })),
];

/** All keyboard shortcuts with their descriptions, by where they work. */
const GROUPS: { heading: string; shortcuts: Shortcut[] }[] = [
  {
    heading: 'Everywhere',
    shortcuts: [
      { keys: ['Ctrl', 'k'], about: 'Open command palette' },
      { keys: ['?'], about: 'Show keyboard shortcuts' },
      ...places.flatMap((group) => group.places).map(({ key, label }) => ({ keys: ['g', key], about: label })),
    ],
  },
  {
    heading: 'Inbox',
    shortcuts: [
      { keys: ['j'], about: 'Next conversation' },
      { keys: ['k'], about: 'Previous conversation' },
      { keys: ['Enter'], about: 'Open conversation' },
      { keys: ['Esc'], about: 'Back to list' },
      { keys: ['x'], about: 'Select conversation' },
      { keys: ['Shift', '↓'], about: 'Extend selection' },
      ...CHANGES,
      { keys: ['m'], about: 'Merge selected conversations' },
      ...REPLIES,
      { keys: ['c'], about: 'Write email' },
      { keys: ['z'], about: 'Undo' },
      { keys: ['/'], about: 'Search' },
    ],
  },
  {
    heading: 'Composer',
    shortcuts: [
      { keys: ['Ctrl', 'Enter'], about: 'Send' },
      { keys: ['Esc'], about: 'Close and keep draft' },
    ],
  },
];

/** A dialog with all keyboard shortcuts. */
export function ShortcutsHelp({ close }: { close: () => void }) {
  return (
    <Modal opened onClose={close} title="Keyboard shortcuts" size="lg" centered>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xl">
        <List {...GROUPS[0]} />
        <Stack gap="lg">
          <List {...GROUPS[1]} />
          <List {...GROUPS[2]} />
        </Stack>
      </SimpleGrid>
    </Modal>
  );
}

function List({ heading = '', shortcuts = [] }: Partial<(typeof GROUPS)[number]>) {
  return (
    <section aria-label={heading}>
      <Title order={3} size="h5" mb={6}>
        {heading}
      </Title>
      <Stack gap={4}>
        {shortcuts.map(({ keys, about }) => (
          <Group key={about} justify="space-between" gap="xs" wrap="nowrap">
            <Small>{about}</Small>
            <Group gap={4} wrap="nowrap">
              {keys.map((key) => (
                <Kbd key={key} size="xs">
                  {key}
                </Kbd>
              ))}
            </Group>
          </Group>
        ))}
      </Stack>
    </section>
  );
}
