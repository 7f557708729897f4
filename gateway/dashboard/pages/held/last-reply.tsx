import { Code } from '@mantine/core';
import { lastReplyText } from '../../../../core/smtp/delivery-status.ts';

/** Last reply of a recipient's server. */
export function LastReply({
  recipient: { lastCode, lastEnhancedStatus, lastText },
}: {
  recipient: { lastCode: number | null; lastEnhancedStatus: string | null; lastText: string | null };
}) {
  const words = lastReplyText(lastCode, lastEnhancedStatus, lastText);
  return words === null ? null : (
    <Code block className="postroom-wrap" style={{ whiteSpace: 'pre-wrap' }}>
      {words}
    </Code>
  );
}
