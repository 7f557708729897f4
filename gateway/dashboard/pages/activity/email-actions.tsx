import { Button, Group, Loader, Modal } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { graphql } from '../../graphql.ts';
import {
  IconArchive,
  IconArrowBackUp,
  IconArrowForwardUp,
  IconMail,
  IconMailOpened,
  IconRefresh,
  IconSend,
  IconShieldCheck,
} from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { useAct } from '../../parts/use-act.ts';
import { FieldComing } from '../../shell/keys.ts';
import { ApprovalActions } from '../approvals/approval-actions.tsx';
import { ScheduleActions } from '../scheduled/schedule-actions.tsx';
import type { EmailHeadData } from './email-documents.ts';
import { subjectOf } from './email-words.ts';
import { ReprocessDialog } from './reprocess-dialog.tsx';
import { RELEASE, RETRY_SENDING } from './waiting-documents.ts';

const MARK = graphql(`
  mutation DashboardMarkEmail($input: UpdateEmailInput!) {
    updateEmail(input: $input) { __typename ... on UpdateEmailPayload { email { id isRead isArchived } } }
  }
`);
const RETRY = graphql(`
  mutation DashboardRetryEmail($id: ID!) {
    retryEmail(input: { id: $id }) { __typename ... on RetryEmailPayload { deliveries { id } } }
  }
`);

/** Actions that the current state of the email allows. */
export function EmailActions({ email }: { email: EmailHeadData }) {
  return (
    <Group gap="xs" mt="sm" role="group" aria-label="Actions">
      {email.type !== 'SCHEDULED' && <AnswerActions email={email} />}
      {email.type === 'RECEIVED' && <ReceivedActions email={email} />}
      {email.type === 'SCHEDULED' && <ScheduleActions email={email} />}
      {email.status === 'AWAITING_APPROVAL' && <ApprovalActions id={email.id} title={subjectOf(email)} />}
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
          {...needs('send', 'everything')}
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
          {...needs('endpoints')}
          size="xs"
          leftSection={<IconShieldCheck size={16} aria-hidden />}
          loading={release.isBusy}
          onClick={() => void release.act({ id })}
        >
          Release
        </Button>
      )}
      <Button
        {...needs('organize')}
        size="xs"
        variant="default"
        leftSection={isRead ? <IconMail size={16} aria-hidden /> : <IconMailOpened size={16} aria-hidden />}
        loading={mark.isBusy}
        onClick={() => void mark.act({ input: { id, isRead: !isRead } })}
      >
        {isRead ? 'Mark as unread' : 'Mark as read'}
      </Button>
      <Button
        {...needs('organize')}
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
      {...needs('send', 'everything')}
      size="xs"
      leftSection={<IconSend size={16} aria-hidden />}
      loading={retry.isBusy}
      onClick={() => void retry.act({ id })}
    >
      Retry now
    </Button>
  );
}

const Composer = lazy(async () => ({ default: (await import('../../composer/composer.tsx')).Composer }));

/** Buttons that reply to or forward an email without leaving its page. */
function AnswerActions({ email }: { email: EmailHeadData }) {
  const [mode, setMode] = useState<'reply' | 'forward' | null>(null);
  const close = () => setMode(null);
  return (
    <>
      <Button
        {...needs('send')}
        size="xs"
        leftSection={<IconArrowBackUp size={16} aria-hidden />}
        onClick={() => setMode('reply')}
      >
        Reply
      </Button>
      <Button
        {...needs('send')}
        size="xs"
        variant="default"
        leftSection={<IconArrowForwardUp size={16} aria-hidden />}
        onClick={() => setMode('forward')}
      >
        Forward
      </Button>
      <Modal
        opened={mode !== null}
        onClose={close}
        size="xl"
        title={`${mode === 'forward' ? 'Forward' : 'Reply to'} “${subjectOf(email)}”`}
      >
        <Suspense
          fallback={
            <>
              <FieldComing cancel={close} />
              <Loader aria-label="Loading" />
            </>
          }
        >
          {mode !== null && <Composer mode={mode} emailId={email.id} close={close} />}
        </Suspense>
      </Modal>
    </>
  );
}
