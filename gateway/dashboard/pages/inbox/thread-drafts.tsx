import { Badge, Button, Group, Paper, Text } from '@mantine/core';
import { modeOf } from '../../composer/draft.ts';
import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { needs } from '../../parts/needs.ts';
import type { Composing } from './inbox-view.ts';

const THREAD_DRAFTS = graphql(`
  query ThreadDrafts($threadId: ID!) {
    drafts(first: 10, filter: { threadId: $threadId }) {
      edges { node { id kind preview isByKey originalEmail { id } } }
    }
  }
`);

/** The drafts that answer messages of a conversation. */
export function ThreadDrafts({ threadId, compose }: { threadId: string; compose: (composing: Composing) => void }) {
  const { data } = useLiveQuery({
    query: THREAD_DRAFTS,
    variables: { threadId },
    kinds: ['EMAIL_SENT', 'EMAIL_SCHEDULED'],
    types: ['Draft', 'DeleteDraftPayload', 'SendDraftPayload'],
  });
  return data?.drafts.edges.map(({ node: { id: draftId, kind, preview, isByKey, originalEmail } }) => {
    const mode = modeOf(kind);
    if (mode === 'new' || originalEmail === null) return null;
    return (
      <Paper key={draftId} withBorder px="md" py="xs" radius="md" component="section" aria-label="Draft">
        <Group justify="space-between" wrap="nowrap" gap="sm">
          <Group gap="xs" wrap="nowrap" miw={0}>
            <Badge variant="default" tt="none" radius="sm" fw={600} style={{ flexShrink: 0 }}>
              {`${mode === 'forward' ? 'Forward' : 'Reply'}, draft${isByKey ? ' by API key' : ''}`}
            </Badge>
            <Text size="sm" c="dimmed" truncate>
              {preview}
            </Text>
          </Group>
          <Button
            {...needs('send')}
            size="xs"
            variant="default"
            onClick={() => compose({ mode, emailId: originalEmail.id, draftId })}
            style={{ flexShrink: 0 }}
          >
            Open draft
          </Button>
        </Group>
      </Paper>
    );
  });
}
