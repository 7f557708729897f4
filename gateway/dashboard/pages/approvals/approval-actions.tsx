import { Button, Textarea } from '@mantine/core';
import { useState } from 'react';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { IconCheck, IconX } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { useAct } from '../../parts/use-act.ts';
import { APPROVE, REJECT } from './approval-documents.ts';

/** Characters; see MAX_REJECTION_REASON_LENGTH. */
const MAX_REASON = 500;

/** Buttons that decide about an email that waits for approval. */
export function ApprovalActions({ id, title }: { id: string; title: string }) {
  const approve = useAct(APPROVE, { done: 'The email was approved.' });
  const reject = useAct(REJECT, { done: 'The email was rejected. It is not sent.' });
  const [reason, setReason] = useState('');
  return (
    <>
      <Button
        {...needs('approve')}
        size="xs"
        leftSection={<IconCheck size={16} aria-hidden />}
        loading={approve.isBusy}
        onClick={() => void approve.act({ id })}
        aria-label={`Approve “${title}”`}
      >
        Approve
      </Button>
      <ConfirmButton
        {...needs('approve')}
        label="Reject"
        leftSection={<IconX size={16} aria-hidden />}
        question={`Reject “${title}”?`}
        about="The email is not sent. Its sender can read the reason."
        confirm="Reject email"
        act={() => reject.act({ id, reason: reason.trim() === '' ? null : reason })}
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
