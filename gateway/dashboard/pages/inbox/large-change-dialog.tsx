import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { Question } from './large-change.ts';

/** The question of a large change. */
export function LargeChangeDialog({ question, close }: { question: Question; close: () => void }) {
  const { title, about, confirm, run } = question;
  return (
    <Modal opened onClose={close} title={title} centered>
      <Stack>
        <Text size="sm">{about}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={close} data-autofocus>
            Go back
          </Button>
          <Button
            onClick={() => {
              close();
              run();
            }}
          >
            {confirm}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
