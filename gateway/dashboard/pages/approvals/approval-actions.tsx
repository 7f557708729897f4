import { Button, Textarea } from '@mantine/core';
import { useState } from 'react';
import { connection, graphql, mutation } from '../../graphql.ts';
import { ConfirmButton } from '../../parts/buttons.tsx';
import { needs } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icons.ts';
import { useAct } from '../../parts/use-act.ts';

/** Mail that waits for approval, without its content. */
export const WAITING = connection(`waitingEmails($for: WaitReason!) {
  id subject status createdAt scheduledAt timezone
  from { name address }
  to { name address }
  cc { name address }
  bcc { name address }
  approval { sentBy reasonToWait isOfKey expiresAt }
}`);

/** The content of an email that waits, and the thread that it replies to. */
export const WAITING_CONTENT = graphql(`
  query DashboardApprovalContent($id: ID!, $last: Int!) {
    email(id: $id) {
      id subject
      attachments { index filename contentType size downloadUrl disposition }
      content { html }
      review {
        fields { name value }
        parts {
          path contentType disposition filename sizeBytes source isTruncated
          pieces { text target unseen { kind detail } }
        }
        notes { kind where detail }
        isTruncated
      }
      approval {
        thread {
          id normalizedSubject messageCount
          messages(last: $last) { edges { node { id type createdAt preview from { name address } } } }
        }
      }
    }
  }
`);

/** The replies to a thread that wait; few wait at once. */
export const WAITING_REPLIES = graphql(`
  query DashboardWaitingReplies {
    waitingEmails(for: AWAITING_APPROVAL, first: 50) { edges { node { id preview approval { thread { id } } } } }
  }
`);

/** Events after which other mail waits. */
export const APPROVAL_KINDS = [
  'EMAIL_APPROVAL_REQUESTED',
  'EMAIL_APPROVED',
  'EMAIL_REJECTED',
  'EMAIL_CANCELLED',
] as const;

const APPROVE = mutation('approveEmail', 'isChanged email { id status scheduledAt }');
const REJECT = mutation('rejectEmail', 'isChanged email { id status }');

/** Characters; see MAX_REJECTION_REASON_LENGTH. */
const MAX_REASON = 500;

/** `isRead`: whether its content is there; `isStill`: whether a click can be meant for no other email. */
type ApprovalActionsProps = { id: string; title: string; isRead?: boolean; isStill?: boolean };

/** Buttons that decide about an email that waits for approval. Once it is decided, they are busy until it leaves the page. */
export function ApprovalActions({ id, title, isRead = true, isStill = true }: ApprovalActionsProps) {
  const [isDecided, setDecided] = useState(false);
  const onDone = () => setDecided(true);
  const { act: approve, isBusy } = useAct(APPROVE, { done: 'The email was approved.', onDone });
  const { act: reject } = useAct(REJECT, { done: 'The email was rejected. It is not sent.', onDone });
  const [reason, setReason] = useState('');
  return (
    <>
      <Button
        {...needs('approve')}
        size="xs"
        leftSection={<Icon name="check" size={16} />}
        aria-label={`Approve “${title}”`}
        loading={isBusy || isDecided}
        // It keeps the focus.
        {...(!(isRead && isStill) && { 'aria-disabled': true, 'data-disabled': true })}
        // The keyboard means the button that has the focus, wherever it moved.
        onClick={({ detail }) => isRead && (isStill || detail === 0) && void approve({ id })}
      >
        Approve
      </Button>
      <ConfirmButton
        needed="approve"
        label="Reject"
        loading={isBusy || isDecided}
        leftSection={<Icon name="x" size={16} />}
        question={`Reject “${title}”?`}
        about="The email is not sent. Its sender can read the reason."
        confirm="Reject email"
        act={() => reject({ id, reason: reason.trim() === '' ? null : reason })}
      >
        <Textarea
          label="Reason"
          description="Optional"
          autosize
          minRows={2}
          maxRows={6}
          maxLength={MAX_REASON}
          data-autofocus
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
      </ConfirmButton>
    </>
  );
}
