import { ActionIcon, Tooltip } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy } from './icons.ts';

/** Button that copies a text. `label` names it, such as "Copy key". */
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
        {copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  );
}
