import { Alert, List, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { MessageBodyData } from './thread-documents.ts';

/** What in a message may deceive its reader, above its text. */
export function SecurityWarnings({ warnings }: { warnings: MessageBodyData['securityWarnings'] }) {
  if (warnings.length === 0) return null;
  return (
    <Alert
      color="red"
      variant="outline"
      icon={<IconAlertTriangle aria-hidden />}
      title="Be careful with this message"
      role="region"
      aria-label="Security warnings"
    >
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
