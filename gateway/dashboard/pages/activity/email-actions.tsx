import { Button, Group } from '@mantine/core';
import { IconArchive, IconMail, IconMailOpened, IconRefresh, IconSend, IconShieldCheck } from '@tabler/icons-react';
import { graphql } from '../../graphql.ts';
import { useAct } from '../../parts/use-act.ts';
import { ScheduleActions } from '../scheduled/schedule-actions.tsx';
import { AnswerActions } from './answer-actions.tsx';
import type { EmailHeadData } from './email-documents.ts';
import { ReprocessDialog } from './reprocess-dialog.tsx';
import { RELEASE, RETRY_SENDING } from './waiting-documents.ts';

const MARK = graphql(`
  mutation DashboardMarkEmail($input: UpdateEmailInput!) {
    updateEmail(input: $input) {
      __typename
      ... on UpdateEmailPayload { email { id isRead isArchived } }
      ... on Error { message code }
    }
  }
`);
const RETRY = graphql(`
  mutation DashboardRetryEmail($id: ID!) {
    retryEmail(input: { id: $id }) {
      __typename
      ... on RetryEmailPayload { deliveries { id } }
      ... on Error { message code }
    }
  }
`);

/** Actions that the current state of the email allows. */
export function EmailActions({ email }: { email: EmailHeadData }) {
  return (
    <Group gap="xs" mt="sm" role="group" aria-label="Actions">
      {email.type !== 'SCHEDULED' && <AnswerActions email={email} />}
      {email.type === 'RECEIVED' && <ReceivedActions email={email} />}
      {email.type === 'SCHEDULED' && <ScheduleActions email={email} />}
      {email.type === 'SENT' && <SentActions email={email} />}
      {email.type !== 'SCHEDULED' && <ReprocessDialog emailId={email.id} isReceived={email.type === 'RECEIVED'} />}
    </Group>
  );
}

function ReceivedActions({ email: { id, guardStatus, isRead, isArchived } }: { email: EmailHeadData }) {
  const release = useAct(RELEASE, { done: 'The email was released and is being delivered.' });
  const retry = useAct(RETRY, { done: 'The email is being delivered again.' });
  const mark = useAct(MARK);
  return (
    <>
      {guardStatus === null ? (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconRefresh size={16} aria-hidden />}
          loading={retry.isBusy}
          onClick={() => void retry.act({ id })}
        >
          Deliver again
        </Button>
      ) : (
        <Button
          size="xs"
          leftSection={<IconShieldCheck size={16} aria-hidden />}
          loading={release.isBusy}
          onClick={() => void release.act({ id })}
        >
          Release
        </Button>
      )}
      <Button
        size="xs"
        variant="default"
        leftSection={isRead ? <IconMail size={16} aria-hidden /> : <IconMailOpened size={16} aria-hidden />}
        loading={mark.isBusy}
        onClick={() => void mark.act({ input: { id, isRead: !isRead } })}
      >
        {isRead ? 'Mark as unread' : 'Mark as read'}
      </Button>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconArchive size={16} aria-hidden />}
        loading={mark.isBusy}
        onClick={() => void mark.act({ input: { id, isArchived: !isArchived } })}
      >
        {isArchived ? 'Unarchive' : 'Archive'}
      </Button>
    </>
  );
}

function SentActions({ email: { id, recipients } }: { email: EmailHeadData }) {
  const retry = useAct(RETRY_SENDING, { done: 'The email is being sent again.' });
  const isDeferred = recipients.some(({ status, attemptCount }) => status === 'PENDING' && attemptCount > 0);
  if (!isDeferred) return null;
  return (
    <Button
      size="xs"
      leftSection={<IconSend size={16} aria-hidden />}
      loading={retry.isBusy}
      onClick={() => void retry.act({ id })}
    >
      Retry now
    </Button>
  );
}
