import { Code } from '@mantine/core';

/** The last word of a recipient's server, as it said it. */
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
