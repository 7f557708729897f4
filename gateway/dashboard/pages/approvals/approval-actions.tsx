import { Textarea } from '@mantine/core';
import { useState } from 'react';
import { graphql } from '../../graphql.ts';
import { ActButton } from '../../parts/buttons.tsx';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { IconCheck, IconX } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { useAct } from '../../parts/use-act.ts';

const APPROVE = graphql(`
  mutation DashboardApproveEmail($id: ID!) {
    approveEmail(input: { id: $id }) {
      __typename
      ... on ApproveEmailPayload { isChanged email { id status scheduledAt } }
    }
  }
`);
const REJECT = graphql(`
  mutation DashboardRejectEmail($id: ID!, $reason: String) {
    rejectEmail(input: { id: $id, reason: $reason }) {
      __typename
      ... on RejectEmailPayload { isChanged email { id status } }
    }
  }
`);

/** Characters; see MAX_REJECTION_REASON_LENGTH. */
const MAX_REASON = 500;

/** Buttons that decide about an email that waits for approval. */
export function ApprovalActions({ id, title }: { id: string; title: string }) {
  const { act: reject } = useAct(REJECT, { done: 'The email was rejected. It is not sent.' });
  const [reason, setReason] = useState('');
  return (
    <>
      <ActButton
        needed="approve"
        variant="filled"
        icon={IconCheck}
        aria-label={`Approve “${title}”`}
        mutation={APPROVE}
        variables={{ id }}
        done="The email was approved."
      >
        Approve
      </ActButton>
      <ConfirmButton
        {...needs('approve')}
        label="Reject"
        leftSection={<IconX size={16} aria-hidden />}
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
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
      </ConfirmButton>
    </>
  );
}
