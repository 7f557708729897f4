import { Alert, Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useState } from 'react';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ErrorNote } from '../../parts/error-note.tsx';
import { MailFrame } from '../../parts/mail-frame.tsx';
import style from './inbox.module.css';
import { MessageAttachments } from './message-attachments.tsx';
import { MessageEnvelope } from './message-envelope.tsx';
import { MessageRecipients } from './message-recipients.tsx';
import { MESSAGE_BODY, type MessageBodyData, type ThreadMessage } from './thread-documents.ts';

/** Everything below the head of a message. */
export function MessageBody({ message }: { message: ThreadMessage }) {
  const { data, error, refresh } = useLiveQuery({
    query: MESSAGE_BODY,
    variables: { id: message.id },
    kinds: [
      'EMAIL_DELIVERED',
      'EMAIL_DELAYED',
      'EMAIL_BOUNCED',
      'EMAIL_FAILED',
      'EMAIL_COMPLAINED',
      'EMAIL_REPROCESSED',
    ],
    concerns: (event) => event.emailId === message.id,
  });
  const email = data?.email;
  return (
    <>
      <MessageEnvelope message={message} authentication={email?.content.authentication ?? null} />
      {error !== undefined && email === undefined && <ErrorNote error={error} retry={refresh} />}
      {email === undefined && error === undefined && <Skeleton h={60} aria-label="Loading the message" />}
      {email === null && <Text size="sm">This message was deleted.</Text>}
      {email != null && (
        <>
          {email.content.parseError !== null && (
            <Alert
              color="yellow"
              variant="outline"
              icon={<IconAlertTriangle aria-hidden />}
              title="This message could only be parsed in part"
            >
              <Text size="sm">{`${email.content.parseError}. You can download the whole message from its page.`}</Text>
            </Alert>
          )}
          <Words email={email} title={message.subject || 'No subject'} />
          <MessageAttachments attachments={email.attachments} />
          {message.type !== 'RECEIVED' && (
            <MessageRecipients recipients={email.recipients} failureReason={message.failureReason} />
          )}
        </>
      )}
    </>
  );
}

/** The HTML body, or the text without quoted parts, which can be expanded. */
function Words({ email, title }: { email: MessageBodyData; title: string }) {
  const [isWhole, setWhole] = useState(false);
  const { html, text, cleanedText, isTruncated } = email.content;
  if (html !== null) return <MailFrame emailId={email.id} title={title} />;
  if (text === null || text.trim() === '')
    return (
      <Text size="sm" c="dimmed">
        This message has no text.
      </Text>
    );
  const typed = cleanedText?.trim() ?? '';
  const hasMore = typed !== '' && typed.length < text.trim().length;
  return (
    <Stack gap="xs" align="flex-start">
      <Text component="div" size="sm" className={style['text'] ?? ''}>
        {hasMore && !isWhole ? typed : text.trimEnd()}
      </Text>
      <Group gap="xs">
        {hasMore && (
          <Button size="compact-xs" variant="default" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Hide quoted text and signature' : 'Show quoted text and signature'}
          </Button>
        )}
        {isTruncated && (
          <Text size="xs" c="dimmed">
            The message is truncated. You can download the whole message from its page.
          </Text>
        )}
      </Group>
    </Stack>
  );
}
