import { Code, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { lastReplyText } from '../../../../core/smtp/delivery-status.ts';
import { connection } from '../../graphql.ts';
import { ActButton } from '../../parts/buttons.tsx';
import { type ListRow, listSource } from '../../parts/list.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { RefusalNote } from '../../parts/send-again.tsx';
import { Hint, Small, StatusBadge } from '../../parts/text.tsx';
import { counted } from '../../parts/words.ts';
import { RETRY_SENDING } from '../activity/email-documents.ts';
import { chooseTone, showSubject } from '../activity/email-words.ts';
import { ListFrame, MailCard, useGrowingList } from '../activity/mail-list.tsx';

const DEFERRED_LIST = listSource({
  label: 'Deferred emails',
  query: connection(`waitingEmails($for: WaitReason!) {
    id subject createdAt
    from { name address }
    recipients { id address status attemptCount lastCode lastEnhancedStatus lastText nextAttemptAt }
  }`),
  size: 30,
  kinds: ['EMAIL_DELAYED', 'EMAIL_DELIVERED', 'EMAIL_BOUNCED', 'EMAIL_FAILED', 'EMAIL_SENT'],
  types: ['Email', 'Recipient'],
});
type Deferred = ListRow<typeof DEFERRED_LIST>;

/** Deferred sent mail, each with the server's last reply and the next attempt. */
export function DeferredList() {
  const list = useGrowingList(DEFERRED_LIST, { for: 'DEFERRED' });
  return (
    <ListFrame
      list={list}
      empty={{
        icon: 'send',
        title: 'No deferred emails',
        about: 'Emails that a server temporarily refused appear here. Postroom retries them for five days.',
      }}
    >
      {(email) => <DeferredRow key={email.id} email={email} />}
    </ListFrame>
  );
}

function DeferredRow({ email }: { email: Deferred }) {
  const waiting = email.recipients.filter(({ status, attemptCount }) => status === 'PENDING' && attemptCount > 0);
  return (
    <SentRow
      email={email}
      actions={
        <ActButton {...RETRY_SENDING} aria-label={`Retry now: “${showSubject(email)}”`} input={{ id: email.id }} />
      }
    >
      {waiting.map((recipient) => (
        <div key={recipient.id}>
          <Small className="postroom-wrap">
            {recipient.address}: {counted(recipient.attemptCount, 'try', 'tries')}
            {recipient.nextAttemptAt !== null && <RelativeTime at={recipient.nextAttemptAt} prefix=", next " />}
          </Small>
          <LastReply recipient={recipient} />
        </div>
      ))}
    </SentRow>
  );
}

const BOUNCED_LIST = listSource({
  label: 'Bounced emails',
  query: connection(`emails($filter: EmailFilter) {
    id subject status createdAt failureReason
    from { name address }
    recipients { id address status lastCode lastEnhancedStatus lastText refusal { title advice } }
  }`),
  size: 30,
  kinds: ['EMAIL_BOUNCED', 'EMAIL_FAILED', 'EMAIL_COMPLAINED'],
  types: ['Email'],
});
const FAILED_LIST = { ...BOUNCED_LIST, label: 'Failed emails' };
type Undelivered = ListRow<typeof BOUNCED_LIST>;

const UNDELIVERED_EMPTY = {
  BOUNCED: {
    title: 'No bounced emails',
    about: 'Emails that a server permanently refused appear here with its reply.',
  },
  FAILED: { title: 'No failed emails', about: 'Emails that no server accepted within five days appear here.' },
};

/** Sent mail that a server rejected or that was given up. */
export function UndeliveredList({ status }: { status: 'BOUNCED' | 'FAILED' }) {
  const list = useGrowingList(status === 'BOUNCED' ? BOUNCED_LIST : FAILED_LIST, {
    filter: { type: 'SENT', status, timeRange: 'ALL' },
  });
  return (
    <ListFrame list={list} empty={{ icon: 'mail-check', ...UNDELIVERED_EMPTY[status] }}>
      {(email) => <UndeliveredRow key={email.id} email={email} />}
    </ListFrame>
  );
}

function UndeliveredRow({ email }: { email: Undelivered }) {
  const undelivered = email.recipients.filter(({ status }) => status === 'BOUNCED' || status === 'FAILED');
  return (
    <SentRow email={email} mark={<StatusBadge status={email.status} tone={chooseTone(email.status)} />}>
      {undelivered.length === 0 && email.failureReason !== null && <Small>{email.failureReason}</Small>}
      {undelivered.map((recipient) => (
        <div key={recipient.id}>
          <Small className="postroom-wrap">{recipient.address}</Small>
          <RefusalNote refusal={recipient.refusal} />
          <LastReply recipient={recipient} />
        </div>
      ))}
    </SentRow>
  );
}

interface SentRowProps {
  email: Pick<Deferred, 'id' | 'subject' | 'createdAt' | 'from'>;
  /** beside the subject */
  mark?: ReactNode;
  actions?: ReactNode;
  /** its recipients */
  children: ReactNode;
}

/** A sent email with what its recipients' servers say. */
function SentRow({ email, mark, actions, children }: SentRowProps) {
  const { from, createdAt } = email;
  return (
    <MailCard
      email={email}
      tab="recipients"
      marks={mark}
      actions={actions}
      details={
        <Stack gap="xs" mt="xs">
          {children}
        </Stack>
      }
    >
      <Hint className="postroom-wrap">
        from {from.address}, <RelativeTime at={createdAt} />
      </Hint>
    </MailCard>
  );
}

interface LastReplyProps {
  recipient: Pick<Deferred['recipients'][number], 'lastCode' | 'lastEnhancedStatus' | 'lastText'>;
}

/** Last reply of a recipient's server. */
function LastReply({ recipient: { lastCode, lastEnhancedStatus, lastText } }: LastReplyProps) {
  const words = lastReplyText(lastCode, lastEnhancedStatus, lastText);
  return words === null ? null : (
    <Code block className="postroom-wrap" style={{ whiteSpace: 'pre-wrap' }}>
      {words}
    </Code>
  );
}
