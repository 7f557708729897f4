import { Box, Code, Group } from '@mantine/core';
import { CopyButton } from './copy-button.tsx';

/** Shows a command or another text with a copy button. */
export function Command({ text, label = 'Copy command' }: { text: string; label?: string }) {
  return (
    <Group gap={4} wrap="nowrap" align="flex-start" maw="100%" className="postroom-command">
      <Box flex={1} miw={0}>
        {/* It scrolls by itself, and the keyboard has to get there, too. */}
        <Code block tabIndex={0} role="region" aria-label={label.replace(/^Copy /, '')}>
          {text}
        </Code>
      </Box>
      <CopyButton text={text} label={label} />
    </Group>
  );
}
