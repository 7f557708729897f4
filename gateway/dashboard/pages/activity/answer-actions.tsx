import { Button, Loader, Modal } from '@mantine/core';
import { IconArrowBackUp, IconArrowForwardUp } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import type { EmailHeadData } from './email-documents.ts';
import { subjectOf } from './email-words.ts';

const Composer = lazy(async () => ({ default: (await import('../../composer/composer.tsx')).Composer }));

/** Buttons that reply to or forward an email without leaving its page. */
export function AnswerActions({ email }: { email: EmailHeadData }) {
  const [mode, setMode] = useState<'reply' | 'forward' | null>(null);
  const close = () => setMode(null);
  return (
    <>
      <Button size="xs" leftSection={<IconArrowBackUp size={16} aria-hidden />} onClick={() => setMode('reply')}>
        Reply
      </Button>
      <Button
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
        <Suspense fallback={<Loader aria-label="Loading" />}>
          {mode !== null && <Composer mode={mode} emailId={email.id} close={close} />}
        </Suspense>
      </Modal>
    </>
  );
}
