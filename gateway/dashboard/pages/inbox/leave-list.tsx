import { Anchor, Button, Popover, Stack, Text, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { graphql } from '../../graphql.ts';
import { needs } from '../../parts/needs.ts';
import { notify } from '../../parts/notify.ts';
import { useAct } from '../../parts/use-act.ts';
import type { MessageBodyData } from './thread-documents.ts';

const UNSUBSCRIBE = graphql(`
  mutation InboxUnsubscribe($input: UnsubscribeFromListInput!) {
    unsubscribeFromList(input: $input) {
      __typename
      ... on UnsubscribeFromListPayload { isDone message }
      ... on Error { message code }
    }
  }
`);

/** Leaves the list that sent a message: with one click after a question, or on the page of the list. Nothing if the message names neither. */
export function LeaveList({
  emailId,
  offer,
}: {
  emailId: string;
  offer: NonNullable<MessageBodyData['listUnsubscribe']>;
}) {
  const [isOpen, setOpen] = useState(false);
  const { act, isBusy } = useAct(UNSUBSCRIBE);
  const { url, isOneClick } = offer;
  if (url === null) return null;
  if (!isOneClick)
    return (
      <Anchor size="xs" href={url} target="_blank" rel="noopener noreferrer">
        Unsubscribe
      </Anchor>
    );
  const leave = async () => {
    const { payload } = await act({ input: { emailId } });
    setOpen(false);
    if (payload !== null) notify({ message: payload.message, color: payload.isDone ? 'green' : 'red' });
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} width={280} position="bottom-start" withRoles trapFocus returnFocus>
      <Popover.Target>
        <UnstyledButton fz="xs" c="var(--mantine-color-anchor)" onClick={() => setOpen(!isOpen)}>
          Unsubscribe
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          <Text size="sm" className="postroom-wrap">
            {`Ask ${new URL(url).host} to send no more mail of this list?`}
          </Text>
          <Button {...needs('send')} size="xs" loading={isBusy} onClick={() => void leave()}>
            Unsubscribe
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
