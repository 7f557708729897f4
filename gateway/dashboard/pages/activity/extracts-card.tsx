import { Button, Code, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { CopyButton } from '../../parts/copy-button.tsx';
import { EXTRACTS } from './email-documents.ts';

/** Number of links shown at first. */
const FIRST_LINKS = 3;

/** Codes and links found in a message, with copy buttons. Renders nothing if there are none. */
export function ExtractsCard({ id }: { id: string }) {
  const [{ data }] = useQuery({ query: EXTRACTS, variables: { id } });
  const [isWhole, setWhole] = useState(false);
  const codes = data?.email?.extracts.codes ?? [];
  const links = data?.email?.extracts.links ?? [];
  if (codes.length === 0 && links.length === 0) return null;
  const shown = isWhole ? links : links.slice(0, FIRST_LINKS);
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="extracts-title" bg="var(--postroom-raised)">
      <Title order={2} id="extracts-title" mb="xs">
        Codes and links
      </Title>
      <Stack gap="xs">
        {codes.length > 0 && (
          <Group gap="md">
            {codes.map(({ code }) => (
              <Group key={code} gap={4} wrap="nowrap">
                <Code fz="md">{code}</Code>
                <CopyButton text={code} label={`Copy code ${code}`} />
              </Group>
            ))}
          </Group>
        )}
        {shown.map(({ url, text, isUnsubscribe }) => (
          <Group key={`${url} ${text}`} gap={4} wrap="nowrap" justify="space-between">
            <div>
              <Text size="sm" className="postroom-wrap">
                {isUnsubscribe ? `Unsubscribe: ${text ?? ''}` : text}
              </Text>
              <Text size="xs" c="dimmed" ff="monospace" className="postroom-wrap">
                {url}
              </Text>
            </div>
            <CopyButton text={url} label={`Copy link ${text ?? url}`} />
          </Group>
        ))}
        {links.length > FIRST_LINKS && (
          <Group>
            <Button size="xs" variant="default" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
              {isWhole ? 'Show fewer links' : `Show all ${links.length} links`}
            </Button>
          </Group>
        )}
      </Stack>
    </Paper>
  );
}
