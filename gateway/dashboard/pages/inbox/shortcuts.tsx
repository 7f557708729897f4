import { Group, Kbd, Modal, Table, Text, VisuallyHidden } from '@mantine/core';
import { useEffect, useEffectEvent } from 'react';

/** All keyboard shortcuts with their descriptions. */
const KEYS = [
  { keys: ['j', '↓'], about: 'Next conversation' },
  { keys: ['k', '↑'], about: 'Previous conversation' },
  { keys: ['Enter', 'o'], about: 'Open conversation' },
  { keys: ['Esc'], about: 'Back to list' },
  { keys: ['x', 'Space'], about: 'Select conversation' },
  { keys: ['Shift + ↓', 'Shift + ↑'], about: 'Extend selection' },
  { keys: ['e'], about: 'Archive or unarchive' },
  { keys: ['#'], about: 'Delete' },
  { keys: ['u'], about: 'Mark as unread or read' },
  { keys: ['l'], about: 'Edit labels' },
  { keys: ['m'], about: 'Merge selected conversations' },
  { keys: ['r'], about: 'Reply' },
  { keys: ['a'], about: 'Reply to all' },
  { keys: ['f'], about: 'Forward' },
  { keys: ['c'], about: 'Write email' },
  { keys: ['z'], about: 'Undo' },
  { keys: ['/'], about: 'Search' },
  { keys: ['?'], about: 'Show keyboard shortcuts' },
];

/** Selector of overlays that receive the keys while they are open. */
const OVERLAYS = '[role=dialog], [role=menu], .mantine-Popover-dropdown';

/** Calls back for keys pressed without modifiers while no field, menu or dialog has the focus. */
export function useShortcuts(actions: Record<string, () => void>): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const action = actions[event.key];
    if (action === undefined || isTaken(event)) return;
    event.preventDefault();
    action();
  });
  useEffect(() => {
    let isAside = false;
    // Checked before any handler runs: the key may close the overlay.
    const look = () => {
      isAside = [...document.querySelectorAll(OVERLAYS)].some((overlay) => overlay.checkVisibility());
    };
    const listener = (event: KeyboardEvent) => {
      if (!isAside) press(event);
    };
    window.addEventListener('keydown', look, { capture: true });
    document.addEventListener('keydown', listener);
    return () => {
      window.removeEventListener('keydown', look, { capture: true });
      document.removeEventListener('keydown', listener);
    };
  }, []);
}

/** Returns whether the focused element uses the key. */
function isTaken({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return false;
  if (
    target.closest(
      'input:not([type=checkbox]), textarea, select, [contenteditable], [role=dialog], [role=menu], [role=listbox]',
    ) !== null
  )
    return true;
  return (key === 'Enter' || key === ' ') && target.closest('a, button, summary, [role=button], input') !== null;
}

/** A dialog with all shortcuts of the inbox. */
export function ShortcutsHelp({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title="Keyboard shortcuts"
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Table withRowBorders={false} verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>
              <VisuallyHidden>Key</VisuallyHidden>
            </Table.Th>
            <Table.Th>
              <VisuallyHidden>What it does</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {KEYS.map(({ keys, about }) => (
            <Table.Tr key={about}>
              <Table.Td w={170}>
                <Group gap={6}>
                  {keys.map((key) => (
                    <Kbd key={key}>{key}</Kbd>
                  ))}
                </Group>
              </Table.Td>
              <Table.Td>
                <Text size="sm">{about}</Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
