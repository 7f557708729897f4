import { Code } from '@mantine/core';

/** Preformatted text in its own scroll area. */
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
