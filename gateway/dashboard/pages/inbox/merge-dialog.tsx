import { Button, Group, List, Modal, Stack, Text } from '@mantine/core';
import type { ThreadRow } from './inbox-documents.ts';

/** Asks before conversations are merged: only a split separates them again. */
export function MergeDialog({
  threads,
  close,
  merge,
}: {
  threads: readonly ThreadRow[];
  close: () => void;
  merge: () => void;
}) {
  return (
    <Modal
      opened
      onClose={close}
      title={`Merge ${threads.length} conversations into one?`}
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <List size="sm">
          {threads.map(({ id, subject, messageCount }) => (
            <List.Item key={id} className="postroom-wrap">
              {subject || 'No subject'}
              {messageCount > 1 ? ` (${messageCount} messages)` : ''}
            </List.Item>
          ))}
        </List>
        <Text size="sm" c="dimmed">
          The oldest conversation takes all messages and labels, and later replies. To separate them again, split the
          conversation at a message.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button onClick={merge} data-autofocus>
            Merge conversations
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
