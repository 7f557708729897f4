import { Alert, List, Text } from '@mantine/core';
import { IconAlertTriangle } from './icons.ts';

/** What in a message may deceive its reader, above its text. */
export function SecurityWarnings({ warnings }: { warnings: readonly { text: string }[] }) {
  if (warnings.length === 0) return null;
  return (
    <Alert color="red" variant="outline" icon={<IconAlertTriangle aria-hidden />} title="Be careful with this message">
      <List size="sm" className="postroom-wrap">
        {warnings.map(({ text }) => (
          <List.Item key={text}>{text}</List.Item>
        ))}
      </List>
      <Text size="sm" mt="xs">
        Check the sender before you open a link, reply, or pay.
      </Text>
    </Alert>
  );
}
