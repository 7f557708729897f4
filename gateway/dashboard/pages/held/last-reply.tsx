import { Code } from '@mantine/core';

/** Last reply of a recipient's server. */
export function LastReply({
  recipient: { lastCode, lastEnhancedStatus, lastText },
}: {
  recipient: { lastCode: number | null; lastEnhancedStatus: string | null; lastText: string | null };
}) {
  const words = [lastCode, lastEnhancedStatus, lastText].filter((part) => part !== null && part !== '').join(' ');
  return words === '' ? null : (
    <Code block className="postroom-wrap" style={{ whiteSpace: 'pre-wrap' }}>
      {words}
    </Code>
  );
}
