import { Code } from '@mantine/core';

/** Text of a stranger as it stands, which scrolls by itself. */
export function Block({ text, label }: { text: string; label: string }) {
  return (
    <Code
      block
      tabIndex={0}
      role="region"
      aria-label={label}
      mah="60vh"
      style={{ overflow: 'auto', whiteSpace: 'pre-wrap' }}
      className="postroom-wrap"
    >
      {text}
    </Code>
  );
}
