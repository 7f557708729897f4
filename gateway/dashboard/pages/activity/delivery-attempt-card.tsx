import { Accordion, Code, Group, Stack, Text } from '@mantine/core';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { durationOf, toneOf } from './email-words.ts';
import { Json } from './json.tsx';

interface Attempt {
  number: number;
  startedAt: string;
  durationMs: number;
  outcome: string;
  statusCode: number | null;
  error: string | null;
  responseBody: string | null;
  requestHeaders: readonly { name: string; value: string }[];
}

/** One webhook attempt: the response and the request. `of` names the delivery. */
export function DeliveryAttemptCard({ attempt, of }: { attempt: Attempt; of: string }) {
  const { number, startedAt, durationMs, outcome, statusCode, error, responseBody, requestHeaders } = attempt;
  return (
    <Stack gap={6} role="group" aria-label={`Attempt ${number} of ${of}`}>
      <Group gap="xs">
        <Text size="sm" fw={600}>
          Attempt {number}
        </Text>
        <StatusBadge
          status={statusCode === null ? outcome : `${outcome} ${statusCode}`}
          tone={outcome === 'FAILED' ? 'bad' : toneOf(outcome)}
        />
        <Text size="xs" c="dimmed" component="span">
          <RelativeTime at={startedAt} />, took {durationOf(durationMs)}
        </Text>
      </Group>
      {error !== null && (
        <Text size="sm" className="postroom-wrap">
          {error}
        </Text>
      )}
      {responseBody !== null && responseBody !== '' && (
        <Json text={responseBody} label={`Response to attempt ${number} of ${of}`} />
      )}
      {requestHeaders.length > 0 && (
        <Accordion variant="contained" chevronPosition="left">
          <Accordion.Item value="headers">
            <Accordion.Control>
              <Text size="sm">Request header fields ({requestHeaders.length})</Text>
            </Accordion.Control>
            <Accordion.Panel>
              <Code block tabIndex={0} role="region" aria-label={`Request headers of attempt ${number}, ${of}`}>
                {requestHeaders.map(({ name, value }) => `${name}: ${value}`).join('\n')}
              </Code>
            </Accordion.Panel>
          </Accordion.Item>
        </Accordion>
      )}
    </Stack>
  );
}
