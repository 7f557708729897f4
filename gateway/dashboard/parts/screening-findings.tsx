import { Alert, Blockquote, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from './icons.ts';

interface Screened {
  verdict: 'CLEAR' | 'REVIEW';
  findings: readonly { part: string; excerpt: string; why: string }[];
}

/** What in a message is aimed at an agent that reads it, above its text. */
export function ScreeningFindings({ injection }: { injection: Screened | null }) {
  if (injection?.verdict !== 'REVIEW') return null;
  return (
    <Alert
      color="orange"
      variant="outline"
      icon={<IconAlertTriangle aria-hidden />}
      title="This message may try to steer an agent"
    >
      <Stack gap="xs" className="postroom-wrap">
        {injection.findings.map(({ part, excerpt, why }) => (
          <div key={`${part} ${excerpt} ${why}`}>
            <Text size="sm">{`${PARTS[part] ?? 'Message'}: ${why}`}</Text>
            <Blockquote p="xs" mt={4} fz="sm">
              {excerpt}
            </Blockquote>
          </div>
        ))}
      </Stack>
      <Text size="sm" mt="xs">
        Read the message yourself before an agent acts on it.
      </Text>
    </Alert>
  );
}

const PARTS: Readonly<Record<string, string>> = {
  SUBJECT: 'Subject',
  SENDER: 'Sender',
  TEXT: 'Text',
  HTML: 'HTML',
  ATTACHMENT: 'Name of an attachment',
};
