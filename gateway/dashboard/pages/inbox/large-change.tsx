import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';

/** A change of more conversations than this asks first. */
const ASK_ABOVE = 50;

/** A change of many conversations that waits for the user. */
interface Question {
  title: string;
  about: string;
  confirm: string;
  run: () => void;
}

/** Asks before changes of many conversations, with their number. */
export interface LargeChange {
  /** Runs a change at once, or asks whether to. `action`: such as `Mark # as read`, where # stands for the conversations. */
  ask: (action: string, count: number, run: () => void) => void;
  /** Asks whether to undo a change from before the page was loaded again, which the user may not have meant. */
  askToUndo: (text: string, run: () => void) => void;
  question: Question | null;
  close: () => void;
}

export function useLargeChange(): LargeChange {
  const [question, setQuestion] = useState<Question | null>(null);
  return {
    ask(action, count, run) {
      const confirm = action.replace('#', `${count.toLocaleString('en')} conversations`);
      if (count > ASK_ABOVE) setQuestion({ title: `${confirm}?`, about: 'You can undo this for a day.', confirm, run });
      else run();
    },
    askToUndo: (text, run) =>
      setQuestion({ title: 'Undo the last change?', about: `It was: ${text}`, confirm: 'Undo', run }),
    question,
    close: () => setQuestion(null),
  };
}

/** The question of a large change. */
export function LargeChangeDialog({ change: { question, close } }: { change: LargeChange }) {
  if (question === null) return null;
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
