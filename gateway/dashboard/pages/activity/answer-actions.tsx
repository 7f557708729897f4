import { Button } from '@mantine/core';
import { IconMessages } from '@tabler/icons-react';
import { Link } from 'wouter';
import type { EmailHeadData } from './email-documents.ts';

/** Ways to answer an email: where its thread is, one replies and forwards. */
export function AnswerActions({ email: { thread } }: { email: EmailHeadData }) {
  if (thread === null) return null;
  return (
    <Button
      component={Link}
      href={`/inbox/${thread.id}`}
      size="xs"
      leftSection={<IconMessages size={16} aria-hidden />}
    >
      Reply or forward
    </Button>
  );
}
