import { Group, Stack, Text } from '@mantine/core';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Block } from './block.tsx';

/** Text, indented if it is JSON. */
export function Json({ text, label }: { text: string; label: string }) {
  const shown = prettyOf(text);
  return (
    <Stack gap={2}>
      <Group justify="space-between">
        <Text size="xs" c="dimmed">
          {label}
        </Text>
        <CopyButton text={shown} label={`Copy: ${label.toLowerCase()}`} />
      </Group>
      <Block text={shown} label={label} />
    </Stack>
  );
}

function prettyOf(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
