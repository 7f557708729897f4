import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { graphql } from '../../graphql.ts';
import { showNotice } from '../../parts/notice.tsx';
import { useAct } from '../../parts/use-act.ts';
import type { ThreadMessage } from './thread-documents.ts';

const SPLIT = graphql(`
  mutation InboxSplitThread($input: SplitThreadInput!) {
    splitThread(input: $input) { __typename ... on SplitThreadPayload { newThread { id } thread { id } } }
  }
`);

const JOIN_AGAIN = graphql(`
  mutation InboxJoinAgain($input: MergeThreadsInput!) {
    mergeThreads(input: $input) { __typename ... on MergeThreadsPayload { thread { id } } }
  }
`);

/** Maximum number of messages that one split can move. */
const MAX_SPLIT = 500;

/** Asks before a conversation is split at a message, and splits it. */
export function SplitDialog({
  close,
  threadId,
  messages,
  opened,
}: {
  close: () => void;
  threadId: string;
  /** the messages that move */
  messages: readonly ThreadMessage[];
  opened: (threadId: string) => void;
}) {
  const { act, isBusy } = useAct(SPLIT);
  const { act: join } = useAct(JOIN_AGAIN, { done: 'The conversations were merged again' });
  const split = async () => {
    const emailIds = messages.slice(0, MAX_SPLIT).map(({ id }) => id);
    const { payload } = await act({ input: { threadId, emailIds } });
    if (payload === null) return;
    close();
    const newId = payload.newThread?.id;
    if (newId === undefined) return;
    opened(newId);
    showNotice('The conversation was split. This is the new one.', {
      undo: () =>
        void join({ input: { threadIds: [threadId, newId] } }).then(
          ({ payload: whole }) => whole && opened(whole.thread.id),
        ),
    });
  };
  return (
    <Modal
      opened
      onClose={close}
      title="Split conversation here?"
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Text size="sm">
          {messages.length === 1
            ? 'This message becomes a separate conversation.'
            : `This message and the ${messages.length - 1} after it become a separate conversation.`}{' '}
          Later replies are added to the new conversation.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button loading={isBusy} onClick={() => void split()} data-autofocus>
            Split
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
