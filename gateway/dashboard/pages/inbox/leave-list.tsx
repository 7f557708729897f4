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

const SEND = graphql(`
  mutation InboxUnsubscribeByMail($input: SendEmailInput!) {
    sendEmail(input: $input) {
      __typename
      ... on SendEmailPayload { email { id } }
      ... on Error { message code }
    }
  }
`);

/** Leaves the list that sent a message: with one click or a mail after a question, or on the page of the list. */
export function LeaveList({
  emailId,
  offer,
  from,
}: {
  emailId: string;
  /** the address that received the message, which a mail to the list comes from; null: unknown */
  from: string | null;
  offer: NonNullable<MessageBodyData['listUnsubscribe']>;
}) {
  const [isOpen, setOpen] = useState(false);
  const { act, isBusy } = useAct(UNSUBSCRIBE);
  const { act: send, isBusy: isSending } = useAct(SEND);
  const { url, isOneClick } = offer;
  const mail = offer.mailto === null || from === null ? null : readMailto(offer.mailto);
  const byMail = !isOneClick && url === null ? mail : null;
  if (url === null && byMail === null) return null;
  if (url !== null && !isOneClick)
    return (
      <Anchor size="xs" href={url} target="_blank" rel="noopener noreferrer">
        Unsubscribe
      </Anchor>
    );
  const leave = async () => {
    if (byMail !== null && from !== null) {
      const { payload } = await send({
        input: {
          from,
          to: [byMail.to],
          subject: byMail.subject,
          text: byMail.body,
          idempotencyKey: `unsubscribe ${emailId}`,
        },
      });
      setOpen(false);
      if (payload !== null)
        notify({ message: `A mail to ${byMail.to} asks to be removed from the list.`, color: 'green' });
      return;
    }
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
            {byMail === null
              ? `Ask ${new URL(url ?? '').host} to send no more mail of this list?`
              : `Send a mail from ${from} to ${byMail.to}, which asks to be removed from this list? Its subject: ${byMail.subject}`}
          </Text>
          <Button {...needs('send')} size="xs" loading={isBusy || isSending} onClick={() => void leave()}>
            {byMail === null ? 'Unsubscribe' : 'Send mail'}
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

/** Returns the mail that a `mailto:` address asks for (RFC 6068); null if it names no or several addresses. */
function readMailto(mailto: string): { to: string; subject: string; body: string } | null {
  try {
    const { pathname, search } = new URL(mailto);
    // A plus is itself here, not a space: lists have it in their tokens (RFC 6068 section 5).
    const searchParams = new URLSearchParams(search.replaceAll('+', '%2B'));
    const to = decodeURIComponent(pathname).trim();
    if (!/^[^\s@,<>"]+@[^\s@,<>"]+$/.test(to)) return null;
    const subject = (searchParams.get('subject') ?? '').replaceAll(/\s+/g, ' ').trim().slice(0, 500);
    const body = (searchParams.get('body') ?? '').trim().slice(0, 5_000);
    return { to, subject: subject === '' ? 'unsubscribe' : subject, body: body === '' ? 'unsubscribe' : body };
  } catch {
    return null;
  }
}
