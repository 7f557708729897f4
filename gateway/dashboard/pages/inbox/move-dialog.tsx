import { Button, Group, Modal, Radio, ScrollArea, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useQuery } from 'urql';
import { graphql } from '../../graphql.ts';
import { counted } from '../../parts/counted.ts';
import { ErrorNote } from '../../parts/error-note.tsx';
import { showNotice } from '../../parts/notice.tsx';
import { relativeTime } from '../../parts/time-words.ts';
import { useAct } from '../../parts/use-act.ts';
import { nameOf } from './people.ts';
import type { ThreadMessage } from './thread-documents.ts';
import { useNow } from './use-now.ts';

const CANDIDATES = graphql(`
  query InboxMoveCandidates($search: String) {
    threads(first: 20, filter: { search: $search }) {
      edges { node { id normalizedSubject lastMessageAt messageCount participants { name address } } }
    }
  }
`);

const MOVE = graphql(`
  mutation InboxMoveEmails($input: MoveEmailsInput!) {
    moveEmails(input: $input) { __typename ... on MoveEmailsPayload { thread { id } } }
  }
`);

const TYPING_MS = 200;

/** Moves a message to another conversation, which the user searches by subject or participants. */
export function MoveDialog({
  close,
  message,
  threadId,
  opened,
}: {
  close: () => void;
  message: ThreadMessage;
  threadId: string;
  opened: (threadId: string) => void;
}) {
  const now = useNow(null);
  const [typed, setTyped] = useState('');
  const [target, setTarget] = useState('');
  const [search] = useDebouncedValue(typed.trim(), TYPING_MS);
  const [{ data, fetching, error }, again] = useQuery({
    query: CANDIDATES,
    variables: { search: search === '' ? null : search },
    requestPolicy: 'cache-and-network',
  });
  const { act, isBusy } = useAct(MOVE);
  const candidates = (data?.threads.edges ?? []).map(({ node }) => node).filter(({ id }) => id !== threadId);
  const move = async () => {
    const { payload } = await act({ input: { threadId: target, emailIds: [message.id] } });
    if (payload === null) return;
    close();
    opened(payload.thread.id);
    showNotice('The message was moved to this conversation.');
  };
  return (
    <Modal opened onClose={close} title="Move message" centered size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack>
        <TextInput
          label="Conversation"
          description="Part of the subject or of an address"
          value={typed}
          maxLength={100}
          onChange={(event) => setTyped(event.currentTarget.value)}
          data-autofocus
        />
        <ScrollArea.Autosize mah={320}>
          <Radio.Group value={target} onChange={setTarget} aria-label="Conversations">
            <Stack gap="xs" p={2}>
              {candidates.map(({ id, normalizedSubject, participants, lastMessageAt, messageCount }) => (
                <Radio
                  key={id}
                  value={id}
                  label={normalizedSubject || 'No subject'}
                  description={`${participants.slice(0, 3).map(nameOf).join(', ')} · ${counted(messageCount, 'message')} · ${relativeTime(lastMessageAt, now)}`}
                />
              ))}
            </Stack>
          </Radio.Group>
          {error !== undefined && <ErrorNote error={error} retry={() => again({ requestPolicy: 'network-only' })} />}
          {!fetching && error === undefined && candidates.length === 0 && (
            <Text size="sm" c="dimmed">
              No matching conversations.
            </Text>
          )}
        </ScrollArea.Autosize>
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button disabled={!candidates.some(({ id }) => id === target)} loading={isBusy} onClick={() => void move()}>
            Move
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
