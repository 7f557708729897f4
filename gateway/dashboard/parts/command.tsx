import { ActionIcon, Box, Code, Group, Tooltip } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import type { ComponentProps } from 'react';
import { QuietButton } from './controls.tsx';
import { Icon } from './icons.ts';

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

type CopyTextButtonProps = Omit<ComponentProps<typeof QuietButton>, 'onClick'> & { text: string };

/** Button with a label that copies a text. */
export function CopyTextButton({ text, label, ...button }: CopyTextButtonProps) {
  const { copy, copied } = useClipboard({ timeout: 1_500 });
  return <QuietButton {...button} label={copied ? 'Copied' : label} onClick={() => copy(text)} />;
}

/** Icon button that copies a text. `label` names it, such as "Copy key". */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const { copy, copied } = useClipboard({ timeout: 1_500 });
  return (
    <Tooltip label={copied ? 'Copied' : label}>
      <ActionIcon
        variant="subtle"
        color={copied ? 'green' : 'gray'}
        onClick={() => copy(text)}
        aria-label={copied ? 'Copied' : label}
      >
        {copied ? <Icon name="check" size={16} /> : <Icon name="copy" size={16} />}
      </ActionIcon>
    </Tooltip>
  );
}

/** Preformatted text in its own scroll area. */
export function Block({ text, label, height = '60vh' }: { text: string; label: string; height?: string }) {
  return (
    <Code
      block
      tabIndex={0}
      role="region"
      aria-label={label}
      mah={height}
      style={{ overflow: 'auto', whiteSpace: 'pre-wrap' }}
      className="postroom-wrap"
    >
      {text}
    </Code>
  );
}
